package dev.warpwright.control;

import dev.warpwright.model.Target;
import java.time.Instant;
import java.util.Optional;

/**
 * A change of the state of a circuit.
 *
 * @param target whose circuit it is
 * @param from the state before
 * @param to the state after; never of the same kind as {@code from}
 * @param at when it changed
 */
public record CircuitTransition(Target target, CircuitState from, CircuitState to, Instant at) {
  /**
   * Until when the circuit refuses every call, if it has opened.
   *
   * @return the end of the cooldown as it was set at this change
   */
  public Optional<Instant> openUntil() {
    return to instanceof CircuitState.Open(Instant until) ? Optional.of(until) : Optional.empty();
  }
}
