package dev.warpwright.adapters.anthropic;

/** Whether a model is asked to think before it answers. */
sealed interface Thinking {
  /** The smallest budget that the protocol accepts, in tokens. */
  int MIN_BUDGET = 1_024;

  /** Nothing is said about it. */
  record Unset() implements Thinking {}

  /** The model decides when and how much. */
  record Adaptive() implements Thinking {}

  /**
   * The model thinks first, within a budget.
   *
   * @param tokens the budget, a part of the limit of output tokens
   */
  record Budget(int tokens) implements Thinking {}
}
