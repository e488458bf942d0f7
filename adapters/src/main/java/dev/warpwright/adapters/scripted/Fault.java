package dev.warpwright.adapters.scripted;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What goes wrong. */
sealed interface Fault {
  /**
   * An error status, or a success with a body of the script's own.
   *
   * @param status 200 or 400 to 599
   * @param headers fields in the script's order
   * @param body what is sent; without it, the protocol's own form of an error
   */
  record Status(int status, List<Map.Entry<String, String>> headers, Optional<Body> body)
      implements Fault {
    public Status {
      headers = List.copyOf(headers);
    }
  }

  /** A body with its type, as text; each byte of one that is none is a character. */
  record Body(String contentType, String text, Charset charset) {
    Body(String contentType, String text) {
      this(contentType, text, StandardCharsets.UTF_8);
    }

    byte[] bytes() {
      return text.getBytes(charset);
    }
  }

  /** A success whose body is no JSON. */
  record NoJson() implements Fault {}

  /** Answers a stream's request with a whole body, and any other with a stream. */
  record WrongType() implements Fault {}

  /** Waits, then answers. */
  record SlowHeaders(Duration delay) implements Fault {}

  /** A fault of the connection rather than of the answer. */
  sealed interface Broken extends Fault {}

  /** Never answers. */
  record Stall() implements Broken {}

  /** Resets the connection at the head of the response. */
  record Reset(boolean afterHeaders) implements Broken {}

  /** Sends bytes that are no HTTP. */
  record NoHttp() implements Broken {}

  /** Something that happens inside the body of a response. */
  sealed interface InBody extends Fault {
    /** Where it happens; at the end if the body never comes there. */
    Point point();
  }

  /** How a body that is cut ends. */
  enum End {
    /** In order, as if it were whole. */
    CLEAN,
    /** The connection ends in order between two chunks of the transfer. */
    BETWEEN_CHUNKS,
    /** The connection ends in order inside a chunk of the transfer. */
    IN_CHUNK,
    /** The connection is reset. */
    RESET,
    /** The server ends its half of the connection and goes on reading. */
    HALF_CLOSED
  }

  /** The body ends too early. */
  record Cut(Point point, End end) implements InBody, Broken {
    /** Whether a client has no reason to complain: only the terminator is missing. */
    boolean isHarmless() {
      return end == End.CLEAN && point.equals(new Point.Before(Mark.TERMINATOR));
    }
  }

  /** The body does not go on, and does not end. */
  record StallIn(Point point) implements InBody, Broken {}

  /**
   * The provider reports an error inside the body, which then ends in order.
   *
   * @param point where
   * @param code its code; with Anthropic, its type
   * @param message its words
   * @param failed whether Responses reports a failed response rather than an error
   */
  record ErrorEvent(Point point, String code, String message, boolean failed) implements InBody {}
}
