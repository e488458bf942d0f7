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
    log.clientClosed(new ClientClose(number, owed, phase, reset, now, since));
  }

  private void serve(HttpInput in, OutputStream out) throws IOException, InterruptedException {
    boolean goesOn = true;
    while (goesOn) {
      phase = ClientClose.Phase.IDLE;
      owed = 0;
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
        : deliver(decision, request.keepAlive(), in, out);
  }

  private boolean deliver(Decision decision, boolean keepAlive, HttpInput in, OutputStream out)
      throws IOException, InterruptedException {
    phase = ClientClose.Phase.WAITING;
    if (in.endsWithin(decision.delay().toNanos())) {
      throw new EOFException();
    }
    phase = ClientClose.Phase.WRITING;
    out.write(decision.response().bytes(keepAlive, decision.response().length()));
    return keepAlive;
  }

  /** Breaks the connection and returns false: it never goes on. */
  private boolean breakOff(
      Fault.Broken fault, ServerResponse response, HttpInput in, OutputStream out)
      throws IOException {
    int length = response.length();
    phase = ClientClose.Phase.WRITING;
    switch (fault) {
      case Fault.Stall() -> {
        phase = ClientClose.Phase.WAITING;
        in.discardToEnd();
        throw new EOFException();
      }
      case Fault.Reset(Fault.Moment moment) -> {
        switch (moment) {
          case BEFORE_HEADERS -> {}
          case AFTER_HEADERS -> out.write(response.head(true));
          case IN_BODY -> out.write(response.bytes(true, length / 2));
        }
        socket.setSoLinger(true, 0); // close() then sends a reset instead of an orderly end
      }
      case Fault.CutBody(int bytes) ->
          out.write(response.bytes(true, Math.min(bytes, Math.max(0, length - 1))));
      case Fault.NoHttp() -> out.write(NO_HTTP);
    }
    return false;
  }

  private void closeQuietly() {
    try {
      socket.close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }
}
