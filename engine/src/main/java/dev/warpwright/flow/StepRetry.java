package dev.warpwright.flow;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.FlowEvent.StepError;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * When a step that failed is run again. Immutable.
 *
 * <p>The wait after run n (1-based) is {@code min(cap, firstDelay × multiplier^(n-1))}, changed at
 * random by at most the jitter's fraction of it, and never less than what the failure asks for
 * (Retry-After). The waits are durable: a process that dies in one leaves what remains to the next.
 */
public final class StepRetry {
  /** No second run. */
  public static final StepRetry NONE = attempts(1);

  private static final Set<FailureKind> HOPELESS =
      EnumSet.of(
          FailureKind.INVALID_REQUEST,
          FailureKind.INVALID_HISTORY,
          FailureKind.INVALID_SCOPE,
          FailureKind.INVALID_CONFIGURATION,
          FailureKind.CONFLICT,
          FailureKind.NON_DETERMINISM,
          FailureKind.BUDGET_DENIED,
          FailureKind.GUARDRAIL,
          FailureKind.CANCELLED);

  private static final int MAX_ATTEMPTS = 1_000_000;

  /** Whatever a failure asks for. */
  private static final Duration LONGEST = Duration.ofDays(3650);

  private final int maxAttempts;
  private final Duration firstDelay;
  private final double multiplier;
  private final Duration cap;
  private final double jitter;
  private final Predicate<StepError> retryable;
  private final Optional<Duration> total;

  private StepRetry(
      int maxAttempts,
      Duration firstDelay,
      double multiplier,
      Duration cap,
      double jitter,
      Predicate<StepError> retryable,
      Optional<Duration> total) {
    this.maxAttempts = maxAttempts;
    this.firstDelay = firstDelay;
    this.multiplier = multiplier;
    this.cap = cap;
    this.jitter = jitter;
    this.retryable = retryable;
    this.total = total;
  }

  /**
   * A number of runs: after a second, then twice as long each time, at most a minute, a fifth of
   * jitter; not after failures that another run cannot mend, such as an invalid request.
   *
   * @param maxAttempts how often in all, 1 to 1 000 000
   * @return the policy
   */
  public static StepRetry attempts(int maxAttempts) {
    if (maxAttempts < 1 || maxAttempts > MAX_ATTEMPTS) {
      throw invalid(
          "maxAttempts must be between 1 and " + MAX_ATTEMPTS + ", but is " + maxAttempts);
    }
    return new StepRetry(
        maxAttempts,
        Duration.ofSeconds(1),
        2,
        Duration.ofMinutes(1),
        0.2,
        error -> !HOPELESS.contains(error.kind()),
        Optional.empty());
  }

  /**
   * With other waits.
   *
   * @param first after the first failure; zero or more
   * @param factor by which each is longer than the one before, 1 to 100
   * @param longest the longest; not shorter than the first
   * @return the policy
   */
  public StepRetry delays(Duration first, double factor, Duration longest) {
    if (first.isNegative() || longest.compareTo(first) < 0) {
      throw invalid(
          "The delays must be 0 or more and the longest not shorter than the first, but are %s and %s"
              .formatted(first, longest));
    }
    if (!(factor >= 1 && factor <= 100)) {
      throw invalid("The factor of delays must be between 1 and 100, but is " + factor);
    }
    return new StepRetry(maxAttempts, first, factor, longest, jitter, retryable, total);
  }

  /**
   * With another jitter.
   *
   * @param fraction by which part of itself a wait is shorter or longer at most, 0 to 1
   * @return the policy
   */
  public StepRetry jitter(double fraction) {
    if (!(fraction >= 0 && fraction <= 1)) {
      throw invalid("The jitter must be between 0 and 1, but is " + fraction);
    }
    return new StepRetry(maxAttempts, firstDelay, multiplier, cap, fraction, retryable, total);
  }

  /**
   * With another choice of the failures after which there is another run.
   *
   * @param rule says so of a failure; must be pure
   * @return the policy
   */
  public StepRetry when(Predicate<StepError> rule) {
    Objects.requireNonNull(rule, "rule");
    return new StepRetry(maxAttempts, firstDelay, multiplier, cap, jitter, rule, total);
  }

  /**
   * With a limit for all runs and waits together: no run begins later than that after the first
   * failure.
   *
   * @param limit more than zero
   * @return the policy
   */
  public StepRetry within(Duration limit) {
    if (limit.isNegative() || limit.isZero()) {
      throw invalid("The limit of all runs of a step must be more than 0, but is " + limit);
    }
    return new StepRetry(
        maxAttempts, firstDelay, multiplier, cap, jitter, retryable, Optional.of(limit));
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message + ".");
  }

  /**
   * When the next run begins; empty if there is none.
   *
   * @param failures how many runs have failed, the latest one included
   * @param error how
   * @param asked what the failure asks to wait
   * @param now when
   * @param firstFailure when the first run failed
   */
  Optional<Instant> next(
      int failures,
      StepError error,
      Duration asked,
      Instant now,
      Instant firstFailure,
      RandomGenerator random) {
    if (!allows(failures, error)) {
      return Optional.empty();
    }
    double nanos = saturated(firstDelay) * Math.pow(multiplier, failures - 1);
    nanos = Math.min(nanos, saturated(cap));
    nanos += nanos * jitter * (2 * random.nextDouble() - 1);
    Duration wait = Duration.ofNanos((long) nanos);
    Duration longer = wait.compareTo(asked) < 0 ? asked : wait;
    Instant due = now.plus(longer.compareTo(LONGEST) < 0 ? longer : LONGEST);
    Duration all = Duration.between(firstFailure, due);
    return total.filter(limit -> limit.compareTo(all) < 0).isPresent()
        ? Optional.empty()
        : Optional.of(due);
  }

  /** Whether a failure is followed by another run, as far as that is not a matter of time. */
  boolean allows(int failures, StepError error) {
    return failures < maxAttempts && retryable.test(error);
  }

  /** Whether time may end the retries. */
  boolean isLimited() {
    return total.isPresent();
  }

  private static double saturated(Duration duration) {
    return duration.getSeconds() * 1e9 + duration.getNano();
  }
}
