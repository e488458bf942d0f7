package dev.warpwright.control;

/**
 * The sums of one budget scope, in billionths of the currency's unit, and how they change: values
 * in, values out. All are zero or more.
 *
 * <p>{@code reserved + uncertain} never passes the limit, since both come from reservations that
 * fitted into it. {@code spent} may, because what was really spent counts in full; it stops at the
 * largest long.
 *
 * @param estimatedNanos the part of {@code spentNanos} that was estimated
 */
record Account(long spentNanos, long estimatedNanos, long reservedNanos, long uncertainNanos) {
  static final Account EMPTY = new Account(0, 0, 0, 0);

  /** What can still be reserved; below zero if more was spent than allowed. */
  long remainingNanos(long limitNanos) {
    return limitNanos - reservedNanos - uncertainNanos - spentNanos;
  }

  Account reserve(long amountNanos) {
    return new Account(spentNanos, estimatedNanos, reservedNanos + amountNanos, uncertainNanos);
  }

  Account cancel(long amountNanos) {
    return new Account(spentNanos, estimatedNanos, reservedNanos - amountNanos, uncertainNanos);
  }

  /** What was reserved becomes uncertain. */
  Account doubt(long amountNanos) {
    return new Account(
        spentNanos, estimatedNanos, reservedNanos - amountNanos, uncertainNanos + amountNanos);
  }

  /** What was reserved is given back and what was spent is counted. */
  Account settle(long amountNanos, long actualNanos, boolean estimated) {
    return new Account(
        sum(spentNanos, actualNanos),
        estimated ? sum(estimatedNanos, actualNanos) : estimatedNanos,
        reservedNanos - amountNanos,
        uncertainNanos);
  }

  /** What was uncertain is given back and what was spent is counted. */
  Account reconcile(long amountNanos, long actualNanos) {
    return new Account(
        sum(spentNanos, actualNanos), estimatedNanos, reservedNanos, uncertainNanos - amountNanos);
  }

  private static long sum(long a, long b) {
    return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
  }
}
