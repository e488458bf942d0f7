package dev.warpwright.store.jdbc;

import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.model.Money;

/** The sums of one scope as its row has them, in billionths of the currency's unit. */
record Account(long spentNanos, long estimatedNanos, long reservedNanos, long uncertainNanos) {
  static final Account EMPTY = new Account(0, 0, 0, 0);

  BudgetSnapshot snapshot(Money limit) {
    // Not in one step: stores with other limits may have reserved up to the largest long.
    long unreserved = limit.nanos() - reservedNanos - uncertainNanos;
    long remaining = unreserved <= spentNanos ? 0 : unreserved - spentNanos;
    return new BudgetSnapshot(
        money(spentNanos, limit),
        money(estimatedNanos, limit),
        money(reservedNanos, limit),
        money(uncertainNanos, limit),
        money(remaining, limit));
  }

  String denial(Money amount, Money limit) {
    return "%s cannot be reserved: of the limit of %s, %s is spent, %s reserved and %s uncertain."
        .formatted(
            amount,
            limit,
            money(spentNanos, limit),
            money(reservedNanos, limit),
            money(uncertainNanos, limit));
  }

  private static Money money(long nanos, Money limit) {
    return new Money(nanos, limit.currency());
  }

  /**
   * What an account's row is changed by.
   *
   * @param spent what is added to what was spent, at most up to the largest long
   * @param estimated the part of it that was estimated
   */
  record Change(long reserved, long uncertain, long spent, long estimated) {
    static Change spent(long nanos, boolean estimated) {
      return new Change(0, 0, nanos, estimated ? nanos : 0);
    }

    Change plusReserved(long nanos) {
      return new Change(reserved + nanos, uncertain, spent, estimated);
    }

    Change plusUncertain(long nanos) {
      return new Change(reserved, uncertain + nanos, spent, estimated);
    }
  }
}
