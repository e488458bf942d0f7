package dev.warpwright.control;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * How much goes to a target at once and per minute, and who may wait for it. Immutable.
 *
 * <p>Each provider, model and deployment has its own counts. The limits per minute use fixed
 * windows of 60 s; a window begins with the first request that is admitted after the one before has
 * ended.
 *
 * <pre>{@code
 * AdmissionPolicy policy =
 *     AdmissionPolicy.builder(8).requestsPerMinute(500).maxQueue(1_000).build();
 * }</pre>
 *
 * @param maxConcurrent how many calls of a target are in flight at most; 1 or more
 * @param requestsPerMinute how many requests of a target are admitted in a window; 1 or more
 * @param tokensPerMinute how many tokens, estimated at first and corrected by what the provider
 *     reports, the requests of a window have together; 1 or more. Each request must then have
 *     {@code maxTokens}
 * @param maxQueue how many requests wait at the same time, over all targets; 0 to 10 000, default
 *     0: who would have to wait is denied
 * @param queueTimeout how long a request waits at most; 0 to 60 s, default 1 s
 * @param maxTargets how many targets are counted at the same time; 1 to 10 000, default 128. A
 *     target that is idle and whose window has ended makes room; one whose window has not ended
 *     never does
 */
public record AdmissionPolicy(
    int maxConcurrent,
    OptionalInt requestsPerMinute,
    OptionalLong tokensPerMinute,
    int maxQueue,
    Duration queueTimeout,
    int maxTargets) {
  private static final int MAX_QUEUE = 10_000;
  private static final Duration MAX_QUEUE_TIMEOUT = Duration.ofSeconds(60);
  private static final int MAX_TARGETS = 10_000;

  /** Checks the bounds. */
  public AdmissionPolicy {
    requireAtLeastOne("maxConcurrent", maxConcurrent);
    requestsPerMinute.ifPresent(value -> requireAtLeastOne("requestsPerMinute", value));
    tokensPerMinute.ifPresent(value -> requireAtLeastOne("tokensPerMinute", value));
    requireBetween("maxQueue", 0, MAX_QUEUE, maxQueue);
    if (queueTimeout.isNegative() || queueTimeout.compareTo(MAX_QUEUE_TIMEOUT) > 0) {
      throw invalid("queueTimeout must be between 0 s and 60 s, but is " + queueTimeout + ".");
    }
    requireBetween("maxTargets", 1, MAX_TARGETS, maxTargets);
  }

  private static void requireAtLeastOne(String option, long value) {
    if (value < 1) {
      throw invalid(option + " must be 1 or more, but is " + value + ".");
    }
  }

  private static void requireBetween(String option, int least, int most, int value) {
    if (value < least || value > most) {
      throw invalid(
          "%s must be between %d and %d, but is %d.".formatted(option, least, most, value));
    }
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }

  /**
   * Begins a policy.
   *
   * @param maxConcurrent how many calls of a target are in flight at most
   * @return a builder with the defaults: no limits per minute, no queue
   */
  public static Builder builder(int maxConcurrent) {
    return new Builder(maxConcurrent);
  }

  /** Collects the options of a policy; not thread-safe. */
  public static final class Builder {
    private final int maxConcurrent;
    private OptionalInt requestsPerMinute = OptionalInt.empty();
    private OptionalLong tokensPerMinute = OptionalLong.empty();
    private int maxQueue;
    private Duration queueTimeout = Duration.ofSeconds(1);
    private int maxTargets = 128;

    private Builder(int maxConcurrent) {
      this.maxConcurrent = maxConcurrent;
    }

    /**
     * Limits the requests of a window.
     *
     * @param requests 1 or more
     * @return this
     */
    public Builder requestsPerMinute(int requests) {
      this.requestsPerMinute = OptionalInt.of(requests);
      return this;
    }

    /**
     * Limits the tokens of a window.
     *
     * @param tokens 1 or more
     * @return this
     */
    public Builder tokensPerMinute(long tokens) {
      this.tokensPerMinute = OptionalLong.of(tokens);
      return this;
    }

    /**
     * Sets how many requests may wait, over all targets.
     *
     * @param requests 0 to 10 000, default 0
     * @return this
     */
    public Builder maxQueue(int requests) {
      this.maxQueue = requests;
      return this;
    }

    /**
     * Sets how long a request may wait.
     *
     * @param timeout 0 to 60 s, default 1 s
     * @return this
     */
    public Builder queueTimeout(Duration timeout) {
      this.queueTimeout = timeout;
      return this;
    }

    /**
     * Sets how many targets are counted at the same time.
     *
     * @param targets 1 to 10 000, default 128
     * @return this
     */
    public Builder maxTargets(int targets) {
      this.maxTargets = targets;
      return this;
    }

    /**
     * Makes the policy.
     *
     * @return the policy
     * @throws InvalidRequestException if an option is out of its bounds
     */
    public AdmissionPolicy build() {
      return new AdmissionPolicy(
          maxConcurrent, requestsPerMinute, tokensPerMinute, maxQueue, queueTimeout, maxTargets);
    }
  }
}
