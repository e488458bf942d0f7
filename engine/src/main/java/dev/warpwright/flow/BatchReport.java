package dev.warpwright.flow;

import dev.warpwright.model.Usage;
import java.time.Duration;
import java.util.List;

/**
 * What a batch did: as {@link Batch#run} has seen it, or as {@link Batch#report} finds it in the
 * store.
 *
 * @param size how many items the batch has
 * @param items what became of each item that is through, in the order of the batch
 * @param stopped whether the batch was stopped before all items were through; a rerun goes on
 * @param duration how long this run of the batch took; of a report from the store, from the start
 *     of the first run to the last event of any
 */
public record BatchReport(int size, List<BatchItem> items, boolean stopped, Duration duration) {
  /** Copies the list. */
  public BatchReport {
    items = List.copyOf(items);
  }

  /**
   * How many items have an outcome.
   *
   * @param outcome the outcome
   * @return the number
   */
  public int count(BatchItem.Outcome outcome) {
    return (int) items.stream().filter(item -> item.outcome() == outcome).count();
  }

  /**
   * How much was done for all items together.
   *
   * @return the sum
   */
  public BatchItem.Work work() {
    return items.stream().map(BatchItem::work).reduce(BatchItem.Work.NONE, BatchItem.Work::plus);
  }

  /**
   * The tokens of all runs together.
   *
   * @return the sum
   */
  public Usage usage() {
    return items.stream().map(BatchItem::usage).reduce(Usage.ABSENT, Usage::plus);
  }

  /**
   * What all runs together cost.
   *
   * @return the sums; exact if all are known
   */
  public BatchCost cost() {
    return BatchCost.of(items);
  }
}
