package dev.warpwright.run;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.Money;
import dev.warpwright.model.Usage;
import java.util.ArrayList;
import java.util.List;

/**
 * What a run has used, as its log has it.
 *
 * @param toolCalls the tool calls that were begun, each counted once
 * @param usage the tokens of all model calls that were answered
 * @param knownCosts what all calls whose cost is known cost together: one amount for each currency
 */
public record RunTotals(int toolCalls, Usage usage, List<Money> knownCosts) {
  /** Nothing was used. */
  public static final RunTotals NONE = new RunTotals(0, Usage.ABSENT, List.of());

  /** Copies the list, and adds up what it has of one currency. */
  public RunTotals {
    List<Money> sums = new ArrayList<>(1); // mostly one
    knownCosts.forEach(cost -> add(sums, cost));
    knownCosts = List.copyOf(sums);
  }

  private static void add(List<Money> sums, Money cost) {
    for (int i = 0; i < sums.size(); i++) {
      Money sum = sums.get(i);
      if (sum.sameCurrency(cost)) {
        long nanos = sum.nanos() + cost.nanos();
        boolean overflows = ((sum.nanos() ^ nanos) & (cost.nanos() ^ nanos)) < 0;
        sums.set(i, new Money(overflows ? Long.MAX_VALUE : nanos, cost.currency()));
        return;
      }
    }
    sums.add(cost);
  }

  /**
   * What one model step used.
   *
   * @param usage its tokens
   * @param attempts its provider calls, failed ones included
   * @return the totals
   */
  public static RunTotals ofStep(Usage usage, List<Attempt> attempts) {
    RunCost cost = new RunCost();
    cost.add(attempts);
    return new RunTotals(0, usage, cost.known());
  }

  /**
   * Adds what else was used.
   *
   * @param other the totals of another run, or of another step of this one
   * @return the sums
   */
  public RunTotals plus(RunTotals other) {
    List<Money> costs = new ArrayList<>(knownCosts);
    costs.addAll(other.knownCosts);
    return new RunTotals(toolCalls + other.toolCalls, usage.plus(other.usage), costs);
  }
}
