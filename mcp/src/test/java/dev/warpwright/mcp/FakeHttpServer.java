package dev.warpwright.mcp;

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
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;

/** A server over Streamable HTTP, which answers requests with one message or with events. */
final class FakeHttpServer extends FakeServer {
  private final Wire wire;
  private volatile boolean keepsConnections = true;
  private final ServerSocket listening;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final Set<String> sessions = ConcurrentHashMap.newKeySet();
  private final AtomicInteger begun = new AtomicInteger();

  /** The heads of all requests, by name without regard to case; the first line is {@code :}. */
  final List<Map<String, String>> heads = new CopyOnWriteArrayList<>();

  final CountDownLatch deleted = new CountDownLatch(1);

  /** What is sent in place of an answer to a method. */
  private final Map<String, String> rawAnswers = new ConcurrentHashMap<>();

  volatile boolean namesSessions = true;
  volatile String sessionName = "session-";

  FakeHttpServer(Wire wire) throws IOException {
    this.wire = wire;
    this.listening = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().name("fake-http").start(this::accept);
  }

  URI uri() {
    return URI.create("http://localhost:" + listening.getLocalPort() + "/mcp");
  }

  @Override
  McpServer.HttpBuilder client() {
    return McpServer.http(uri());
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listening.accept();
        open.add(client);
        Thread.ofVirtual().start(() -> serve(client));
      }
    } catch (IOException _) {
      // closed
    }
  }

  private void serve(Socket client) {
    try (client) {
      InputStream in = new BufferedInputStream(client.getInputStream());
      Map<String, String> head = head(in);
      while (!head.isEmpty()) {
        heads.add(head);
        int length = Integer.parseInt(head.getOrDefault("content-length", "0"));
        String body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
        serve(head, body, client);
        head = head(in);
      }
    } catch (IOException | InterruptedException _) {
      // cut
    } finally {
      open.remove(client);
    }
  }

  private static Map<String, String> head(InputStream in) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    while (!bytes.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
      int next = in.read();
      if (next < 0) {
        return Map.of();
      }
      bytes.write(next);
    }
    Map<String, String> head = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    List<String> lines = bytes.toString(StandardCharsets.ISO_8859_1).lines().toList();
    head.put(":", lines.getFirst());
    for (String line : lines.subList(1, lines.size() - 1)) {
      String[] parts = line.split(":", 2);
      head.put(parts[0], parts[1].strip());
    }
    return head;
  }

  private void serve(Map<String, String> head, String body, Socket client)
      throws IOException, InterruptedException {
    String session = head.get("Mcp-Session-Id");
    if (session != null && !sessions.contains(session)) {
      write(client, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    if (head.get(":").startsWith("DELETE")) {
      write(client, "HTTP/1.1 204 No Content\r\n\r\n");
      deleted.countDown();
      return;
    }
    JsonNode message = note(body);
    String method = message.path("method").asString("");
    String raw = rawAnswers.get(method);
    if (raw != null) {
      write(client, raw);
      client.close();
      return;
    }
    String headers = "";
    if (method.equals("initialize") && namesSessions) {
      String id = sessionName + begun.incrementAndGet();
      sessions.add(id);
      headers = "Mcp-Session-Id: " + id + "\r\n";
    }
    boolean served = serve(message, new Response(client, headers));
    if (!served || !message.has("id") || !message.has("method")) {
      write(client, "HTTP/1.1 202 Accepted\r\n" + lasting() + "Content-Length: 0\r\n\r\n");
    }
    if (!keepsConnections) {
      client.close();
    }
  }

  private String lasting() {
    return keepsConnections ? "" : "Connection: close\r\n";
  }

  private static void write(Socket client, String text) throws IOException {
    client.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    client.getOutputStream().flush();
  }

  /** Answers a method with these bytes and breaks off. */
  void rawAnswer(String method, String bytes) {
    rawAnswers.put(method, bytes);
  }

  /** Closes each connection behind its answer, and says so: the client keeps none. */
  FakeHttpServer keepingNoConnections() {
    keepsConnections = false;
    return this;
  }

  /** How many sessions were begun. */
  int begun() {
    return begun.get();
  }

  /** Keeps its connections: a call that meets one that is just being closed is another matter. */
  @Override
  void restart() {
    sessions.clear();
  }

  @Override
  public void close() throws IOException {
    super.close();
    listening.close();
    for (Socket client : open) {
      client.close();
    }
  }

  private final class Response implements Back {
    private final Socket client;
    private final String headers;
    private boolean begun;

    Response(Socket client, String headers) {
      this.client = client;
      this.headers = headers;
    }

    private void begin() throws IOException {
      if (!begun) {
        begun = true;
        write(
            client,
            "HTTP/1.1 200 OK\r\n"
                + headers
                + "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
      }
    }

    private void chunk(String text) throws IOException {
      int length = text.getBytes(StandardCharsets.UTF_8).length;
      write(client, Integer.toHexString(length) + "\r\n" + text + "\r\n");
    }

    @Override
    public void also(String message) throws IOException {
      if (wire == Wire.HTTP_EVENTS) {
        begin();
        chunk(": alive\n\nid: 7\nevent: message\ndata: " + message + "\n\n");
      }
    }

    @Override
    public void last(String message) throws IOException {
      if (wire == Wire.HTTP_EVENTS) {
        also(message);
        write(client, "0\r\n\r\n");
        return;
      }
      write(
          client,
          "HTTP/1.1 200 OK\r\n"
              + headers
              + lasting()
              + "Content-Type: application/json; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s"
                  .formatted(message.getBytes(StandardCharsets.UTF_8).length, message));
    }

    @Override
    public void cut() throws IOException {
      client.close();
    }

    @Override
    public void cutWithin() throws IOException {
      if (wire == Wire.HTTP_EVENTS) {
        begin();
        chunk("data: {\"jsonrpc\": \"2.0\", \"id\"");
      } else {
        write(
            client,
            "HTTP/1.1 200 OK\r\n"
                + "Content-Type: application/json\r\n"
                + "Content-Length: 100\r\n\r\n"
                + "{\"json");
      }
      client.close();
    }
  }
}
