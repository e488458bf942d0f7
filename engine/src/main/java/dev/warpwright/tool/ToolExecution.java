package dev.warpwright.tool;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ToolCall;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Predicate;

/**
 * How the tool calls of a step are run.
 *
 * @param parallel whether calls of one step run at the same time; if absent, they do when the model
 *     declares parallel tool calls
 * @param maxConcurrency how many at the same time, 1 or more; all of a step if absent
 * @param stopOnError whether the first failed tool ends the operation, after its batch
 * @param approvalPolicy decides at once, in operations that have no run in which a call could wait,
 *     whether a call that requires approval may run; without it such a call is denied
 */
public record ToolExecution(
    Optional<Boolean> parallel,
    OptionalInt maxConcurrency,
    boolean stopOnError,
    Optional<Predicate<ToolCall>> approvalPolicy) {
  /** Parallel if the model says so, all calls of a step at once, errors go to the model. */
  public static final ToolExecution DEFAULT =
      new ToolExecution(Optional.empty(), OptionalInt.empty(), false, Optional.empty());

  /** Checks the bound. */
  public ToolExecution {
    if (maxConcurrency.isPresent() && maxConcurrency.getAsInt() < 1) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          "maxConcurrency must be 1 or more, but is " + maxConcurrency.getAsInt() + ".");
    }
  }

  /**
   * One call after the other.
   *
   * @return a copy
   */
  public ToolExecution sequential() {
    return new ToolExecution(Optional.of(false), maxConcurrency, stopOnError, approvalPolicy);
  }

  /**
   * The first failed tool ends the operation.
   *
   * @return a copy
   */
  public ToolExecution stoppingOnError() {
    return new ToolExecution(parallel, maxConcurrency, true, approvalPolicy);
  }

  /**
   * At most so many calls at the same time.
   *
   * @param calls 1 or more
   * @return a copy
   */
  public ToolExecution withMaxConcurrency(int calls) {
    return new ToolExecution(parallel, OptionalInt.of(calls), stopOnError, approvalPolicy);
  }

  /**
   * Decides at once on calls that require approval.
   *
   * @param policy true to let a call run; it must not block
   * @return a copy
   */
  public ToolExecution approving(Predicate<ToolCall> policy) {
    return new ToolExecution(parallel, maxConcurrency, stopOnError, Optional.of(policy));
  }

  /** How many of a number of calls run at the same time. */
  int width(int calls, boolean modelDeclaresParallel) {
    return parallel.orElse(modelDeclaresParallel)
        ? Math.min(calls, maxConcurrency.orElse(calls))
        : 1;
  }
}
