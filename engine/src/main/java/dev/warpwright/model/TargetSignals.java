package dev.warpwright.model;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What was measured of a target when an operation was planned. What was not measured is absent,
 * never zero.
 *
 * @param p95Latency the 95th percentile of the time that its attempts took
 * @param p95TimeToFirstText the 95th percentile of the time to their first text
 * @param inFlight how many are under way; zero or more
 * @param successes how many succeeded lately; zero or more
 * @param errors how many failed lately, of those that say something about the target; zero or more
 * @param tokensPerSecond the throughput after the first text; finite, zero or more
 * @param circuitOpenUntil when its open circuit may let a call through again; empty unless it is
 *     open
 */
public record TargetSignals(
    Optional<Duration> p95Latency,
    Optional<Duration> p95TimeToFirstText,
    Optional<Integer> inFlight,
    int successes,
    int errors,
    Optional<Double> tokensPerSecond,
    Optional<Instant> circuitOpenUntil) {
  /** Nothing is known: a target that was never called, or measured by nobody. */
  public static final TargetSignals NONE =
      new TargetSignals(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          0,
          0,
          Optional.empty(),
          Optional.empty());

  /** Checks that nothing is negative. */
  public TargetSignals {
    notNegative("p95Latency", p95Latency.map(Duration::isNegative), p95Latency);
    notNegative(
        "p95TimeToFirstText", p95TimeToFirstText.map(Duration::isNegative), p95TimeToFirstText);
    notNegative("inFlight", inFlight.map(count -> count < 0), inFlight);
    notNegative("successes", Optional.of(successes < 0), Optional.of(successes));
    notNegative("errors", Optional.of(errors < 0), Optional.of(errors));
    notNegative(
        "tokensPerSecond",
        tokensPerSecond.map(rate -> rate < 0 || !Double.isFinite(rate)),
        tokensPerSecond);
  }

  private static void notNegative(String name, Optional<Boolean> bad, Optional<?> value) {
    if (bad.orElse(false)) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          name + " must be 0 or more, but is " + value.map(Object::toString).orElse("") + ".");
    }
  }

  /**
   * How many attempts the health of the target is judged by.
   *
   * @return successes and errors
   */
  public long samples() {
    return (long) successes + errors;
  }
}
