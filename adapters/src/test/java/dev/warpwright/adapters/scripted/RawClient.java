package dev.warpwright.adapters.scripted;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A client that says exactly the bytes it is told to. */
final class RawClient implements AutoCloseable {
  private final Socket socket;
  private final InputStream in;

  RawClient(ScriptedServer server) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
    socket.setSoTimeout(20_000);
    in = socket.getInputStream();
  }

  /**
   * A response.
   *
   * @param head the status line and the fields
   * @param body the body
   */
  record Response(List<String> head, String body) {
    String status() {
      return head.getFirst();
    }
  }

  RawClient send(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  RawClient post(String body, String... fields) throws IOException {
    return postTo("/v1/chat/completions", body, fields);
  }

  /** A request of Anthropic's protocol. */
  RawClient postMessages(String body, String... fields) throws IOException {
    List<String> all = new ArrayList<>(List.of(fields));
    all.add("anthropic-version: 2023-06-01");
    return postTo("/v1/messages", body, all.toArray(String[]::new));
  }

  RawClient postTo(String path, String body, String... fields) throws IOException {
    int length = body.getBytes(StandardCharsets.UTF_8).length;
    StringBuilder head = new StringBuilder("POST " + path + " HTTP/1.1\r\nHost: test\r\n");
    for (String field : fields) {
      head.append(field).append("\r\n");
    }
    return send(head + "Content-Length: " + length + "\r\n\r\n" + body);
  }

  List<String> readHead() throws IOException {
    List<String> lines = new ArrayList<>();
    for (String line = readLine(); !line.isEmpty(); line = readLine()) {
      lines.add(line);
    }
    return lines;
  }

  private String readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException();
      }
      line.write(next);
    }
    return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
  }

  Response read() throws IOException {
    List<String> head = readHead();
    int length =
        head.stream()
            .filter(field -> field.toLowerCase(Locale.ROOT).startsWith("content-length:"))
            .map(field -> Integer.parseInt(field.substring(15).strip()))
            .findFirst()
            .orElseThrow();
    return new Response(head, new String(in.readNBytes(length), StandardCharsets.UTF_8));
  }

  /**
   * The next chunk of a chunked body; no bytes for the last one.
   *
   * @throws EOFException if the server ends the connection in order before the chunk is whole
   */
  byte[] readChunk() throws IOException {
    int length = Integer.parseInt(readLine(), 16);
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length || !readLine().isEmpty()) {
      throw new EOFException();
    }
    return bytes;
  }

  char readByte() throws IOException {
    int next = in.read();
    if (next < 0) {
      throw new EOFException();
    }
    return (char) next;
  }

  /** All bytes until the server ends the connection in order; throws if it resets it. */
  String readToEnd() throws IOException {
    return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
  }

  void endOutput() throws IOException {
    socket.shutdownOutput();
  }

  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
