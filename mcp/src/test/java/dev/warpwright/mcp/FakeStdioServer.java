package dev.warpwright.mcp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import tools.jackson.databind.JsonNode;

/** A server by lines. A pair of sockets stands for the pipes of each process. */
final class FakeStdioServer extends FakeServer {
  private final List<Socket> ends = new CopyOnWriteArrayList<>();

  @Override
  McpServer.StdioBuilder client() {
    return McpServer.stdio("fake").launcher(this::launch);
  }

  private Child launch() throws IOException {
    Socket client;
    Socket server;
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      client = new Socket(InetAddress.getLoopbackAddress(), listening.getLocalPort());
      server = listening.accept();
    }
    ends.add(client);
    ends.add(server);
    Thread reader = Thread.ofVirtual().name("fake-stdio").start(() -> read(server));
    return new Child(
        client.getInputStream(),
        client.getOutputStream(),
        new Child.End() {
          @Override
          public void gently() {
            try {
              boolean _ =
                  reader.join(Duration.ofSeconds(60)); // it reads on to the end of its input
            } catch (InterruptedException _) {
              Thread.currentThread().interrupt();
            }
            now();
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
      String line = lines.readLine();
      while (line != null) {
        JsonNode message = note(line);
        Thread.ofVirtual().start(() -> answer(message, server));
        line = lines.readLine();
      }
    } catch (IOException _) {
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
      server
          .getOutputStream()
          .write("{\"jsonrpc\": \"2.0\", \"id\": 3, \"res".getBytes(StandardCharsets.UTF_8));
      server.close();
    }
  }
}
