package dev.warpwright.bench;

import dev.failsafe.Bulkhead;
import dev.failsafe.CircuitBreaker;
import dev.failsafe.Failsafe;
import dev.failsafe.FailsafeExecutor;
import dev.failsafe.RateLimiter;
import dev.failsafe.RetryPolicy;
import dev.failsafe.Timeout;
import dev.warpwright.model.ModelResponse;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.timelimiter.TimeLimiter;
import io.github.resilience4j.timelimiter.TimeLimiterConfig;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;

/** What people would put around a model call instead, with limits that are never reached. */
final class Peers {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int MANY = 1_000_000;

  private final ExecutorService virtualThreads;
  private final Retry retry = Retry.ofDefaults("retry");
  private final io.github.resilience4j.circuitbreaker.CircuitBreaker circuitBreaker =
      io.github.resilience4j.circuitbreaker.CircuitBreaker.ofDefaults("circuit");
  private final io.github.resilience4j.ratelimiter.RateLimiter rateLimiter =
      io.github.resilience4j.ratelimiter.RateLimiter.of(
          "rate",
          RateLimiterConfig.custom()
              .limitForPeriod(Integer.MAX_VALUE / 2)
              .limitRefreshPeriod(Duration.ofSeconds(1))
              .build());
  private final io.github.resilience4j.bulkhead.Bulkhead bulkhead =
      io.github.resilience4j.bulkhead.Bulkhead.of(
          "bulkhead", BulkheadConfig.custom().maxConcurrentCalls(MANY).build());
  private final TimeLimiter timeLimiter =
      TimeLimiter.of(TimeLimiterConfig.custom().timeoutDuration(LIMIT).build());
  private final FailsafeExecutor<ModelResponse> failsafe;

  Peers(ExecutorService virtualThreads) {
    this.virtualThreads = virtualThreads;
    this.failsafe =
        Failsafe.with(
                RetryPolicy.<ModelResponse>ofDefaults(),
                CircuitBreaker.<ModelResponse>ofDefaults(),
                RateLimiter.<ModelResponse>smoothBuilder(Duration.ofNanos(1)).build(),
                Bulkhead.<ModelResponse>of(MANY),
                Timeout.<ModelResponse>builder(LIMIT).withInterrupt().build())
            .with(virtualThreads);
  }

  ModelResponse resilience4j(Callable<ModelResponse> call) throws Exception {
    Callable<ModelResponse> limited =
        () -> timeLimiter.executeFutureSupplier(() -> virtualThreads.submit(call));
    return Retry.decorateCallable(
            retry,
            circuitBreaker.decorateCallable(
                io.github.resilience4j.ratelimiter.RateLimiter.decorateCallable(
                    rateLimiter,
                    io.github.resilience4j.bulkhead.Bulkhead.decorateCallable(bulkhead, limited))))
        .call();
  }

  ModelResponse failsafe(Callable<ModelResponse> call) {
    return failsafe.get(call::call);
  }
}
