package dev.warpwright.flow;

import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.Money;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the runs of a batch cost, as far as that is known.
 *
 * @param known the sum of the items whose cost is exact, one for each currency
 * @param estimated the sum of the items whose cost is an estimate, one for each currency
 * @param unknownItems how many items have spent nobody knows what
 */
public record BatchCost(List<Money> known, List<Money> estimated, int unknownItems) {
  /** Nothing was spent. */
  public static final BatchCost NONE = new BatchCost(List.of(), List.of(), 0);

  /** Copies the lists. */
  public BatchCost {
    known = List.copyOf(known);
    estimated = List.copyOf(estimated);
  }

  static BatchCost of(List<BatchItem> items) {
    BatchCost sum = NONE;
    for (BatchItem item : items) {
      sum = sum.plus(item);
    }
    return sum;
  }

  BatchCost plus(BatchItem item) {
    if (item.cost().isEmpty()) {
      return this;
    }
    CostTotal cost = item.cost().get();
    return switch (cost.status()) {
      case KNOWN -> new BatchCost(sum(known, cost.amount()), estimated, unknownItems);
      case ESTIMATED -> new BatchCost(known, sum(estimated, cost.amount()), unknownItems);
      case UNKNOWN -> new BatchCost(known, estimated, unknownItems + 1);
    };
  }

  private static List<Money> sum(List<Money> sums, Optional<Money> amount) {
    Money more = amount.orElseThrow();
    List<Money> added = new ArrayList<>(sums);
    for (int i = 0; i < added.size(); i++) {
      if (added.get(i).sameCurrency(more)) {
        added.set(i, added.get(i).plus(more));
        return added;
      }
    }
    added.add(more);
    return added;
  }

  /**
   * Whether {@link #known()} is all that was spent.
   *
   * @return true if nothing is estimated and nothing unknown
   */
  public boolean isExact() {
    return estimated.isEmpty() && unknownItems == 0;
  }
}
