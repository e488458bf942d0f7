package dev.warpwright.flow;

import dev.warpwright.model.Usage;
import java.time.Duration;
import java.util.List;

/**
 * What a batch did.
 *
 * @param size how many items the batch has
 * @param items what became of each item that was begun, in the order in which they ended
 * @param stopped whether the batch was stopped before all items were through; a rerun goes on
 * @param duration how long it took
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
}
