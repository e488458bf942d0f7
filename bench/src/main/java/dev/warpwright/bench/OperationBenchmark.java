package dev.warpwright.bench;

import dev.warpwright.bench.report.Question;
import java.util.concurrent.Callable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What one routed call costs around a model that answers at once: with nothing on, with each
 * control alone and with all of them, beside its floors and the five policies that people put
 * around such a call with Resilience4j and Failsafe.
 *
 * <p>The comparison is not like for like: the peers hold one call of one service, an operation
 * plans a route, keeps attempts, usage, prices and the tree of its tasks, and gives up a call that
 * ignores its interrupt.
 */
@Question(
    place = 1,
    value = "What does one routed call cost around a model that answers at once?",
    by = "subject",
    baseline = "THREAD_STARTED_AND_JOINED")
public class OperationBenchmark extends Measured {
  /** What stands around the call. */
  @Param public Subject subject = Subject.BARE;

  private final Crowd virtualThreads = Crowd.onVirtualThreads();
  private final Crowd platformThreads = Crowd.onPlatformThreads();
  private Callable<?> call = () -> "";

  /** Makes the call ready. */
  @Setup
  public void prepare() {
    call = subject.call();
  }

  /** Ends the threads. */
  @TearDown
  public void close() {
    virtualThreads.close();
    platformThreads.close();
  }

  /**
   * One caller on a virtual thread.
   *
   * @return what the call returned
   * @throws Exception never
   */
  @Benchmark
  public Object virtualCaller() throws Exception {
    return call.call();
  }

  /**
   * One caller on a platform thread.
   *
   * @return what the call returned
   * @throws Exception never
   */
  @Benchmark
  @Fork(1)
  public Object platformCaller() throws Exception {
    return call.call();
  }

  /**
   * 64 callers on virtual threads: the time until the next of them is served.
   *
   * @param hole takes the answers
   * @throws Exception never
   */
  @Benchmark
  @Fork(1)
  @OperationsPerInvocation(Crowd.ALL)
  public void virtualCallers64(Blackhole hole) throws Exception {
    virtualThreads.call(call, hole);
  }

  /**
   * 64 callers on platform threads: the time until the next of them is served.
   *
   * @param hole takes the answers
   * @throws Exception never
   */
  @Benchmark
  @Fork(1)
  @OperationsPerInvocation(Crowd.ALL)
  public void platformCallers64(Blackhole hole) throws Exception {
    platformThreads.call(call, hole);
  }
}
