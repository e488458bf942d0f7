package dev.warpwright.adapters.scripted;

import java.util.Map;
import java.util.Optional;

/** An HTTP/1.0 or 1.1 request as it was read. */
final class ServerRequest {
  /** Stands for a request whose head could not be read. */
  static final ServerRequest UNREADABLE = new ServerRequest("", "", 1, Map.of());

  private final String method;
  private final String target; // path and query
  private final int minorVersion;
  private final Map<String, String> headers; // by lower-case name
  private final byte[] body;

  ServerRequest(String method, String target, int minorVersion, Map<String, String> headers) {
    this(method, target, minorVersion, headers, new byte[0]);
  }

  private ServerRequest(
      String method, String target, int minorVersion, Map<String, String> headers, byte[] body) {
    this.method = method;
    this.target = target;
    this.minorVersion = minorVersion;
    this.headers = Map.copyOf(headers);
    this.body = body;
  }

  String method() {
    return method;
  }

  String target() {
    return target;
  }

  Map<String, String> headers() {
    return headers;
  }

  byte[] body() {
    return body;
  }

  String path() {
    int query = target.indexOf('?');
    return query < 0 ? target : target.substring(0, query);
  }

  Optional<String> header(String name) {
    return Optional.ofNullable(headers.get(name));
  }

  /** Whether the client understands a chunked body. */
  boolean takesChunks() {
    return minorVersion == 1;
  }

  boolean keepAlive() {
    String connection = header("connection").orElse("");
    return minorVersion == 1
        ? !connection.equalsIgnoreCase("close")
        : connection.equalsIgnoreCase("keep-alive");
  }

  ServerRequest withBody(byte[] read) {
    return new ServerRequest(method, target, minorVersion, headers, read);
  }
}
