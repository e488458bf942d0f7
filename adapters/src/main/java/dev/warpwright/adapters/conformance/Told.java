package dev.warpwright.adapters.conformance;

import java.time.Duration;

/**
 * What a stream has told.
 *
 * @param text the pieces, joined
 * @param pieces how many there were that had a text
 * @param untilText when the first of them came, after the call began
 * @param untilEnd when the call ended, after it began
 */
record Told(String text, int pieces, Duration untilText, Duration untilEnd) {
  static final Told NOTHING = new Told("", 0, Duration.ZERO, Duration.ZERO);
}
