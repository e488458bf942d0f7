package dev.warpwright.flow;

import dev.warpwright.model.Usage;

/**
 * How far a batch is.
 *
 * @param items how many items it has
 * @param running how many are being worked on
 * @param completed how many were completed in this invocation
 * @param waiting how many wait: for a time, a signal, an approval or a verdict
 * @param failed how many failed
 * @param skipped how many had completed before this invocation
 * @param usage the tokens of the runs of all items that are through, over all invocations
 * @param cost what they cost, over all invocations
 */
public record BatchProgress(
    int items,
    int running,
    int completed,
    int waiting,
    int failed,
    int skipped,
    Usage usage,
    BatchCost cost) {
  /**
   * How many items have not been begun.
   *
   * @return the number
   */
  public int pending() {
    return items - running - done();
  }

  /**
   * How many items this invocation is through with.
   *
   * @return completed, waiting, failed and skipped ones
   */
  public int done() {
    return completed + waiting + failed + skipped;
  }
}
