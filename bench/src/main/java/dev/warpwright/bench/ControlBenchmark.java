package dev.warpwright.bench;

import dev.warpwright.bench.report.Question;
import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.CircuitPermit;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.Money;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Deadline;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What each control costs alone, taken and given back without contention, beside the same control
 * of Resilience4j and of Failsafe. A circuit or a limit of Warpwright is looked up by its target,
 * among any number of them; the peers are one object that the program holds itself.
 */
@Question(
    place = 2,
    value = "What does one control cost, taken and given back without contention?",
    baseline = "nothing")
public class ControlBenchmark extends Measured {
  private final Controls controls = new Controls();
  private final AdmissionRequest request =
      new AdmissionRequest(InstantModel.TARGET, OptionalLong.of(100), Deadline.never());
  private final Money nothing = Money.zero("USD");
  private final Usage usage = Usage.reported(100, 20);
  private final Resilience4jFive resilience4j = new Resilience4jFive();
  private final FailsafeFive failsafe = new FailsafeFive();

  /** Ends the peers' threads. */
  @TearDown
  public void close() {
    resilience4j.close();
    failsafe.close();
  }

  /** Nothing. */
  @Benchmark
  public void nothing() {}

  /**
   * A circuit that is closed: permit and success.
   *
   * @return the permit
   */
  @Benchmark
  public Object circuit() {
    CircuitPermit permit = (CircuitPermit) controls.circuit.tryAcquire(InstantModel.TARGET);
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
    boolean permitted = resilience4j.circuitBreaker.tryAcquirePermission();
    resilience4j.circuitBreaker.onSuccess(1, TimeUnit.NANOSECONDS);
    return permitted;
  }

  /**
   * The same of Failsafe.
   *
   * @return whether the call was let through
   */
  @Benchmark
  public boolean circuitFailsafe() {
    boolean permitted = failsafe.circuitBreaker.tryAcquirePermit();
    failsafe.circuitBreaker.recordSuccess();
    return permitted;
  }

  /**
   * A place among those of a target, taken and given back.
   *
   * @return the permit
   */
  @Benchmark
  public Object concurrency() {
    return takeAndGiveBack(controls.concurrency);
  }

  /**
   * The same of Resilience4j.
   *
   * @return whether there was a place
   */
  @Benchmark
  public boolean concurrencyResilience4j() {
    boolean permitted = resilience4j.bulkhead.tryAcquirePermission();
    resilience4j.bulkhead.onComplete();
    return permitted;
  }

  /**
   * The same of Failsafe.
   *
   * @return whether there was a place
   */
  @Benchmark
  public boolean concurrencyFailsafe() {
    boolean permitted = failsafe.bulkhead.tryAcquirePermit();
    failsafe.bulkhead.releasePermit();
    return permitted;
  }

  /**
   * A place and a request of the minute, together or not at all.
   *
   * @return the permit
   */
  @Benchmark
  public Object concurrencyAndRate() {
    return takeAndGiveBack(controls.concurrencyAndRate);
  }

  /**
   * Resilience4j's bulkhead and rate limiter one after the other.
   *
   * @return whether both had room
   */
  @Benchmark
  public boolean concurrencyAndRateResilience4j() {
    boolean permitted =
        resilience4j.rateLimiter.acquirePermission()
            && resilience4j.bulkhead.tryAcquirePermission();
    resilience4j.bulkhead.onComplete();
    return permitted;
  }

  /**
   * Failsafe's bulkhead and rate limiter one after the other.
   *
   * @return whether both had room
   */
  @Benchmark
  public boolean concurrencyAndRateFailsafe() {
    boolean permitted =
        failsafe.rateLimiter.tryAcquirePermit() && failsafe.bulkhead.tryAcquirePermit();
    failsafe.bulkhead.releasePermit();
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
    var held =
        ((BudgetStore.Decision.Reserved)
                controls.budget.reserve(Controls.BUDGET_SCOPE, Controls.RESERVED))
            .reservation();
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
    var measurement = controls.metrics.begin(InstantModel.TARGET);
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
    return controls.accounting.value(InstantModel.TARGET, usage, Optional.empty());
  }
}
