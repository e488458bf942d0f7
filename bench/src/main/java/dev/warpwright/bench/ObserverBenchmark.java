package dev.warpwright.bench;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.ObserverMode;
import dev.warpwright.bench.report.Question;
import java.util.concurrent.atomic.LongAdder;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What an observer costs that counts attempts and does nothing else, by who waits for it. Where
 * nobody waits, its work is still done by the same processors, and a queue that cannot keep up
 * drops.
 */
@Question(place = 7, value = "What does an observer cost?", by = "observers", baseline = "NONE")
public class ObserverBenchmark extends Measured {
  private static final String NONE = "NONE";

  /** Who waits for the observer; NONE is no observer at all. */
  @Param({NONE, "DETACHED", "BACKGROUND", "AWAIT"})
  public String observers = NONE;

  private final LongAdder observed = new LongAdder();
  private final GenerateRequest request = InstantModel.ask().build();
  private Gateway gateway = Gateway.builder().build();

  /** Makes the gateway. */
  @Setup
  public void prepare() {
    Gateway.Builder builder = InstantModel.HELLO.gateway();
    if (!observers.equals(NONE)) {
      builder
          .observerMode(ObserverMode.valueOf(observers))
          .attemptObserver((operationId, attempt) -> observed.increment());
    }
    gateway = builder.build();
  }

  /** Ends the gateway. */
  @TearDown
  public void close() {
    gateway.close();
  }

  /**
   * An operation that is observed.
   *
   * @return its result
   */
  @Benchmark
  public GenerateResult operation() {
    return gateway.generate(request);
  }
}
