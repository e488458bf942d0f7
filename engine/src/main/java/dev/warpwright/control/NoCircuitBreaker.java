package dev.warpwright.control;

import dev.warpwright.model.Target;
import java.time.Duration;
import java.util.Optional;

/** Lets every call through and remembers nothing. */
enum NoCircuitBreaker implements CircuitBreaker {
  INSTANCE;

  private static final CircuitState CLOSED = new CircuitState.Closed();

  private static final CircuitPermit PERMIT =
      new CircuitPermit() {
        @Override
        public void success() {}

        @Override
        public void failure(Optional<Duration> retryAfter) {}

        @Override
        public void close() {}
      };

  @Override
  public CircuitState state(Target target) {
    return CLOSED;
  }

  @Override
  public CircuitDecision tryAcquire(Target target) {
    return PERMIT;
  }
}
