package dev.warpwright.store.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;

/** Stands between a store and its server, and loses a message when a test wants it. */
final class CuttingProxy implements AutoCloseable {
  /** What is lost, with the connection. */
  enum Cut {
    /** The next message to the server. */
    QUESTION,
    /** The server's next message, an answer to what it has done. */
    ANSWER,
    /** The client's connection; the next message reaches the server late. */
    DELAYED_QUESTION
  }

  /** A client's connection and the proxy's own to the server. */
  private static final class Link {
    final Socket client;
    final Socket real;
    volatile boolean late; // the client has gone, the server does not know

    Link(Socket client, Socket real) {
      this.client = client;
      this.real = real;
    }

    void close() {
      for (Socket socket : List.of(client, real)) {
        try {
          socket.close();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final String host;
  private final int port;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicReference<Cut> armed = new AtomicReference<>();
  private final CountDownLatch delivery = new CountDownLatch(1);

  CuttingProxy(String host, int port) throws IOException {
    this.host = host;
    this.port = port;
    threads.execute(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  /** Cuts the connection on which the next message is sent. */
  void cut(Cut cut) {
    armed.set(cut);
  }

  /** Whether nothing is left to cut. */
  boolean isCut() {
    return armed.get() == null;
  }

  /** Lets a delayed message reach the server. */
  void deliver() {
    delivery.countDown();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = server.accept();
        Link link = new Link(client, new Socket(host, port));
        links.add(link);
        threads.execute(() -> ask(link));
        threads.execute(() -> answer(link));
      }
    } catch (IOException e) {
      // The proxy was closed, or there is no server.
    }
  }

  private void ask(Link link) {
    byte[] buffer = new byte[64 * 1024];
    try {
      InputStream in = link.client.getInputStream();
      OutputStream out = link.real.getOutputStream();
      for (int length = in.read(buffer); length > 0; length = in.read(buffer)) {
        if (armed.compareAndSet(Cut.QUESTION, null)) {
          break;
        }
        if (armed.get() == Cut.DELAYED_QUESTION) {
          link.late = true;
          armed.set(null);
          link.client.close();
          delivery.await();
          out.write(buffer, 0, length);
          return;
        }
        out.write(buffer, 0, length);
      }
    } catch (IOException | InterruptedException e) {
      // Cut.
    }
    link.close();
  }

  private void answer(Link link) {
    byte[] buffer = new byte[64 * 1024];
    try {
      InputStream in = link.real.getInputStream();
      OutputStream out = link.client.getOutputStream();
      for (int length = in.read(buffer); length > 0; length = in.read(buffer)) {
        if (armed.compareAndSet(Cut.ANSWER, null)) {
          break;
        }
        if (!link.late) {
          out.write(buffer, 0, length);
        }
      }
    } catch (IOException e) {
      // Cut.
    }
    link.close();
  }

  @Override
  public void close() throws IOException {
    server.close();
    deliver();
    links.forEach(Link::close);
    threads.close();
  }
}
