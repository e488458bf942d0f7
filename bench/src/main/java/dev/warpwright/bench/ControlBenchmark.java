package dev.warpwright.bench;

import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPermit;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.Money;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Deadline;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What each control costs alone, taken and given back without contention, beside the same control
 * of Resilience4j and of Failsafe. The baseline is nothing at all.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Threads(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class ControlBenchmark {
  private static final int MANY = 1_000_000;
  private static final Target TARGET = Target.of("none", "instant");

  private final CircuitBreaker circuit = CircuitBreaker.local(CircuitPolicy.DEFAULT);
  private final AdmissionController concurrency =
      AdmissionController.local(AdmissionPolicy.builder(MANY).build());
  private final AdmissionController concurrencyAndRate =
      AdmissionController.local(
          AdmissionPolicy.builder(MANY).requestsPerMinute(Integer.MAX_VALUE).build());
  private final AdmissionRequest request =
      new AdmissionRequest(TARGET, OptionalLong.of(100), Deadline.never());
  private final BudgetStore budget = BudgetStore.local(Money.of("9000000000", "USD"));
  private final Money reserved = Money.of("0.000001", "USD");
  private final Money nothing = Money.zero("USD");
  private final TargetMetrics metrics = TargetMetrics.local();
  private final CostAccounting accounting = Prices.accounting(TARGET);
  private final Usage usage = Usage.reported(100, 20);

  private final io.github.resilience4j.circuitbreaker.CircuitBreaker resilienceCircuit =
      io.github.resilience4j.circuitbreaker.CircuitBreaker.ofDefaults("circuit");
  private final io.github.resilience4j.bulkhead.Bulkhead resilienceBulkhead =
      io.github.resilience4j.bulkhead.Bulkhead.of(
          "bulkhead", BulkheadConfig.custom().maxConcurrentCalls(MANY).build());
  private final io.github.resilience4j.ratelimiter.RateLimiter resilienceRate =
      io.github.resilience4j.ratelimiter.RateLimiter.of(
          "rate",
          RateLimiterConfig.custom()
              .limitForPeriod(Integer.MAX_VALUE / 2)
              .limitRefreshPeriod(Duration.ofSeconds(1))
              .build());
  private final dev.failsafe.CircuitBreaker<Object> failsafeCircuit =
      dev.failsafe.CircuitBreaker.ofDefaults();
  private final dev.failsafe.Bulkhead<Object> failsafeBulkhead = dev.failsafe.Bulkhead.of(MANY);
  private final dev.failsafe.RateLimiter<Object> failsafeRate =
      dev.failsafe.RateLimiter.<Object>smoothBuilder(Duration.ofNanos(1)).build();

  /** Nothing. */
  @Benchmark
  public void baseline() {}

  /**
   * A circuit that is closed: permit and success.
   *
   * @return the permit
   */
  @Benchmark
  public Object circuit() {
    CircuitPermit permit = (CircuitPermit) circuit.tryAcquire(TARGET);
    permit.success();
    permit.close();
    return permit;
  }

  /**
   * The same of Resilience4j.
   *
   * @return whether the call was let through
   */
  @Benchmark
  public boolean circuitResilience4j() {
    boolean permitted = resilienceCircuit.tryAcquirePermission();
    resilienceCircuit.onSuccess(1, TimeUnit.NANOSECONDS);
    return permitted;
  }

  /**
   * The same of Failsafe.
   *
   * @return whether the call was let through
   */
  @Benchmark
  public boolean circuitFailsafe() {
    boolean permitted = failsafeCircuit.tryAcquirePermit();
    failsafeCircuit.recordSuccess();
    return permitted;
  }

  /**
   * A place among those of a target, taken and given back.
   *
   * @return the permit
   */
  @Benchmark
  public Object concurrency() {
    return takeAndGiveBack(concurrency);
  }

  /**
   * The same of Resilience4j.
   *
   * @return whether there was a place
   */
  @Benchmark
  public boolean concurrencyResilience4j() {
    boolean permitted = resilienceBulkhead.tryAcquirePermission();
    resilienceBulkhead.onComplete();
    return permitted;
  }

  /**
   * The same of Failsafe.
   *
   * @return whether there was a place
   */
  @Benchmark
  public boolean concurrencyFailsafe() {
    boolean permitted = failsafeBulkhead.tryAcquirePermit();
    failsafeBulkhead.releasePermit();
    return permitted;
  }

  /**
   * A place and a request of the minute, together or not at all.
   *
   * @return the permit
   */
  @Benchmark
  public Object concurrencyAndRate() {
    return takeAndGiveBack(concurrencyAndRate);
  }

  /**
   * Resilience4j's bulkhead and rate limiter one after the other.
   *
   * @return whether both had room
   */
  @Benchmark
  public boolean concurrencyAndRateResilience4j() {
    boolean permitted =
        resilienceRate.acquirePermission() && resilienceBulkhead.tryAcquirePermission();
    resilienceBulkhead.onComplete();
    return permitted;
  }

  /**
   * Failsafe's bulkhead and rate limiter one after the other.
   *
   * @return whether both had room
   */
  @Benchmark
  public boolean concurrencyAndRateFailsafe() {
    boolean permitted = failsafeRate.tryAcquirePermit() && failsafeBulkhead.tryAcquirePermit();
    failsafeBulkhead.releasePermit();
    return permitted;
  }

  private Object takeAndGiveBack(AdmissionController controller) {
    AdmissionPermit permit = ((Admission.Admitted) controller.tryAcquire(request)).permit();
    permit.close();
    return permit;
  }

  /**
   * Money set aside and settled.
   *
   * @return the reservation
   * @throws InterruptedException never
   */
  @Benchmark
  public Object budget() throws InterruptedException {
    var held = ((BudgetStore.Decision.Reserved) budget.reserve("scope", reserved)).reservation();
    held.settle(nothing, false);
    return held;
  }

  /**
   * An attempt measured.
   *
   * @return the measurement
   */
  @Benchmark
  public Object metrics() {
    var measurement = metrics.begin(TARGET);
    measurement.success(OptionalLong.of(20));
    measurement.close();
    return measurement;
  }

  /**
   * A call valued by the catalog.
   *
   * @return the valuation
   */
  @Benchmark
  public CostValuation valuation() {
    return accounting.value(TARGET, usage, Optional.empty());
  }
}
