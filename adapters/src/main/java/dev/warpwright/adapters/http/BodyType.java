package dev.warpwright.adapters.http;

/** What a call expects for its answer. */
enum BodyType {
  /** One JSON value. */
  JSON("application/json", "JSON"),
  /** Server-sent events. */
  EVENTS("text/event-stream", "text/event-stream");

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
      case JSON -> contentType.endsWith("/json") || contentType.endsWith("+json");
      case EVENTS -> contentType.equals(accept);
    };
  }
}
