package dev.warpwright.control;

import dev.warpwright.model.InvalidRequestException;
import java.time.Duration;
import java.util.Objects;

/**
 * The numbers that a {@link CircuitBreaker} goes by. Immutable.
 *
 * @param failureThreshold how many health failures in a row, without a success among them, open the
 *     circuit; 1 to 1000, default 5
 * @param cooldown how long an open circuit refuses every call at least; 1 ms to 24 h, default 30 s
 * @param maxCooldown how long at most, whatever the provider's {@code Retry-After} asks for; from
 *     {@code cooldown} to 24 h, default 60 s
 * @param halfOpenMaxProbes how many calls at a time try out a target whose cooldown has ended; 1 to
 *     100, default 1
 * @param maxTargets for how many targets a state is kept; 1 to 10 000, default 128
 */
public record CircuitPolicy(
    int failureThreshold,
    Duration cooldown,
    Duration maxCooldown,
    int halfOpenMaxProbes,
    int maxTargets) {
  /** Five failures, 30 s to 60 s, one probe, 128 targets. */
  public static final CircuitPolicy DEFAULT = builder().build();

  /**
   * Checks the bounds.
   *
   * @throws InvalidRequestException if a value is out of its bounds
   */
  public CircuitPolicy {
    Duration shortest = Duration.ofMillis(1);
    Duration longest = Duration.ofHours(24);
    Bounds.between("failureThreshold", failureThreshold, 1, 1000);
    Bounds.between("cooldown", cooldown, shortest, longest);
    Bounds.between("maxCooldown", maxCooldown, shortest, longest);
    Bounds.between("halfOpenMaxProbes", halfOpenMaxProbes, 1, 100);
    Bounds.between("maxTargets", maxTargets, 1, 10_000);
    if (cooldown.compareTo(maxCooldown) > 0) {
      throw Bounds.refused(
          "cooldown must be at most maxCooldown, which is %s, but is %s."
              .formatted(maxCooldown, cooldown));
    }
  }

  /**
   * Begins a policy from the defaults.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** How long a circuit stays open after a failure, in nanoseconds. */
  long cooldownNanos(Duration retryAfter) {
    Duration asked = retryAfter.compareTo(cooldown) > 0 ? retryAfter : cooldown;
    return (asked.compareTo(maxCooldown) < 0 ? asked : maxCooldown).toNanos();
  }

  /** Collects the parts of a {@link CircuitPolicy}; not thread-safe. */
  public static final class Builder {
    private int failureThreshold = 5;
    private Duration cooldown = Duration.ofSeconds(30);
    private Duration maxCooldown = Duration.ofSeconds(60);
    private int halfOpenMaxProbes = 1;
    private int maxTargets = 128;

    private Builder() {}

    /**
     * Sets how many health failures in a row open the circuit.
     *
     * @param failures 1 to 1000
     * @return this builder
     */
    public Builder failureThreshold(int failures) {
      this.failureThreshold = failures;
      return this;
    }

    /**
     * Sets how long an open circuit refuses every call at least.
     *
     * @param cooldown 1 ms to 24 h, at most {@code maxCooldown}
     * @return this builder
     */
    public Builder cooldown(Duration cooldown) {
      this.cooldown = Objects.requireNonNull(cooldown, "cooldown");
      return this;
    }

    /**
     * Sets how long an open circuit refuses every call at most.
     *
     * @param maxCooldown {@code cooldown} to 24 h
     * @return this builder
     */
    public Builder maxCooldown(Duration maxCooldown) {
      this.maxCooldown = Objects.requireNonNull(maxCooldown, "maxCooldown");
      return this;
    }

    /**
     * Sets how many calls at a time try out a target whose cooldown has ended.
     *
     * @param probes 1 to 100
     * @return this builder
     */
    public Builder halfOpenMaxProbes(int probes) {
      this.halfOpenMaxProbes = probes;
      return this;
    }

    /**
     * Sets for how many targets a state is kept.
     *
     * @param targets 1 to 10 000
     * @return this builder
     */
    public Builder maxTargets(int targets) {
      this.maxTargets = targets;
      return this;
    }

    /**
     * Makes the policy.
     *
     * @return the policy
     * @throws InvalidRequestException if a value is out of its bounds
     */
    public CircuitPolicy build() {
      return new CircuitPolicy(
          failureThreshold, cooldown, maxCooldown, halfOpenMaxProbes, maxTargets);
    }
  }
}
