package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.CircuitRefusal.Reason;
import dev.warpwright.model.Target;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two hundred threads at once, and a check afterwards that everything taken has come back. */
@Timeout(120)
@SuppressWarnings("ThreadPriorityCheck") // yields make more interleavings; nothing relies on them
final class CircuitBreakerStressTest {
  private static final int THREADS = 200;
  private static final int STEPS = 5_000;

  private final ManualTime time = new ManualTime();

  private interface Body {
    void run(Random random) throws Exception;
  }

  /** Platform threads: they are preempted anywhere, a virtual one only where it waits. */
  private static void onManyThreads(Body body) throws Exception {
    long seed = System.nanoTime();
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    CountDownLatch start = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Random random = new Random(seed + i);
      threads.add(
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    try {
                      start.await();
                      for (int step = 0; step < STEPS; step++) {
                        body.run(random);
                      }
                    } catch (Throwable thrown) {
                      failure.compareAndSet(null, thrown);
                    }
                  }));
    }
    start.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError("seed " + seed, failure.get());
    }
  }

  @Test
  @Tag("R260")
  void never_are_more_probes_under_way_than_may_be_and_all_places_come_back() throws Exception {
    int probes = 3;
    CircuitBreaker breaker =
        CircuitBreaker.local(
            CircuitPolicy.builder().failureThreshold(1).halfOpenMaxProbes(probes).build(), time);
    Target target = Target.of("p", "model");
    permit(breaker, target).failure(Optional.empty());
    time.advance(Duration.ofSeconds(30));
    AtomicInteger underWay = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    onManyThreads(
        random -> {
          if (breaker.tryAcquire(target) instanceof CircuitPermit permit) {
            most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
            if (random.nextInt(8) == 0) {
              Thread.yield();
            }
            underWay.decrementAndGet();
            permit.close();
          }
        });
    assertTrue(most.get() <= probes, () -> most + " probes at once");
    assertEquals(new CircuitState.HalfOpen(), breaker.state(target));
    assertFreeProbes(breaker, target, probes);
  }

  @Test
  @Tag("R260")
  @Tag("R261")
  @Tag("R265")
  void after_any_mix_of_ends_no_probe_and_no_place_in_the_table_is_lost() throws Exception {
    int probes = 2;
    int maxTargets = 8;
    AtomicInteger changes = new AtomicInteger();
    CircuitBreaker breaker =
        CircuitBreaker.local(
            CircuitPolicy.builder()
                .failureThreshold(2)
                .halfOpenMaxProbes(probes)
                .maxTargets(maxTargets)
                .build(),
            time,
            change -> changes.incrementAndGet());
    List<Target> targets =
        IntStream.range(0, 12).mapToObj(i -> Target.of("p", "model-" + i)).toList();
    Set<Reason> refusals = ConcurrentHashMap.newKeySet();
    AtomicInteger underWay = new AtomicInteger();
    onManyThreads(
        random -> {
          if (random.nextInt(50) == 0) {
            time.advance(Duration.ofSeconds(random.nextInt(20)));
          }
          Target target = targets.get(random.nextInt(targets.size()));
          switch (breaker.tryAcquire(target)) {
            case CircuitRefusal refusal -> refusals.add(refusal.reason());
            case CircuitPermit permit -> {
              underWay.incrementAndGet();
              endTwice(permit, random);
              underWay.decrementAndGet();
            }
          }
        });

    assertEquals(0, underWay.get());
    assertEquals(EnumSet.allOf(Reason.class), refusals);
    assertTrue(changes.get() > 0);
    time.advance(Duration.ofDays(1)); // nothing is cooling any more
    List<CircuitPermit> held = new ArrayList<>();
    for (int i = 0; i < maxTargets; i++) { // each place in the table can be had
      held.add(permit(breaker, Target.of("p", "new-" + i)));
    }
    assertInstanceOf(CircuitRefusal.class, breaker.tryAcquire(Target.of("p", "one too many")));
    held.forEach(CircuitPermit::close);
    for (int i = 0; i < maxTargets; i++) {
      Target target = Target.of("p", "new-" + i);
      permit(breaker, target).failure(Optional.empty());
      permit(breaker, target).failure(Optional.empty());
    }
    time.advance(Duration.ofDays(1));
    for (int i = 0; i < maxTargets; i++) {
      assertFreeProbes(breaker, Target.of("p", "new-" + i), probes);
    }
  }

  private static void endTwice(CircuitPermit permit, Random random) {
    if (random.nextInt(4) == 0) {
      Thread.yield();
    }
    try (permit) {
      switch (random.nextInt(4)) {
        case 0 -> permit.success();
        case 1, 2 -> permit.failure(Optional.of(Duration.ofSeconds(random.nextInt(100))));
        default -> {}
      }
    }
  }

  @Test
  @Tag("R257")
  @Tag("R261")
  void of_many_failures_at_once_exactly_the_threshold_opens_and_once() throws Exception {
    AtomicInteger changes = new AtomicInteger();
    int failures = THREADS * STEPS;
    CircuitBreaker breaker =
        CircuitBreaker.local(
            CircuitPolicy.builder().failureThreshold(1000).build(),
            time,
            change -> changes.incrementAndGet());
    Target target = Target.of("p", "model");
    AtomicInteger letThrough = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    onManyThreads(
        random -> {
          if (breaker.tryAcquire(target) instanceof CircuitPermit permit) {
            letThrough.incrementAndGet();
            permit.failure(Optional.empty());
          } else {
            refused.incrementAndGet();
          }
        });
    assertEquals(failures, letThrough.get() + refused.get());
    assertTrue(
        letThrough.get() >= 1000 && letThrough.get() < 1000 + THREADS,
        () -> letThrough + " calls were let through");
    assertEquals(1, changes.get());
  }

  @Test
  @Tag("R260")
  void two_ends_of_one_permit_at_once_free_one_place() throws Exception {
    CircuitBreaker breaker =
        CircuitBreaker.local(CircuitPolicy.builder().failureThreshold(1).build(), time);
    Target target = Target.of("p", "model");
    permit(breaker, target).failure(Optional.empty());
    time.advance(Duration.ofSeconds(30));
    try (ExecutorService executor = Executors.newFixedThreadPool(2)) {
      for (int round = 0; round < 5_000; round++) {
        CircuitPermit probe = permit(breaker, target);
        AtomicInteger ready = new AtomicInteger();
        Future<?> one = executor.submit(() -> closeWithTheOther(probe, ready));
        Future<?> other = executor.submit(() -> closeWithTheOther(probe, ready));
        one.get();
        other.get();
        assertFreeProbes(breaker, target, 1);
      }
    }
  }

  private static void closeWithTheOther(CircuitPermit permit, AtomicInteger ready) {
    ready.incrementAndGet();
    while (ready.get() < 2) {
      Thread.yield();
    }
    permit.close();
  }

  private static CircuitPermit permit(CircuitBreaker breaker, Target target) {
    return assertInstanceOf(CircuitPermit.class, breaker.tryAcquire(target));
  }

  private static void assertFreeProbes(CircuitBreaker breaker, Target target, int probes) {
    List<CircuitPermit> held = new ArrayList<>();
    for (int i = 0; i < probes; i++) {
      held.add(permit(breaker, target));
    }
    assertInstanceOf(CircuitRefusal.class, breaker.tryAcquire(target));
    held.forEach(CircuitPermit::close);
  }
}
