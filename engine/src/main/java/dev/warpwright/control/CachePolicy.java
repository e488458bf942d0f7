package dev.warpwright.control;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.time.Duration;
import java.util.Objects;

/**
 * Where a gateway keeps answers, and for whom.
 *
 * <pre>{@code
 * CachePolicy policy = CachePolicy.of(ResponseCache.inMemory(), "production-2026-01");
 * }</pre>
 *
 * @param cache where answers are kept
 * @param authenticationScope names the credentials and endpoints that the gateway uses, without
 *     being one of them; not blank. Give it another value whenever they change, so that nobody gets
 *     an answer that other credentials have paid for, or another endpoint has given
 * @param timeout how long a look-up or a write may take; 1 ms to 60 s, default 50 ms
 */
public record CachePolicy(ResponseCache cache, String authenticationScope, Duration timeout) {
  private static final Duration DEFAULT_TIMEOUT = Duration.ofMillis(50);
  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofSeconds(60);

  /** Checks the bounds. */
  public CachePolicy {
    Objects.requireNonNull(cache, "cache");
    if (authenticationScope.isBlank()) {
      throw invalid("The authentication scope of a cache must not be blank.");
    }
    if (timeout.compareTo(SHORTEST) < 0 || timeout.compareTo(LONGEST) > 0) {
      throw invalid("cache.timeout must be between 1 ms and 60 s, but is " + timeout + ".");
    }
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }

  /**
   * A policy with the default timeout.
   *
   * @param cache where answers are kept
   * @param authenticationScope names the credentials and endpoints that the gateway uses; not blank
   * @return the policy
   */
  public static CachePolicy of(ResponseCache cache, String authenticationScope) {
    return new CachePolicy(cache, authenticationScope, DEFAULT_TIMEOUT);
  }

  /**
   * The same policy with another timeout.
   *
   * @param timeout 1 ms to 60 s
   * @return a copy
   */
  public CachePolicy withTimeout(Duration timeout) {
    return new CachePolicy(cache, authenticationScope, timeout);
  }

  /** Shows the cache and the timeout. */
  @Override
  public String toString() {
    return "CachePolicy[" + cache + ", timeout " + timeout + "]";
  }
}
