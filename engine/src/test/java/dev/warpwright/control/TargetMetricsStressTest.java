package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.TargetMetrics.Measurement;
import dev.warpwright.model.Target;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many threads measure at once; afterwards every begin has its end. */
@Timeout(120)
@SuppressWarnings("ThreadPriorityCheck") // yields make more interleavings; nothing relies on them
final class TargetMetricsStressTest {
  private static final int THREADS = 100;
  private static final int STEPS = 500;

  private interface Body {
    void run(Random random);
  }

  private static void onManyThreads(Body body) throws Exception {
    long seed = System.nanoTime();
    CountDownLatch start = new CountDownLatch(1);
    try (ExecutorService executor = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        Random random = new Random(seed + i);
        ends.add(
            executor.submit(
                () -> {
                  start.await();
                  for (int step = 0; step < STEPS; step++) {
                    body.run(random);
                  }
                  return null;
                }));
      }
      start.countDown();
      for (Future<?> end : ends) {
        end.get();
      }
    } catch (Exception e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  @Test
  @Tag("R245")
  void every_begin_is_counted_in_and_out_exactly_once() throws Exception {
    TargetMetrics metrics = TargetMetrics.local(Duration.ofHours(1), 4, 10_000, new ManualTime());
    List<Target> targets =
        IntStream.range(0, 4).mapToObj(i -> Target.of("p", "model-" + i)).toList();
    AtomicInteger[] ends = {
      new AtomicInteger(), new AtomicInteger(), new AtomicInteger(), new AtomicInteger()
    };
    AtomicInteger negative = new AtomicInteger();
    onManyThreads(
        random -> {
          Target target = targets.get(random.nextInt(targets.size()));
          Measurement measurement = metrics.begin(target);
          if (random.nextInt(4) == 0) {
            Thread.yield();
          }
          if (random.nextInt(32) == 0) {
            TargetSnapshot snapshot = metrics.snapshot(target).orElseThrow();
            if (snapshot.inFlight() < 1
                || snapshot.successes() + snapshot.errors() != snapshot.sampleCount()) {
              negative.incrementAndGet();
            }
          }
          int end = random.nextInt(4);
          if (random.nextInt(4) == 0) { // so that only few samples of each target are pushed out
            end(measurement, end);
            ends[end].incrementAndGet();
          } else {
            ends[3].incrementAndGet();
          }
          measurement.close();
          measurement.cancelled();
        });
    assertEquals(0, negative.get());
    int[] found = new int[3];
    for (Target target : targets) {
      TargetSnapshot snapshot = metrics.snapshot(target).orElseThrow();
      assertEquals(0, snapshot.inFlight());
      found[0] += snapshot.successes();
      found[1] += snapshot.errors();
      found[2] += snapshot.cancellations();
    }
    for (int kind = 0; kind < 3; kind++) {
      assertEquals(ends[kind].get(), found[kind]);
    }
    assertEquals(THREADS * STEPS, IntStream.range(0, 4).map(i -> ends[i].get()).sum());
  }

  private static void end(Measurement measurement, int end) {
    switch (end) {
      case 0 -> measurement.success(OptionalLong.of(5));
      case 1 -> measurement.error();
      case 2 -> measurement.cancelled();
      default -> measurement.close();
    }
  }

  @Test
  @Tag("R247")
  void however_many_targets_crowd_in_no_place_is_lost_and_no_active_one_forgotten()
      throws Exception {
    int maxTargets = 8;
    TargetMetrics metrics =
        TargetMetrics.local(Duration.ofHours(1), maxTargets, 16, new ManualTime());
    Target held = Target.of("p", "held");
    Measurement holding = metrics.begin(held);
    AtomicInteger unmeasured = new AtomicInteger();
    onManyThreads(
        random -> {
          Target target = Target.of("p", "model-" + random.nextInt(40));
          try (Measurement measurement = metrics.begin(target)) {
            if (random.nextInt(4) == 0) {
              Thread.yield();
            }
            if (metrics.snapshot(target).isEmpty()) {
              unmeasured.incrementAndGet();
            }
            measurement.success(OptionalLong.empty());
          }
        });
    assertEquals(1, metrics.snapshot(held).orElseThrow().inFlight());
    holding.close();
    assertTrue(unmeasured.get() > 0, "the table was never full of active targets");
    List<Measurement> all = new ArrayList<>();
    for (int i = 0; i < maxTargets; i++) {
      Target target = Target.of("p", "new-" + i);
      all.add(metrics.begin(target));
      assertEquals(1, metrics.snapshot(target).orElseThrow().inFlight());
    }
    assertEquals(Optional.empty(), metrics.snapshot(held));
    all.forEach(Measurement::close);
  }
}
