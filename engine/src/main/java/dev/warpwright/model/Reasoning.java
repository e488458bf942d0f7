package dev.warpwright.model;

/**
 * How much a model is asked to reason before it answers. A protocol that knows only the other form
 * refuses the target, so that a fallback is tried; nothing is translated by a guess.
 */
public sealed interface Reasoning {
  /** How hard. */
  enum Effort {
    /** Not at all. */
    NONE,
    /** As little as the model can. */
    MINIMAL,
    /** A little. */
    LOW,
    /** The usual. */
    MEDIUM,
    /** A lot. */
    HIGH,
    /** As much as the model can. */
    MAX
  }

  /**
   * By effort; the model decides how many tokens that is.
   *
   * @param effort how hard
   */
  record ByEffort(Effort effort) implements Reasoning {}

  /**
   * By a budget of tokens.
   *
   * @param tokens how many at most, 1 or more; providers have higher minima of their own
   */
  record ByBudget(int tokens) implements Reasoning {
    /** Checks the bound. */
    public ByBudget {
      if (tokens < 1) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "A reasoning budget must be 1 token or more, but is " + tokens + ".");
      }
    }
  }

  /**
   * By effort.
   *
   * @param effort how hard
   * @return the request
   */
  static Reasoning effort(Effort effort) {
    return new ByEffort(effort);
  }

  /**
   * By a budget of tokens.
   *
   * @param tokens how many at most, 1 or more
   * @return the request
   */
  static Reasoning budget(int tokens) {
    return new ByBudget(tokens);
  }
}
