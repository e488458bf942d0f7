package dev.warpwright.control;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import dev.warpwright.model.Target;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Model checking: whatever way the steps of a few calls are interleaved, what each sees could also
 * have come about one after the other.
 */
final class CircuitBreakerLincheckTest {
  private static final Target TARGET = Target.of("p", "model");

  @Test
  @Tag("R257")
  @Tag("R261")
  void a_closed_circuit_is_linearizable() {
    options().check(ClosedCircuit.class);
  }

  @Test
  @Tag("R260")
  @Tag("R261")
  void a_half_open_circuit_is_linearizable() {
    options().check(HalfOpenCircuit.class);
  }

  private static ModelCheckingOptions options() {
    return new ModelCheckingOptions()
        .iterations(6)
        .invocationsPerIteration(100)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(1)
        .actorsAfter(2)
        .addGuarantee(
            forClasses(
                    Circuit.class.getName(),
                    Target.class.getName(),
                    "java.util.concurrent.ConcurrentHashMap")
                .allMethods()
                .ignore());
  }

  /** What threads may do: ask for permits, and end those that are their own. */
  @Param(name = "thread", gen = ThreadIdGen.class)
  @Param(name = "permit", gen = IntGen.class, conf = "0:1")
  public abstract static class Circuits {
    private static final int OF_EACH_THREAD = 2;

    final StandingTime time = new StandingTime();
    final CircuitBreaker breaker =
        CircuitBreaker.local(
            CircuitPolicy.builder().failureThreshold(2).halfOpenMaxProbes(2).build(), time);
    final List<CircuitPermit> permits = new ArrayList<>();

    final CircuitPermit permit() {
      return (CircuitPermit) breaker.tryAcquire(TARGET);
    }

    private CircuitPermit own(int thread, int permit) {
      return permits.get((thread * OF_EACH_THREAD + permit) % permits.size());
    }

    @Operation
    public boolean acquire() {
      return breaker.tryAcquire(TARGET) instanceof CircuitPermit;
    }

    @Operation
    public CircuitState state() {
      return breaker.state(TARGET);
    }

    @Operation
    public void success(@Param(name = "thread") int thread, @Param(name = "permit") int permit) {
      own(thread, permit).success();
    }

    @Operation
    public void failure(@Param(name = "thread") int thread, @Param(name = "permit") int permit) {
      own(thread, permit).failure(Optional.empty());
    }

    @Operation
    public void close(@Param(name = "thread") int thread, @Param(name = "permit") int permit) {
      own(thread, permit).close();
    }
  }

  /** Four calls are under way; two failures open the circuit. */
  public static final class ClosedCircuit extends Circuits {
    public ClosedCircuit() {
      for (int i = 0; i < 4; i++) {
        permits.add(permit());
      }
    }
  }

  /** The cooldown has ended: of each thread one call is from before, and one is a probe. */
  public static final class HalfOpenCircuit extends Circuits {
    public HalfOpenCircuit() {
      CircuitPermit one = permit();
      CircuitPermit other = permit();
      permit().failure(Optional.empty());
      permit().failure(Optional.empty());
      time.nanos += Duration.ofSeconds(30).toNanos();
      Collections.addAll(permits, one, permit(), other, permit());
    }
  }

  /** Manual time has a lock of its own, which would only add to the interleavings. */
  static final class StandingTime implements TimeSource {
    long nanos;

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public Instant now() {
      return Instant.ofEpochSecond(0, nanos);
    }

    @Override
    public Alarm alarm(long atNanoTime, Runnable action) {
      throw new UnsupportedOperationException();
    }

    @Override
    public RandomGenerator random() {
      throw new UnsupportedOperationException();
    }
  }
}
