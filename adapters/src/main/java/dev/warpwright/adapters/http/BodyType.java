package dev.warpwright.adapters.http;

/** What a call expects for its answer. */
public enum BodyType {
  /** One JSON value. */
  JSON("application/json", "JSON"),
  /** Server-sent events. */
  EVENTS("text/event-stream", "text/event-stream"),
  /** One JSON value or server-sent events, as the server chooses; read while it comes. */
  JSON_OR_EVENTS("application/json, text/event-stream", "JSON or text/event-stream"),
  /** Lines of JSON. */
  LINES("application/x-ndjson", "application/x-ndjson"),
  /** Amazon's binary events. */
  BINARY_EVENTS("application/vnd.amazon.eventstream", "application/vnd.amazon.eventstream");

  private final String accept;
  private final String words;

  BodyType(String accept, String words) {
    this.accept = accept;
    this.words = words;
  }

  /** The value of the header Accept. */
  String accept() {
    return accept;
  }

  /** Its name in messages. */
  String words() {
    return words;
  }

  /** Whether a content type, in lower case and without parameters, is of this kind. */
  boolean matches(String contentType) {
    return switch (this) {
      case JSON -> isJson(contentType);
      case JSON_OR_EVENTS -> isJson(contentType) || contentType.equals(EVENTS.accept);
      case LINES -> contentType.equals(accept) || isJson(contentType);
      case EVENTS, BINARY_EVENTS -> contentType.equals(accept);
    };
  }

  private static boolean isJson(String contentType) {
    return contentType.endsWith("/json") || contentType.endsWith("+json");
  }
}
