package dev.warpwright.adapters.scripted;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What goes wrong. */
sealed interface Fault {
  /**
   * An error status.
   *
   * @param status 400 to 599
   * @param headers fields in the script's order
   * @param body what is sent; without it, the protocol's own form of an error
   */
  record Status(int status, List<Map.Entry<String, String>> headers, Optional<Body> body)
      implements Fault {
    public Status {
      headers = List.copyOf(headers);
    }
  }

  /** A body with its type. */
  record Body(String contentType, String text) {}

  /** A success whose body is no JSON. */
  record NoJson() implements Fault {}

  /** Waits, then answers. */
  record SlowHeaders(Duration delay) implements Fault {}

  /** Where a reset hits. */
  enum Moment {
    BEFORE_HEADERS,
    AFTER_HEADERS,
    IN_BODY
  }

  /** A fault of the connection rather than of the answer. */
  sealed interface Broken extends Fault {}

  /** Never answers. */
  record Stall() implements Broken {}

  /** Resets the connection. */
  record Reset(Moment moment) implements Broken {}

  /** Promises the whole body and ends the connection after some of it. */
  record CutBody(int bytes) implements Broken {}

  /** Sends bytes that are no HTTP. */
  record NoHttp() implements Broken {}
}
