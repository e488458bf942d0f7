package dev.warpwright.control;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the calls of one target have taken of its limits. Arithmetic only: it reads no clock and
 * knows no thread; the lock of {@link LocalAdmission} guards it.
 *
 * <p>Without limits per minute a window has no length, so that each request begins one and none
 * outlasts it.
 */
final class TargetQuota {
  private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final int maxConcurrent;
  private final long maxRequests;
  private final long maxTokens;
  private final long windowNanos;

  private int inFlight;
  private long window; // how many have begun; 0: none yet
  private long windowStartNanos;
  private long requests; // of the window
  private long tokens; // of the window; above the limit if the provider reports more than estimated

  TargetQuota(AdmissionPolicy policy) {
    this.maxConcurrent = policy.maxConcurrent();
    this.maxRequests = policy.requestsPerMinute().orElse(Integer.MAX_VALUE);
    this.maxTokens = policy.tokensPerMinute().orElse(Long.MAX_VALUE);
    boolean perMinute =
        policy.requestsPerMinute().isPresent() || policy.tokensPerMinute().isPresent();
    this.windowNanos = perMinute ? MINUTE_NANOS : 0;
  }

  /**
   * The first limit that keeps a request out; null if all have room for it.
   *
   * @param wanted its tokens, not more than the limit
   */
  @Nullable AdmissionLimit obstacle(long wanted, long nowNanos) {
    if (inFlight >= maxConcurrent) {
      return AdmissionLimit.MAX_CONCURRENT;
    }
    if (!isWindowOpen(nowNanos)) {
      return null;
    }
    if (requests >= maxRequests) {
      return AdmissionLimit.REQUESTS_PER_MINUTE;
    }
    return tokens > maxTokens - wanted ? AdmissionLimit.TOKENS_PER_MINUTE : null;
  }

  /** Takes from all limits for a request that nothing keeps out; returns the window's number. */
  long take(long wanted, long nowNanos) {
    if (!isWindowOpen(nowNanos)) {
      window++;
      windowStartNanos = nowNanos;
      requests = 0;
      tokens = 0;
    }
    inFlight++;
    requests++;
    tokens += wanted;
    return window;
  }

  /** Gives back the place in flight, which is all that is ever given back. */
  void release() {
    inFlight--;
  }

  /** Puts reported tokens in place of those taken, unless their window is over. */
  void reconcile(long ofWindow, long taken, long reported) {
    if (ofWindow == window) {
      long rest = tokens - taken;
      tokens = reported > Long.MAX_VALUE - rest ? Long.MAX_VALUE : rest + reported;
    }
  }

  boolean isWindowOpen(long nowNanos) {
    return window > 0 && nowNanos - windowEndNanos() < 0;
  }

  /** When the last window ends or ended. */
  long windowEndNanos() {
    return windowStartNanos + windowNanos;
  }

  int inFlight() {
    return inFlight;
  }
}
