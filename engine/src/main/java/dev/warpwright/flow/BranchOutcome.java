package dev.warpwright.flow;

import dev.warpwright.model.StepFailedException;

/**
 * How a branch ended.
 *
 * @param <T> its value
 */
public sealed interface BranchOutcome<T> {
  /**
   * It returned.
   *
   * @param value what
   * @param <T> its type
   */
  record Completed<T>(T value) implements BranchOutcome<T> {}

  /**
   * It threw.
   *
   * @param cause what; the same in a replay if it came from a step ({@link StepFailedException})
   * @param <T> the type of the value that there is not
   */
  record Failed<T>(Exception cause) implements BranchOutcome<T> {}
}
