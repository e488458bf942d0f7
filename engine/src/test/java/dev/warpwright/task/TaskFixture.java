package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.testing.LeakCheck;
import dev.warpwright.testing.Leftovers;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A tree on manual time, and the check after each test that nothing of it is left. */
final class TaskFixture implements AfterEachCallback {
  static final Duration GRACE = Duration.ofMillis(100);

  private final LeakCheck leaks = new LeakCheck();
  final ManualTime time = leaks.watch(new ManualTime());
  final TaskTree tree = TaskTree.builder().time(time).abandonGrace(GRACE).build();
  private final Queue<Stubborn> stubborn = new ConcurrentLinkedQueue<>();

  TaskFixture() {
    leaks.watch(Leftovers.of(tree));
  }

  Stubborn stubborn() {
    Stubborn body = new Stubborn();
    stubborn.add(body);
    return body;
  }

  Deadline in(long millis) {
    return Deadline.after(time, Duration.ofMillis(millis));
  }

  void advance(long millis) {
    time.advance(Duration.ofMillis(millis));
  }

  /** Waits until an owner waits, and moves time. */
  void advanceOnceParked(long millis) throws InterruptedException {
    time.awaitAlarms(1);
    advance(millis);
  }

  /** Waits for the end of a task, before time goes on beyond its grace. */
  void awaitEnd(String name) {
    until(
        "the end of " + name,
        () -> tree.live().stream().noneMatch(info -> info.name().equals(name)));
  }

  static void await(String what, CountDownLatch latch) throws InterruptedException {
    assertTrue(latch.await(60, TimeUnit.SECONDS), "waited 60 s for " + what);
  }

  /** For what has no latch, such as a thread's last step. */
  static void until(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - start < 60_000_000_000L, "waited 60 s for " + what);
      LockSupport.parkNanos(50_000);
    }
  }

  /** A body that waits until it is interrupted. */
  static String untilInterrupted() throws InterruptedException {
    new CountDownLatch(1).await();
    return "unreachable";
  }

  /**
   * Waits for an interrupt and goes on in the very moment: it spins for a while, and parks only
   * then, because whoever is to interrupt it may need the same processor.
   */
  static void spinUntilInterrupted() {
    long start = System.nanoTime();
    while (!Thread.currentThread().isInterrupted()) {
      if (System.nanoTime() - start < 1_000_000) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(50_000);
      }
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    stubborn.forEach(Stubborn::release);
    leaks.afterEach(context);
    assertNull(Node.innermost(), "left in the thread-local");
  }
}
