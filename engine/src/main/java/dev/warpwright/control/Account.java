package dev.warpwright.control;

/**
 * The sums of one budget scope, in billionths of the currency's unit, and how they change. All are
 * zero or more. Guarded by the lock of whoever keeps it.
 *
 * <p>{@code reserved + uncertain} never passes the limit, since both come from reservations that
 * fitted into it. {@code spent} may, because what was really spent counts in full; it stops at the
 * largest long.
 */
final class Account {
  private long spentNanos;
  private long estimatedNanos; // the part of what was spent that was estimated
  private long reservedNanos;
  private long uncertainNanos;

  long spentNanos() {
    return spentNanos;
  }

  long estimatedNanos() {
    return estimatedNanos;
  }

  long reservedNanos() {
    return reservedNanos;
  }

  long uncertainNanos() {
    return uncertainNanos;
  }

  /** The same sums, which change no more. */
  Account copy() {
    Account copy = new Account();
    copy.spentNanos = spentNanos;
    copy.estimatedNanos = estimatedNanos;
    copy.reservedNanos = reservedNanos;
    copy.uncertainNanos = uncertainNanos;
    return copy;
  }

  /** What can still be reserved; below zero if more was spent than allowed. */
  long remainingNanos(long limitNanos) {
    return limitNanos - reservedNanos - uncertainNanos - spentNanos;
  }

  void reserve(long amountNanos) {
    reservedNanos += amountNanos;
  }

  void cancel(long amountNanos) {
    reservedNanos -= amountNanos;
  }

  /** What was reserved becomes uncertain. */
  void doubt(long amountNanos) {
    reservedNanos -= amountNanos;
    uncertainNanos += amountNanos;
  }

  /** What was reserved is given back and what was spent is counted. */
  void settle(long amountNanos, long actualNanos, boolean estimated) {
    reservedNanos -= amountNanos;
    spentNanos = sum(spentNanos, actualNanos);
    if (estimated) {
      estimatedNanos = sum(estimatedNanos, actualNanos);
    }
  }

  /** What was uncertain is given back and what was spent is counted. */
  void reconcile(long amountNanos, long actualNanos) {
    uncertainNanos -= amountNanos;
    spentNanos = sum(spentNanos, actualNanos);
  }

  private static long sum(long a, long b) {
    return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
  }
}
