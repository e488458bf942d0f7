package dev.warpwright.adapters.http;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A server that writes the bytes that a test wants, and notes when the client goes away. */
public final class RawServer implements AutoCloseable {
  /** What the server does with each connection, once a request has arrived. */
  @FunctionalInterface
  public interface Script {
    void serve(Connection connection) throws IOException, InterruptedException;
  }

  private final ServerSocket socket;
  private final Script script;
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger accepted = new AtomicInteger();
  private volatile boolean closing;

  public RawServer(Script script) throws IOException {
    this.script = script;
    this.socket = new ServerSocket(0, 512, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().name("raw-server").start(this::accept);
  }

  public URI uri() {
    return URI.create("http://localhost:" + socket.getLocalPort());
  }

  /** The requests so far, headers and body. */
  public List<String> requests() {
    return requests;
  }

  public int connections() {
    return accepted.get();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = socket.accept();
        accepted.incrementAndGet();
        open.add(client);
        Thread.ofVirtual().start(() -> serve(client));
      }
    } catch (IOException _) {
      // closed
    }
  }

  private void serve(Socket client) {
    try (client) {
      Connection connection = new Connection(client);
      while (connection.readRequest()) {
        script.serve(connection);
      }
    } catch (IOException | InterruptedException _) {
      // the test ended, or the script cut the connection
    } finally {
      open.remove(client);
    }
  }

  @Override
  public void close() throws IOException {
    closing = true; // what the connections see from now on is not the client's doing
    socket.close();
    for (Socket client : open) {
      client.close();
    }
  }

  /** One connection of a client. */
  public final class Connection {
    private final Socket client;
    private final InputStream in;

    Connection(Socket client) throws IOException {
      this.client = client;
      this.in = new BufferedInputStream(client.getInputStream());
    }

    private boolean readRequest() throws IOException {
      ByteArrayOutputStream head = new ByteArrayOutputStream();
      while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
        int b = in.read();
        if (b < 0) {
          return false;
        }
        head.write(b);
      }
      String text = head.toString(StandardCharsets.ISO_8859_1);
      int length =
          text.lines()
              .map(line -> line.toLowerCase(Locale.ROOT))
              .filter(line -> line.startsWith("content-length:"))
              .mapToInt(line -> Integer.parseInt(line.substring(15).strip()))
              .findFirst()
              .orElse(0);
      requests.add(text + new String(in.readNBytes(length), StandardCharsets.UTF_8));
      return true;
    }

    public void write(String text) throws IOException {
      write(text.getBytes(StandardCharsets.UTF_8));
    }

    public void write(byte[] bytes) throws IOException {
      client.getOutputStream().write(bytes);
      client.getOutputStream().flush();
    }

    /** A whole answer with a content length; the connection stays open. */
    public void answer(String status, String contentType, String body) throws IOException {
      write(
          "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
              .formatted(status, contentType, body.getBytes(StandardCharsets.UTF_8).length, body));
    }

    /** Ends the connection with a FIN. */
    public void cut() throws IOException {
      client.close();
    }

    /** Ends this side of the connection with a FIN; the other side stays. */
    public void halfClose() throws IOException {
      client.shutdownOutput();
    }

    /** Ends the connection with a RST. */
    public void reset() throws IOException {
      client.setSoLinger(true, 0);
      client.close();
    }

    /** Blocks until the client has closed and notes when. */
    public void awaitClose(Close close) {
      try {
        while (in.read() >= 0) {
          // whatever it still sends
        }
      } catch (IOException _) {
        // a reset is a close
      }
      if (!closing) {
        close.nanoTime = System.nanoTime();
        close.seen.countDown();
      }
    }
  }

  /** The moment at which a client went away. */
  public static final class Close {
    private final CountDownLatch seen = new CountDownLatch(1);
    private volatile long nanoTime;

    /**
     * Waits, at most ten seconds and while the server runs, and returns the moment on the clock of
     * System.nanoTime.
     */
    public long await() throws InterruptedException {
      if (!seen.await(60, TimeUnit.SECONDS)) {
        throw new AssertionError("The server never saw the connection close.");
      }
      return nanoTime;
    }
  }
}
