package dev.warpwright.adapters.scripted;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** An HTTP response before it is written. */
final class ServerResponse {
  private final int status;
  private final List<Map.Entry<String, String>> headers; // beside those of the framing, in order
  private final byte[] body;
  private final boolean streamed; // the body follows, and its length is not known

  private ServerResponse(
      int status, List<Map.Entry<String, String>> headers, byte[] body, boolean streamed) {
    this.status = status;
    this.headers = List.copyOf(headers);
    this.body = body;
    this.streamed = streamed;
  }

  /** The head of a stream of events. */
  static ServerResponse events(StreamFraming framing) {
    return new ServerResponse(
        200,
        List.of(
            Map.entry("Content-Type", framing.contentType()),
            Map.entry("Cache-Control", "no-cache")),
        new byte[0],
        true);
  }

  static ServerResponse json(int status, String body) {
    return of(status, List.of(), "application/json", body.getBytes(StandardCharsets.UTF_8));
  }

  /** The content type is only a default: one among the fields wins. */
  static ServerResponse of(
      int status, List<Map.Entry<String, String>> headers, String contentType, byte[] body) {
    List<Map.Entry<String, String>> all = new ArrayList<>();
    if (headers.stream().noneMatch(field -> field.getKey().equalsIgnoreCase("content-type"))) {
      all.add(Map.entry("Content-Type", contentType));
    }
    all.addAll(headers);
    return new ServerResponse(status, all, body, false);
  }

  int status() {
    return status;
  }

  int length() {
    return body.length;
  }

  ServerResponse with(String name, String value) {
    List<Map.Entry<String, String>> all = new ArrayList<>(headers);
    all.add(Map.entry(name, value));
    return new ServerResponse(status, all, body, streamed);
  }

  ServerResponse with(Map<String, String> fields) {
    ServerResponse more = this;
    for (Map.Entry<String, String> field : fields.entrySet()) {
      more = more.with(field.getKey(), field.getValue());
    }
    return more;
  }

  /** The same with only the first bytes of its body, as if these were all. */
  ServerResponse shortened(int bytes) {
    return new ServerResponse(status, headers, Arrays.copyOf(body, bytes), streamed);
  }

  /** Status line and fields, up to and with the empty line. */
  byte[] head(boolean keepAlive) {
    return head(keepAlive, streamed ? "Transfer-Encoding: chunked\r\n" : contentLength());
  }

  /** The head of a stream for a client of HTTP/1.0, which knows no chunks. */
  byte[] unframedHead() {
    return head(false, "");
  }

  private String contentLength() {
    return "Content-Length: " + body.length + "\r\n";
  }

  private byte[] head(boolean keepAlive, String framing) {
    StringBuilder head = new StringBuilder(256);
    head.append("HTTP/1.1 ").append(status).append(' ').append(reason()).append("\r\n");
    headers.forEach(
        field -> head.append(field.getKey()).append(": ").append(field.getValue()).append("\r\n"));
    head.append(framing);
    head.append("Connection: ").append(keepAlive ? "keep-alive" : "close").append("\r\n\r\n");
    return head.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  /** The head and the first bytes of the body, as one block: one write, one packet if it fits. */
  byte[] bytes(boolean keepAlive, int bodyBytes) {
    byte[] head = head(keepAlive);
    byte[] all = new byte[head.length + bodyBytes];
    System.arraycopy(head, 0, all, 0, head.length);
    System.arraycopy(body, 0, all, head.length, bodyBytes);
    return all;
  }

  private String reason() {
    return switch (status) {
      case 200 -> "OK";
      case 400 -> "Bad Request";
      case 401 -> "Unauthorized";
      case 403 -> "Forbidden";
      case 404 -> "Not Found";
      case 405 -> "Method Not Allowed";
      case 408 -> "Request Timeout";
      case 411 -> "Length Required";
      case 413 -> "Content Too Large";
      case 429 -> "Too Many Requests";
      case 431 -> "Request Header Fields Too Large";
      case 500 -> "Internal Server Error";
      case 502 -> "Bad Gateway";
      case 503 -> "Service Unavailable";
      case 504 -> "Gateway Timeout";
      case 505 -> "HTTP Version Not Supported";
      case 529 -> "Overloaded";
      default -> "Scripted";
    };
  }
}
