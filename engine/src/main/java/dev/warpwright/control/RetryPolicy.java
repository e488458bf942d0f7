package dev.warpwright.control;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ProviderException;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * When a failed call is made again on the same target, and after what wait.
 *
 * <p>The wait before retry k (0-based) is {@code min(60 s, floor + jitter)} with {@code floor =
 * max(backoff × (k + 1), Retry-After)} and jitter uniform in {@code [0, jitter × backoff × (k +
 * 1)]}. Decisions look at kind, status and structured code, never at a text. Pure and immutable.
 *
 * @param maxRetries how often on one target and step; 0 to 5, default 2
 * @param backoff the unit of the wait; zero or more, default 200 ms
 * @param jitter the fraction of the backoff that is added at random; 0 to 1, default 0.2
 */
public record RetryPolicy(int maxRetries, Duration backoff, double jitter) {
  /** Two retries, 200 ms, a fifth of jitter. */
  public static final RetryPolicy DEFAULT = new RetryPolicy(2, Duration.ofMillis(200), 0.2);

  /** The longest wait; a provider that asks for more is not waited for. */
  public static final Duration MAX_WAIT = Duration.ofSeconds(60);

  private static final int MAX_RETRIES = 5;

  /** Checks the bounds. */
  public RetryPolicy {
    if (maxRetries < 0 || maxRetries > MAX_RETRIES) {
      throw invalid("maxRetries must be between 0 and " + MAX_RETRIES + ", but is " + maxRetries);
    }
    if (backoff.isNegative()) {
      throw invalid("retryBackoff must be 0 or more, but is " + backoff);
    }
    if (!(jitter >= 0 && jitter <= 1)) {
      throw invalid("retryJitter must be between 0 and 1, but is " + jitter);
    }
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message + ".");
  }

  /** What is done after a failure. */
  public sealed interface Decision {
    /**
     * Wait, then call the same target again.
     *
     * @param delay how long to wait
     */
    record Retry(Duration delay) implements Decision {}

    /** Go on with the next target. */
    record NextTarget() implements Decision {}

    /** Try nothing again, on no target. */
    record Stop() implements Decision {}
  }

  /**
   * Decides what is done after a failure.
   *
   * @param failure the failure
   * @param retry which retry would come next, 0-based
   * @param random where the jitter comes from
   * @return the decision; it does not know the deadline, which may forbid the wait
   */
  public Decision decide(ProviderException failure, int retry, RandomGenerator random) {
    if (failure.kind() == ProviderException.Kind.TOOL_CALL && !failure.repeatable()) {
      return new Decision.Stop();
    }
    if (retry >= maxRetries || !isRetryable(failure)) {
      return new Decision.NextTarget();
    }
    Duration asked = failure.retryAfter().orElse(Duration.ZERO);
    if (asked.compareTo(MAX_WAIT) > 0) {
      return new Decision.NextTarget();
    }
    Duration linear = saturated(retry + 1);
    Duration floor = linear.compareTo(asked) > 0 ? linear : asked;
    Duration added = Duration.ofNanos((long) (linear.toNanos() * jitter * random.nextDouble()));
    Duration wait = floor.plus(added);
    return new Decision.Retry(wait.compareTo(MAX_WAIT) > 0 ? MAX_WAIT : wait);
  }

  /** The linear part, cut at the longest wait so that no arithmetic below can overflow. */
  private Duration saturated(int times) {
    return backoff.compareTo(MAX_WAIT) >= 0 ? MAX_WAIT : backoff.multipliedBy(times);
  }

  /**
   * Whether a failure may pass by itself, so that the same target may be asked again.
   *
   * @param failure the failure
   * @return true for 408, 429, 500 and above (also inside a 200 response), connect and read
   *     failures and timeouts; false for an exhausted quota whatever its status
   */
  public static boolean isRetryable(ProviderException failure) {
    if (failure.code().filter("insufficient_quota"::equals).isPresent()) {
      return false;
    }
    return switch (failure.kind()) {
      case HTTP_STATUS, PROVIDER_EVENT -> {
        int status = failure.status();
        yield status == 408 || status == 429 || status >= 500;
      }
      case CONNECT, READ, TIMEOUT -> true;
      case TOOL_CALL -> failure.repeatable();
      case CONTEXT_LENGTH, PROTOCOL, UNSUPPORTED, OTHER -> false;
    };
  }
}
