package dev.warpwright.model;

import java.util.Objects;

/**
 * What a {@link StreamingModel} tells while its answer comes. Tool calls, private state and the
 * finish are not among it: they count only once the answer is complete, and stand in the {@link
 * ModelResponse} at its end.
 */
public sealed interface ModelEvent {
  /** The one {@link Alive}. */
  ModelEvent ALIVE = new Alive();

  /**
   * A piece of the answer's text. The pieces, joined, are the text of the complete answer.
   *
   * @param text the piece, as it came; an empty one is not told to anybody
   */
  record Text(String text) implements ModelEvent {
    /** Refuses null. */
    public Text {
      Objects.requireNonNull(text, "text");
    }

    /** Shows the length only. */
    @Override
    public String toString() {
      return "Text[" + text.length() + " characters]";
    }
  }

  /**
   * A piece of the reasoning that the provider shows.
   *
   * @param text the piece, as it came; an empty one is not told to anybody
   */
  record Reasoning(String text) implements ModelEvent {
    /** Refuses null. */
    public Reasoning {
      Objects.requireNonNull(text, "text");
    }

    /** Shows the length only. */
    @Override
    public String toString() {
      return "Reasoning[" + text.length() + " characters]";
    }
  }

  /**
   * The counters as far as they are known. Each takes the place of the one before; the last one is
   * what a stream that breaks has used. A complete answer has its own.
   *
   * @param usage what was reported so far
   */
  record Counters(Usage usage) implements ModelEvent {
    /** Refuses null. */
    public Counters {
      Objects.requireNonNull(usage, "usage");
    }
  }

  /**
   * A sign of life that carries no output: a comment, a ping, a preamble, a fragment of a tool
   * call's arguments. It restarts the idle limit and decides nothing.
   */
  record Alive() implements ModelEvent {}
}
