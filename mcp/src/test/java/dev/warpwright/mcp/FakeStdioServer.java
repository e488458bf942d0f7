package dev.warpwright.mcp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;

/** A server by lines. A pair of sockets stands for the pipes of each process. */
final class FakeStdioServer extends FakeServer {
  private final List<Socket> ends = new CopyOnWriteArrayList<>();
  final AtomicInteger started = new AtomicInteger();
  final AtomicInteger endedGently = new AtomicInteger();

  /** While it is closed, nothing is read. */
  volatile CountDownLatch reading = new CountDownLatch(0);

  @Override
  McpServer.StdioBuilder client() {
    return McpServer.stdio("fake").launcher(this::launch);
  }

  private Child launch() throws IOException {
    started.incrementAndGet();
    Socket client;
    Socket server;
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      client = new Socket(InetAddress.getLoopbackAddress(), listening.getLocalPort());
      server = listening.accept();
    }
    ends.add(client);
    ends.add(server);
    Thread.ofVirtual().name("fake-stdio").start(() -> read(server));
    return new Child(
        client.getInputStream(),
        client.getOutputStream(),
        new Child.End() {
          @Override
          public void gently() {
            endedGently.incrementAndGet();
            close(server);
          }

          @Override
          public void now() {
            close(client);
            close(server);
          }
        });
  }

  private void read(Socket server) {
    try (server) {
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
      reading.await();
      String line = lines.readLine();
      while (line != null) {
        JsonNode message = note(line);
        Thread.ofVirtual().start(() -> answer(message, server));
        reading.await();
        line = lines.readLine();
      }
    } catch (IOException | InterruptedException _) {
      // cut
    }
  }

  private void answer(JsonNode message, Socket server) {
    try {
      boolean _ = serve(message, new Lines(server));
    } catch (IOException | InterruptedException _) {
      // cut
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException _) {
      // was closed
    }
  }

  @Override
  void restart() {
    ends.forEach(FakeStdioServer::close);
  }

  @Override
  public void close() throws IOException {
    super.close();
    reading.countDown();
    ends.forEach(FakeStdioServer::close);
  }

  private record Lines(Socket server) implements Back {
    @Override
    public void also(String message) throws IOException {
      synchronized (server) {
        OutputStream out = server.getOutputStream();
        out.write((message + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
      }
    }

    @Override
    public void last(String message) throws IOException {
      also(message);
    }

    @Override
    public void cut() throws IOException {
      server.close();
    }

    @Override
    public void cutWithin() throws IOException {
      server.getOutputStream().write("{\"jsonrpc\": \"2.0\", \"id\": 3, \"res".getBytes(StandardCharsets.UTF_8));
      server.close();
    }
  }
}
