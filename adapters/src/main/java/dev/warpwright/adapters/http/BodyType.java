package dev.warpwright.adapters.http;

import java.util.function.Predicate;

/** What a call expects for its answer. */
enum BodyType {
  /** One JSON value. */
  JSON("application/json", "JSON", type -> type.endsWith("/json") || type.endsWith("+json")),
  /** Server-sent events. */
  EVENTS("text/event-stream", "text/event-stream", "text/event-stream"::equals);

  private final String accept;
  private final String words;
  private final Predicate<String> matches;

  BodyType(String accept, String words, Predicate<String> matches) {
    this.accept = accept;
    this.words = words;
    this.matches = matches;
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
    return matches.test(contentType);
  }
}
