package dev.warpwright.store.jdbc;

import dev.warpwright.control.AdmissionLimit;
import dev.warpwright.control.AdmissionPolicy;
import org.jspecify.annotations.Nullable;

/**
 * What was taken of a target's minute window: values in, values out. Times are the database's.
 *
 * @param number how many windows of the target have begun; 0: none yet
 * @param tokens above the limit if the provider reports more than was estimated
 */
record AdmissionWindow(long number, long startMillis, long requests, long tokens) {
  static final AdmissionWindow NONE = new AdmissionWindow(0, 0, 0, 0);
  static final long LENGTH_MILLIS = 60_000;

  /** A clock that was set back by more than a window ends it, too. */
  boolean isOpen(long nowMillis) {
    return number > 0 && Math.abs(nowMillis - startMillis) < LENGTH_MILLIS;
  }

  /** How long until it ends. */
  long leftMillis(long nowMillis) {
    return startMillis + LENGTH_MILLIS - nowMillis;
  }

  /** The limit per minute that keeps a request out; null if both have room for it. */
  @Nullable AdmissionLimit obstacle(AdmissionPolicy policy, long wanted, long nowMillis) {
    if (!isOpen(nowMillis)) {
      return null;
    }
    if (requests >= policy.requestsPerMinute().orElse(Integer.MAX_VALUE)) {
      return AdmissionLimit.REQUESTS_PER_MINUTE;
    }
    return tokens > policy.tokensPerMinute().orElse(Long.MAX_VALUE) - wanted
        ? AdmissionLimit.TOKENS_PER_MINUTE
        : null;
  }

  /** Takes one request that nothing keeps out; without limits per minute there is no window. */
  AdmissionWindow admit(AdmissionPolicy policy, long wanted, long nowMillis) {
    if (policy.requestsPerMinute().isEmpty() && policy.tokensPerMinute().isEmpty()) {
      return this;
    }
    return isOpen(nowMillis)
        ? new AdmissionWindow(number, startMillis, requests + 1, tokens + wanted)
        : new AdmissionWindow(number + 1, nowMillis, 1, wanted);
  }

  /** Puts what a call used in place of what was taken for it, unless its window is over. */
  AdmissionWindow correct(Correction correction) {
    if (number == 0 || correction.window() != number) {
      return this;
    }
    long rest = tokens - correction.taken();
    long used = correction.used();
    return new AdmissionWindow(
        number,
        startMillis,
        correction.dispatched() ? requests : requests - 1,
        used > Long.MAX_VALUE - rest ? Long.MAX_VALUE : rest + used);
  }

  /**
   * What became of a request that was admitted.
   *
   * @param window the window that it was admitted in
   * @param taken the tokens that were taken for it
   * @param used the tokens that it used
   * @param dispatched false if nobody got the permit, so that it does not count as a request
   */
  record Correction(long window, long taken, long used, boolean dispatched) {}
}
