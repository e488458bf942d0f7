package dev.warpwright.adapters.scripted;

import java.time.Duration;
import java.util.Optional;

/**
 * How a server writes the bytes of a stream.
 *
 * @param lineEnd what ends its lines
 * @param dribble how its bytes are parcelled, if not event by event
 */
record WireForm(LineEnd lineEnd, Optional<Dribble> dribble) {
  /** Lines end with a line feed, each event is one write. */
  static final WireForm DEFAULT = new WireForm(LineEnd.LF, Optional.empty());

  /** What ends a line. */
  enum LineEnd {
    LF("\n"),
    CRLF("\r\n"),
    CR("\r");

    final String text;

    LineEnd(String text) {
      this.text = text;
    }
  }

  /**
   * So many bytes at a time, wherever that cuts, with a pause in front of each parcel but the
   * first.
   */
  record Dribble(int bytes, Duration pause) {}
}
