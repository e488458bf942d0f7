package dev.warpwright.adapters.wire;

import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.Usage;
import org.jspecify.annotations.Nullable;

/** Tells what a stream shows to whoever called; nothing empty. Used by the calling thread only. */
public final class Teller {
  private final StreamingModel.Events events;
  private boolean toldOutput;
  private boolean told;
  private @Nullable RuntimeException thrown;

  Teller(StreamingModel.Events events) {
    this.events = events;
  }

  /**
   * Tells a piece of the answer's text.
   *
   * @param piece the piece; an empty one is not told
   * @throws InterruptedException if nobody wants the answer any more
   */
  public void text(String piece) throws InterruptedException {
    if (!piece.isEmpty()) {
      toldOutput = true;
      tell(new ModelEvent.Text(piece));
    }
  }

  /**
   * Tells a piece of the reasoning.
   *
   * @param piece the piece; an empty one is not told
   * @throws InterruptedException if nobody wants the answer any more
   */
  public void reasoning(String piece) throws InterruptedException {
    if (!piece.isEmpty()) {
      toldOutput = true;
      tell(new ModelEvent.Reasoning(piece));
    }
  }

  /**
   * Tells the counters as far as they are known.
   *
   * @param usage all that was reported so far
   * @throws InterruptedException if nobody wants the answer any more
   */
  public void counters(Usage usage) throws InterruptedException {
    tell(new ModelEvent.Counters(usage));
  }

  /** Tells that something came, unless that was seen since this was called last. */
  void alive() throws InterruptedException {
    if (!told) {
      tell(ModelEvent.ALIVE);
    }
    told = false;
  }

  private void tell(ModelEvent event) throws InterruptedException {
    told = true;
    try {
      events.tell(event);
    } catch (RuntimeException e) {
      thrown = e;
      throw e;
    }
  }

  /** Whether some output was told. */
  boolean hasToldOutput() {
    return toldOutput;
  }

  /** Whether an exception is that of whoever was told. */
  boolean threw(RuntimeException exception) {
    return exception == thrown;
  }
}
