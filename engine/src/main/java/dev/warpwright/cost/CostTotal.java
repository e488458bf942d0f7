package dev.warpwright.cost;

import dev.warpwright.model.CostValuation;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.model.Money;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What an operation costs: all its model calls together, failed ones included.
 *
 * <p>There is an amount only if each call has one. A success does not make a failed call before it
 * free.
 *
 * @param status KNOWN if every call is, ESTIMATED if one is only estimated, UNKNOWN if one is
 *     unknown
 * @param amount the exact sum; absent if and only if the status is UNKNOWN
 * @param unknownReasons the codes of the calls without an amount, each once, or {@code no-calls},
 *     {@code different-currencies}, {@code amount-overflow}
 */
public record CostTotal(Status status, Optional<Money> amount, List<String> unknownReasons) {
  /** Copies the list, and checks that there is an amount or a reason. */
  public CostTotal {
    unknownReasons = List.copyOf(unknownReasons);
    boolean unknown = status == Status.UNKNOWN;
    if (unknown == amount.isPresent() || unknown == unknownReasons.isEmpty()) {
      throw new IllegalArgumentException(
          "A total is UNKNOWN with reasons and without amount, or the reverse.");
    }
  }

  /**
   * Adds the calls of an operation.
   *
   * @param calls the valuation of every model call that was made, whatever became of it
   * @return the total
   */
  public static CostTotal of(List<CostValuation> calls) {
    if (calls.isEmpty()) {
      return unknown(Set.of("no-calls"));
    }
    Set<String> reasons = new LinkedHashSet<>();
    calls.forEach(call -> reasons.addAll(call.unknownReasons()));
    if (!reasons.isEmpty()) {
      return unknown(reasons);
    }
    List<Money> amounts = calls.stream().flatMap(call -> call.amount().stream()).toList();
    if (!amounts.stream().allMatch(amounts.getFirst()::sameCurrency)) {
      return unknown(Set.of("different-currencies"));
    }
    boolean known = calls.stream().allMatch(call -> call.status() == Status.KNOWN);
    try {
      return new CostTotal(
          known ? Status.KNOWN : Status.ESTIMATED, amounts.stream().reduce(Money::plus), List.of());
    } catch (ArithmeticException e) {
      return unknown(Set.of("amount-overflow"));
    }
  }

  /**
   * Adds another total.
   *
   * @param other what else was spent
   * @return the sum; UNKNOWN if one of them is, or if they cannot be added
   */
  public CostTotal plus(CostTotal other) {
    Set<String> reasons = new LinkedHashSet<>(unknownReasons);
    reasons.addAll(other.unknownReasons);
    if (!reasons.isEmpty()) {
      return unknown(reasons);
    }
    Money mine = amount.orElseThrow();
    Money more = other.amount.orElseThrow();
    if (!mine.sameCurrency(more)) {
      return unknown(Set.of("different-currencies"));
    }
    try {
      boolean known = status == Status.KNOWN && other.status == Status.KNOWN;
      return new CostTotal(
          known ? Status.KNOWN : Status.ESTIMATED, Optional.of(mine.plus(more)), List.of());
    } catch (ArithmeticException e) {
      return unknown(Set.of("amount-overflow"));
    }
  }

  private static CostTotal unknown(Set<String> reasons) {
    return new CostTotal(Status.UNKNOWN, Optional.empty(), List.copyOf(reasons));
  }
}
