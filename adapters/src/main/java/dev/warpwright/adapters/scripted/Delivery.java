package dev.warpwright.adapters.scripted;

import java.time.Duration;
import java.util.Optional;

/**
 * How an answer comes.
 *
 * @param latency how long the model thinks first
 * @param chunks how it is streamed
 * @param wire how a server writes a stream of it
 * @param end where it breaks off, if it does
 */
record Delivery(Duration latency, ScriptedChunks chunks, WireForm wire, Optional<StreamBreak> end) {
  /** At once, as it is usual. */
  static final Delivery DEFAULT =
      new Delivery(Duration.ZERO, ScriptedChunks.DEFAULT, WireForm.DEFAULT, Optional.empty());

  Delivery with(Duration thinking) {
    return new Delivery(thinking, chunks, wire, end);
  }

  Delivery with(ScriptedChunks pieces) {
    return new Delivery(latency, pieces, wire, end);
  }

  Delivery with(WireForm form) {
    return new Delivery(latency, chunks, form, end);
  }

  Delivery with(StreamBreak breaks) {
    return new Delivery(latency, chunks, wire, Optional.of(breaks));
  }
}
