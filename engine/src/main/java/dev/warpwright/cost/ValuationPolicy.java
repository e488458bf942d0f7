package dev.warpwright.cost;

import dev.warpwright.model.ReasoningAccounting;
import java.util.Optional;

/**
 * How {@link Valuation#of} treats what a provider did not say.
 *
 * @param cacheAssumption what a missing cache counter means
 * @param reasoningAccounting whether the output includes the reasoning, if known
 * @param unknown whether a cost that stays unknown is a value or an exception
 */
public record ValuationPolicy(
    CacheAssumption cacheAssumption,
    Optional<ReasoningAccounting> reasoningAccounting,
    UnknownCost unknown) {
  /** Takes nothing for granted; an unknown cost is a value. */
  public static final ValuationPolicy ASSUME_NOTHING =
      new ValuationPolicy(CacheAssumption.UNKNOWN, Optional.empty(), UnknownCost.ALLOW);
}
