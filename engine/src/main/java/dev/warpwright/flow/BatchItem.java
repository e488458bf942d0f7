package dev.warpwright.flow;

import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunKey;
import java.time.Duration;
import java.util.Optional;

/**
 * What became of one item of a batch.
 *
 * @param key the item's key
 * @param outcome what became of it
 * @param run its run, unless the item was refused before it had one
 * @param failure what kind of failure, for a failed item
 * @param message the failure in words, for a failed item
 * @param usage the tokens of its run, over all invocations
 * @param cost what its run cost, over all invocations; empty if it asked no model, or if costs are
 *     not accounted
 * @param work what this invocation of the batch did for it
 * @param duration from the start of its run to the last event of that; zero without a run
 */
public record BatchItem(
    String key,
    Outcome outcome,
    Optional<RunKey> run,
    Optional<FailureKind> failure,
    Optional<String> message,
    Usage usage,
    Optional<CostTotal> cost,
    Work work,
    Duration duration) {
  /** What became of an item; each item has exactly one outcome. */
  public enum Outcome {
    /** Its run completed in this invocation. */
    COMPLETED,
    /** Its run waits for a time or a signal. */
    WAITING,
    /** Its run waits for approvals. */
    WAITING_APPROVAL,
    /**
     * Its run, or a child run of it, waits for a verdict on a tool or a step whose outcome is
     * unknown.
     */
    NEEDS_RECONCILIATION,
    /**
     * Its run failed, was cancelled or timed out, now or for good in an earlier invocation, or was
     * refused.
     */
    FAILED,
    /** Its run had completed before this invocation; nothing was done. */
    SKIPPED
  }

  /**
   * How much an agent did; for a flow it is {@link #NONE}.
   *
   * @param dispatches provider calls
   * @param retries provider calls that were made again on the same target
   * @param fallbacks provider calls that went to another target after a failure
   * @param toolCalls tool runs
   */
  public record Work(int dispatches, int retries, int fallbacks, int toolCalls) {
    /** Nothing was done. */
    public static final Work NONE = new Work(0, 0, 0, 0);

    Work plus(Work other) {
      return new Work(
          dispatches + other.dispatches,
          retries + other.retries,
          fallbacks + other.fallbacks,
          toolCalls + other.toolCalls);
    }
  }
}
