package dev.warpwright.bench;

import dev.failsafe.Bulkhead;
import dev.warpwright.bench.report.Question;
import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.task.Deadline;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What it costs to wait one's turn: 64 callers on virtual threads share {@value #PLACES} places;
 * who has one gives way to others before giving it back. The baseline is a fair semaphore of the
 * JDK. Warpwright's controller serves in order of arrival, keeps deadlines and counts by target.
 */
@Question(
    place = 9,
    value = "What does it cost when 64 callers wait for 8 places?",
    baseline = "fairSemaphore")
public class AdmissionBenchmark extends Measured {
  private static final int PLACES = 8;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Crowd crowd = Crowd.onVirtualThreads();
  private final Semaphore semaphore = new Semaphore(PLACES, true);
  private final AdmissionController controller =
      AdmissionController.local(
          AdmissionPolicy.builder(PLACES).maxQueue(Crowd.CALLERS).queueTimeout(PATIENCE).build());
  private final AdmissionRequest request =
      new AdmissionRequest(InstantModel.TARGET, OptionalLong.empty(), Deadline.never());
  private final io.github.resilience4j.bulkhead.Bulkhead resilience4j =
      io.github.resilience4j.bulkhead.Bulkhead.of(
          "bulkhead",
          BulkheadConfig.custom().maxConcurrentCalls(PLACES).maxWaitDuration(PATIENCE).build());
  private final Bulkhead<Object> failsafe =
      Bulkhead.<Object>builder(PLACES).withMaxWaitTime(PATIENCE).build();

  /** Ends the threads. */
  @TearDown
  public void close() {
    crowd.close();
  }

  /**
   * The JDK's semaphore.
   *
   * @param hole takes nothing
   * @throws Exception never
   */
  @Benchmark
  @OperationsPerInvocation(Crowd.ALL)
  public void fairSemaphore(Blackhole hole) throws Exception {
    crowd.call(
        () -> {
          semaphore.acquire();
          Crowd.giveWay();
          semaphore.release();
          return semaphore;
        },
        hole);
  }

  /**
   * Warpwright's admission.
   *
   * @param hole takes the permits
   * @throws Exception never
   */
  @Benchmark
  @OperationsPerInvocation(Crowd.ALL)
  public void admission(Blackhole hole) throws Exception {
    crowd.call(
        () -> {
          Admission.Decision decision = controller.acquire(request);
          try (AdmissionPermit permit = ((Admission.Admitted) decision).permit()) {
            Crowd.giveWay();
            return permit;
          }
        },
        hole);
  }

  /**
   * Resilience4j's bulkhead.
   *
   * @param hole takes nothing
   * @throws Exception never
   */
  @Benchmark
  @OperationsPerInvocation(Crowd.ALL)
  public void resilience4j(Blackhole hole) throws Exception {
    crowd.call(
        () -> {
          resilience4j.acquirePermission();
          Crowd.giveWay();
          resilience4j.onComplete();
          return resilience4j;
        },
        hole);
  }

  /**
   * Failsafe's bulkhead.
   *
   * @param hole takes nothing
   * @throws Exception never
   */
  @Benchmark
  @OperationsPerInvocation(Crowd.ALL)
  public void failsafe(Blackhole hole) throws Exception {
    crowd.call(
        () -> {
          failsafe.acquirePermit(PATIENCE);
          Crowd.giveWay();
          failsafe.releasePermit();
          return failsafe;
        },
        hole);
  }
}
