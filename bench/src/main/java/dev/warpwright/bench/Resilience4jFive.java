package dev.warpwright.bench;

import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.timelimiter.TimeLimiter;
import io.github.resilience4j.timelimiter.TimeLimiterConfig;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * What people put around a model call with Resilience4j: retry, circuit breaker, rate limiter,
 * bulkhead, and a time limiter whose calls run on virtual threads; with limits that are never
 * reached.
 */
final class Resilience4jFive implements AutoCloseable {
  final CircuitBreaker circuitBreaker = CircuitBreaker.ofDefaults("circuit");
  final RateLimiter rateLimiter =
      RateLimiter.of(
          "rate",
          RateLimiterConfig.custom()
              .limitForPeriod(Integer.MAX_VALUE / 2)
              .limitRefreshPeriod(Duration.ofSeconds(1))
              .build());
  final Bulkhead bulkhead =
      Bulkhead.of("bulkhead", BulkheadConfig.custom().maxConcurrentCalls(Controls.MANY).build());

  private final Retry retry = Retry.ofDefaults("retry");
  private final TimeLimiter timeLimiter =
      TimeLimiter.of(TimeLimiterConfig.custom().timeoutDuration(Duration.ofMinutes(2)).build());
  private final ExecutorService virtualThreads = Executors.newVirtualThreadPerTaskExecutor();

  /** The call with all five around it. */
  <T> Callable<T> around(Callable<T> call) {
    return Retry.decorateCallable(
        retry,
        circuitBreaker.decorateCallable(
            RateLimiter.decorateCallable(
                rateLimiter,
                Bulkhead.decorateCallable(
                    bulkhead,
                    () -> timeLimiter.executeFutureSupplier(() -> virtualThreads.submit(call))))));
  }

  @Override
  public void close() {
    virtualThreads.close();
  }
}
