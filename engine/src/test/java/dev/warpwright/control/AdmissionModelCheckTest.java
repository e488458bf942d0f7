package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.Admission.Admitted;
import dev.warpwright.control.Admission.Denied;
import dev.warpwright.control.Admission.MustWait;
import dev.warpwright.model.Target;
import dev.warpwright.task.Deadline;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Admission under every interleaving that a model checker finds. */
final class AdmissionModelCheckTest {
  private static final Target TARGET = Target.of("scripted", "model");

  private static AdmissionRequest request(long tokens) {
    return new AdmissionRequest(TARGET, OptionalLong.of(tokens), Deadline.never());
  }

  /** What is asked without waiting, by threads with permits of their own and one that all share. */
  @Param(name = "thread", gen = ThreadIdGen.class)
  @Param(name = "tokens", gen = IntGen.class, conf = "0:6")
  public static final class Grants {
    private final LocalAdmission controller =
        new LocalAdmission(
            AdmissionPolicy.builder(2).requestsPerMinute(5).tokensPerMinute(12).build(),
            new FrozenTime());
    private final AdmissionPermit shared = ((Admitted) controller.tryAcquire(request(4))).permit();
    private final Deque<?>[] permits = new Deque<?>[8]; // each of one thread
    private volatile boolean sharedClosed;

    public Grants() {
      for (int i = 0; i < permits.length; i++) {
        permits[i] = new ArrayDeque<AdmissionPermit>();
      }
    }

    @SuppressWarnings("unchecked")
    private Deque<AdmissionPermit> of(int thread) {
      return (Deque<AdmissionPermit>) permits[thread];
    }

    @Operation
    public String tryAcquire(
        @Param(name = "thread") int thread, @Param(name = "tokens") int tokens) {
      return switch (controller.tryAcquire(request(tokens))) {
        case Admitted(AdmissionPermit permit) -> {
          of(thread).push(permit);
          yield "admitted";
        }
        case Denied denied -> denied.limit().name();
        case MustWait mustWait -> "must wait";
      };
    }

    @Operation
    public void close(@Param(name = "thread") int thread) {
      AdmissionPermit permit = of(thread).poll();
      if (permit != null) {
        permit.close();
      }
    }

    @Operation
    public void reconcileShared(@Param(name = "tokens") int tokens) {
      shared.reconcile(tokens);
    }

    @Operation
    public void closeShared() {
      shared.close();
      sharedClosed = true;
    }

    /** Every place is held by an open permit. */
    @Validate
    public void nothingIsGivenBackTwice() {
      int held = Arrays.stream(permits).mapToInt(Deque::size).sum() + (sharedClosed ? 0 : 1);
      assertEquals(
          "local admission: " + held + " in flight, 0 waiting, 1 targets", controller.toString());
    }
  }

  @Test
  @Tag("R300")
  @Tag("R304")
  @Tag("R315")
  void grants_are_one_act_each() {
    new ModelCheckingOptions()
        .iterations(6)
        .invocationsPerIteration(100)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(1)
        .actorsAfter(2)
        .check(Grants.class);
  }

  private static LocalAdmission onePlace() {
    return new LocalAdmission(
        AdmissionPolicy.builder(1).maxQueue(10).queueTimeout(Duration.ofSeconds(60)).build(),
        new FrozenTime());
  }

  /** A thread that waits for a permit, does something and closes it. */
  private static Thread caller(
      LocalAdmission controller, AtomicInteger inside, AtomicInteger interrupted) {
    return new Thread(
        () -> {
          try (AdmissionPermit _ = ((Admitted) controller.acquire(request(1))).permit()) {
            assertEquals(1, inside.incrementAndGet());
            inside.decrementAndGet();
          } catch (InterruptedException e) {
            interrupted.incrementAndGet();
          }
        });
  }

  @Test
  @Tag("R301")
  void every_waiter_has_its_turn_and_only_one_at_a_time() {
    Lincheck.runConcurrentTest(
        300,
        () -> {
          LocalAdmission controller = onePlace();
          AtomicInteger inside = new AtomicInteger();
          AtomicInteger interrupted = new AtomicInteger();
          Thread a = caller(controller, inside, interrupted);
          Thread b = caller(controller, inside, interrupted);
          a.start();
          b.start();
          join(a);
          join(b);
          assertEquals(0, interrupted.get());
          assertEquals("local admission: 0 in flight, 0 waiting, 1 targets", controller.toString());
        });
  }

  @Test
  @Tag("R302")
  void a_waiter_that_is_interrupted_while_a_place_comes_free_neither_loses_nor_keeps_it() {
    Lincheck.runConcurrentTest(
        300,
        () -> {
          LocalAdmission controller = onePlace();
          AtomicInteger inside = new AtomicInteger();
          AtomicInteger interrupted = new AtomicInteger();
          AdmissionPermit held = ((Admitted) controller.tryAcquire(request(1))).permit();
          Thread a = caller(controller, inside, interrupted);
          Thread b = caller(controller, inside, interrupted);
          a.start();
          b.start();
          Thread interrupter = new Thread(a::interrupt);
          interrupter.start();
          held.close();
          join(interrupter);
          join(a);
          join(b);
          assertTrue(interrupted.get() <= 1);
          assertEquals("local admission: 0 in flight, 0 waiting, 1 targets", controller.toString());
        });
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
