package dev.warpwright.adapters.scripted;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * One connection of a {@link ScriptedServer}: reads requests one after the other and does with each
 * what the {@link Endpoint} decides, to the byte.
 */
final class Connection {
  private static final byte[] NO_HTTP =
      "\u0000\u0001 this is no HTTP \u00FF\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);
  private static final byte[] CONTINUE =
      "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);

  /**
   * How long a reset lets wait behind a stream. It throws away what the client has not
   * acknowledged, and many small writes are acknowledged late: Linux delays that for 40 ms.
   */
  private static final Duration DELIVERY = Duration.ofMillis(60);

  private final Socket socket;
  private final long number;
  private final Endpoint endpoint;
  private final ServerLog log;
  private final Consumer<Connection> ended;
  private final Thread thread;
  private volatile boolean aborted;

  private ClientClose.Phase phase = ClientClose.Phase.IDLE; // connection's thread only
  private long owed; // connection's thread only: the number of the request, 0 if none
  private long arrivedNanos; // connection's thread only
  private long events; // connection's thread only: how many the owed response has told

  Connection(
      Socket socket,
      long number,
      String threadName,
      Endpoint endpoint,
      ServerLog log,
      Consumer<Connection> ended) {
    this.socket = socket;
    this.number = number;
    this.endpoint = endpoint;
    this.log = log;
    this.ended = ended;
    this.thread = Thread.ofVirtual().name(threadName).unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  /** Ends it from outside, whatever it is doing. */
  void abort() {
    aborted = true;
    closeQuietly();
    thread.interrupt();
  }

  void join() throws InterruptedException {
    thread.join();
  }

  private void run() {
    try (socket) {
      socket.setTcpNoDelay(true);
      serve(new HttpInput(socket), socket.getOutputStream());
    } catch (EOFException e) {
      clientClosed(false);
    } catch (IOException e) {
      clientClosed(true);
    } catch (InterruptedException e) {
      // Aborted: the thread ends, and nobody else looks at its flag.
    } finally {
      log.disconnected();
      ended.accept(this);
    }
  }

  /** Records the client's close, unless it was the server that ended the connection. */
  private void clientClosed(boolean reset) {
    if (aborted) {
      return;
    }
    long now = System.nanoTime();
    Duration since = owed == 0 ? Duration.ZERO : Duration.ofNanos(now - arrivedNanos);
    log.clientClosed(new ClientClose(number, owed, phase, events, reset, now, since));
  }

  private void serve(HttpInput in, OutputStream out) throws IOException, InterruptedException {
    boolean goesOn = true;
    while (goesOn) {
      phase = ClientClose.Phase.IDLE;
      owed = 0;
      events = 0;
      if (!in.awaitRequest()) {
        throw new EOFException();
      }
      phase = ClientClose.Phase.READING;
      goesOn = exchange(in, out);
    }
  }

  private boolean exchange(HttpInput in, OutputStream out)
      throws IOException, InterruptedException {
    ServerRequest request = ServerRequest.UNREADABLE;
    try {
      request = in.head();
      if (request.header("expect").orElse("").equalsIgnoreCase("100-continue")) {
        out.write(CONTINUE);
      }
      request = request.withBody(in.body(request, endpoint.maxRequestBytes()));
    } catch (RefusedException e) {
      // Where the next request begins is unknown, so the connection cannot go on.
      ServerResponse response = endpoint.refuse(e, request, number).response();
      phase = ClientClose.Phase.WRITING;
      out.write(response.bytes(false, response.length()));
      in.linger();
      return false;
    }
    Decision decision = endpoint.decide(request, number);
    arrivedNanos = System.nanoTime();
    owed = decision.number();
    return decision.broken().isPresent()
        ? breakOff(decision.broken().get(), decision.response(), in, out)
        : deliver(decision, request, in, out);
  }

  private boolean deliver(Decision decision, ServerRequest request, HttpInput in, OutputStream out)
      throws IOException, InterruptedException {
    phase = ClientClose.Phase.WAITING;
    in.expectSilence(decision.delay());
    if (decision.stream().isPresent()) {
      return stream(decision.response(), decision.stream().get(), request, in, out);
    }
    phase = ClientClose.Phase.WRITING;
    boolean keepAlive = request.keepAlive();
    out.write(decision.response().bytes(keepAlive, decision.response().length()));
    return keepAlive;
  }

  /** Streams, and returns whether the connection goes on. */
  private boolean stream(
      ServerResponse head,
      ServerStream planned,
      ServerRequest request,
      HttpInput in,
      OutputStream out)
      throws IOException, InterruptedException {
    boolean chunked = request.takesChunks();
    boolean keepAlive = chunked && request.keepAlive();
    EventStream stream = new EventStream(planned, in, out, chunked);
    phase = ClientClose.Phase.STREAMING;
    log.streamBegan();
    try {
      out.write(chunked ? head.head(keepAlive) : head.unframedHead());
      stream.tell();
      return keepAlive;
    } catch (StreamCutException cut) {
      if (cut.end() == Fault.End.CLEAN) {
        stream.end();
        return keepAlive;
      }
      if (cut.end() == Fault.End.RESET) {
        in.expectSilence(DELIVERY);
      }
      return endCut(cut.end(), in);
    } finally {
      events = stream.told();
      log.streamEnded();
    }
  }

  /** Breaks the connection and returns false: it never goes on. */
  private boolean breakOff(
      Fault.Broken fault, ServerResponse response, HttpInput in, OutputStream out)
      throws IOException {
    phase = ClientClose.Phase.WRITING;
    switch (fault) {
      case Fault.Stall() -> stall(in);
      case Fault.Reset(boolean afterHeaders) -> {
        if (afterHeaders) {
          out.write(response.head(true));
        }
        resetAtClose();
      }
      case Fault.Cut(Point point, Fault.End end) -> {
        // What ends in order says how long it is; all others miss at least their last byte.
        int most = Math.max(0, response.length() - (end == Fault.End.CLEAN ? 0 : 1));
        int length = Math.min(point.in(response.length()), most);
        out.write(
            end == Fault.End.CLEAN
                ? response.shortened(length).bytes(false, length)
                : response.bytes(true, length));
        return endCut(end, in);
      }
      case Fault.StallIn(Point point) -> {
        int most = Math.max(0, response.length() - 1);
        out.write(response.bytes(true, Math.min(point.in(response.length()), most)));
        stall(in);
      }
      case Fault.NoHttp() -> out.write(NO_HTTP);
    }
    return false;
  }

  private void stall(HttpInput in) throws IOException {
    phase = ClientClose.Phase.WAITING;
    in.discardToEnd();
    throw new EOFException();
  }

  /** Ends the connection behind a body that was cut, and returns false. */
  private boolean endCut(Fault.End end, HttpInput in) throws IOException {
    switch (end) {
      case RESET -> resetAtClose();
      case HALF_CLOSED -> {
        socket.shutdownOutput();
        in.discardToEnd();
        throw new EOFException();
      }
      case CLEAN, BETWEEN_CHUNKS, IN_CHUNK -> {
        // The close that follows is all.
      }
    }
    return false;
  }

  private void resetAtClose() throws IOException {
    socket.setSoLinger(true, 0); // close() then sends a reset instead of an orderly end
  }

  private void closeQuietly() {
    try {
      socket.close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }
}
