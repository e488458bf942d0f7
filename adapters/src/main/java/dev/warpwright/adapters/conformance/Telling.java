package dev.warpwright.adapters.conformance;

import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.task.TimeSource;
import java.time.Duration;

/** Takes down what one stream tells. Used by the thread that streams, but for one question. */
final class Telling implements StreamingModel.Events {
  private final TimeSource time;
  private final Runnable onText;
  private final long startNanos;
  private final StringBuilder text = new StringBuilder();
  private int pieces;
  private long textNanos;
  private volatile boolean hasText; // written by the thread that streams

  /**
   * Begins with nothing told.
   *
   * @param time measures
   * @param onText runs at every piece of text
   */
  Telling(TimeSource time, Runnable onText) {
    this.time = time;
    this.onText = onText;
    this.startNanos = time.nanoTime();
  }

  @Override
  public void tell(ModelEvent event) {
    if (event instanceof ModelEvent.Text(String piece) && !piece.isEmpty()) {
      if (pieces++ == 0) {
        textNanos = time.nanoTime();
      }
      text.append(piece);
      hasText = true;
      onText.run();
    }
  }

  /** Whether a piece of text has come. Any thread. */
  boolean hasText() {
    return hasText;
  }

  Told told() {
    return new Told(
        text.toString(),
        pieces,
        Duration.ofNanos(pieces == 0 ? 0 : textNanos - startNanos),
        Duration.ofNanos(time.nanoTime() - startNanos));
  }
}
