package dev.warpwright.control;

import java.time.Instant;

/** What a {@link CircuitBreaker} says of a target at one moment. */
public sealed interface CircuitState {

  /** Calls are let through. Also what is said of a target that nothing is known of. */
  record Closed() implements CircuitState {}

  /**
   * Every call is refused.
   *
   * @param until when the cooldown ends and probes may begin; it may still be put off, never
   *     brought forward
   */
  record Open(Instant until) implements CircuitState {}

  /** The cooldown has ended; a few calls at a time are let through to try the target out. */
  record HalfOpen() implements CircuitState {}
}
