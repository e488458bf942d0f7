package dev.warpwright.adapters.wire;

import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.Usage;

/** Tells what a stream shows to whoever called; nothing empty. Used by the calling thread only. */
public final class Teller {
  private final StreamingModel.Events events;
  private boolean toldOutput;
  private boolean told;
  private boolean threw;

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
    threw = true;
    events.tell(event);
    threw = false;
  }

  /** Whether some output was told. */
  boolean hasToldOutput() {
    return toldOutput;
  }

  /** Whether whoever was told has thrown, and not the protocol's reader. */
  boolean threw() {
    return threw;
  }
}
