package dev.warpwright.bench;

import dev.failsafe.Bulkhead;
import dev.failsafe.CircuitBreaker;
import dev.failsafe.Failsafe;
import dev.failsafe.FailsafeExecutor;
import dev.failsafe.RateLimiter;
import dev.failsafe.RetryPolicy;
import dev.failsafe.Timeout;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * What people put around a model call with Failsafe: retry, circuit breaker, rate limiter, bulkhead
 * and a timeout that interrupts; with limits that are never reached.
 */
final class FailsafeFive implements AutoCloseable {
  final CircuitBreaker<Object> circuitBreaker = CircuitBreaker.ofDefaults();
  final RateLimiter<Object> rateLimiter =
      RateLimiter.<Object>smoothBuilder(Duration.ofNanos(1)).build();
  final Bulkhead<Object> bulkhead = Bulkhead.of(Controls.MANY);

  private final ExecutorService virtualThreads = Executors.newVirtualThreadPerTaskExecutor();
  private final FailsafeExecutor<Object> executor =
      Failsafe.with(
              RetryPolicy.ofDefaults(),
              circuitBreaker,
              rateLimiter,
              bulkhead,
              Timeout.builder(Duration.ofMinutes(2)).withInterrupt().build())
          .with(virtualThreads);

  /** The call with all five around it. */
  Callable<Object> around(Callable<?> call) {
    return () -> executor.get(call::call);
  }

  @Override
  public void close() {
    virtualThreads.close();
  }
}
