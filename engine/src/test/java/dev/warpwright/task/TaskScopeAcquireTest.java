package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Outcome.Cancelled;
import dev.warpwright.task.Outcome.Failure;
import dev.warpwright.task.Outcome.Success;
import dev.warpwright.task.Outcome.TimedOut;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who closes what a task has got: its owner, or the task if it comes too late. */
class TaskScopeAcquireTest {
  @RegisterExtension final TaskFixture fixture = new TaskFixture();
  private final TaskTree tree = fixture.tree;

  private static final Deadline NEVER = Deadline.never();

  /** A permit that knows how it was given back. */
  private static final class Permit implements AutoCloseable {
    final AtomicInteger closed = new AtomicInteger();
    final CountDownLatch back = new CountDownLatch(1);
    volatile @Nullable String thread;
    volatile boolean interrupted;
    volatile boolean granted;

    @Override
    public void close() {
      thread = Thread.currentThread().getName();
      interrupted = Thread.currentThread().isInterrupted();
      closed.incrementAndGet();
      back.countDown();
    }
  }

  /** A shared backend that grants its permit whatever happens, and notices no interrupt. */
  private static final class Backend implements Callable<Permit> {
    final Permit permit = new Permit();
    final Stubborn latency;

    Backend(Stubborn latency) {
      this.latency = latency;
    }

    @Override
    public Permit call() {
      latency.call();
      Thread.currentThread().interrupt(); // whatever the latency did with it
      return permit;
    }
  }

  @Test
  void what_arrives_in_time_is_the_owner_s() {
    Permit permit = new Permit();
    try (TaskScope scope = tree.open("operation", "op", fixture.in(100))) {
      Outcome<Permit> outcome = scope.acquire("admission", "permit", NEVER, () -> permit);
      assertSame(permit, assertInstanceOf(Success.class, outcome).value());
      scope.cancel("stop");
      fixture.advance(1000);
    }
    assertEquals(0, permit.closed.get());
  }

  @Test
  @Tag("R312")
  void what_arrives_in_the_grace_after_a_cancel_is_given_back_before_the_owner_goes_on()
      throws Exception {
    Backend backend = new Backend(fixture.stubborn());
    AtomicReference<@Nullable TaskScope> open = new AtomicReference<>();
    Owner<Outcome<Permit>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                open.set(scope);
                Outcome<Permit> outcome = scope.acquire("admission", "permit", NEVER, backend);
                assertEquals(1, backend.permit.closed.get());
                return outcome;
              }
            });
    backend.latency.awaitStarted();
    TaskScope scope = open.get();
    assertTrue(scope != null);
    scope.cancel("stop");
    backend.latency.awaitInterrupted();
    assertEquals(0, backend.permit.closed.get());
    backend.latency.release();
    assertEquals(new Cancelled<>("stop", false), owner.get());
    assertEquals(1, backend.permit.closed.get());
    assertEquals("op/permit", backend.permit.thread);
    assertFalse(backend.permit.interrupted, "an interrupt meant for the wait met the close");
  }

  @Test
  @Tag("R121")
  @Tag("R312")
  void what_arrives_after_its_task_was_abandoned_is_given_back() throws Exception {
    Backend backend = new Backend(fixture.stubborn());
    Owner<Outcome<Permit>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                return scope.acquire("admission", "permit", fixture.in(10), backend);
              }
            });
    backend.latency.awaitStarted();
    fixture.advanceOnceParked(10);
    backend.latency.awaitInterrupted();
    fixture.advanceOnceParked(100);
    assertEquals(new TimedOut<>(true), owner.get());
    assertEquals(0, backend.permit.closed.get());
    assertEquals(1, tree.abandoned().size());
    backend.latency.release();
    TaskFixture.await("the permit", backend.permit.back);
    TaskFixture.until("its end", () -> tree.abandoned().isEmpty());
    assertEquals(1, backend.permit.closed.get());
    assertEquals("op/permit", backend.permit.thread);
    assertFalse(backend.permit.interrupted);
    assertEquals(0, tree.closeFailures());
  }

  @Test
  void a_close_that_fails_is_counted_and_changes_no_outcome() throws Exception {
    for (Throwable thrown : List.of(new IOException(), new AssertionError())) {
      Stubborn latency = fixture.stubborn();
      Owner<Outcome<AutoCloseable>> owner =
          Owner.start(
              () -> {
                try (TaskScope scope = tree.open("operation", "op")) {
                  return scope.acquire(
                      "admission",
                      "permit",
                      fixture.in(10),
                      () -> {
                        latency.call();
                        return () -> TaskScopeAcquireTest.<RuntimeException>throwAny(thrown);
                      });
                }
              });
      latency.awaitStarted();
      fixture.advanceOnceParked(10);
      latency.awaitInterrupted();
      latency.release();
      assertEquals(new TimedOut<>(false), owner.get());
    }
    assertEquals(2, tree.closeFailures());
    assertEquals(0, tree.abandonedErrors());
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void throwAny(Throwable thrown) throws T {
    throw (T) thrown;
  }

  @Test
  void a_close_that_hangs_is_abandoned_like_any_task() throws Exception {
    Stubborn latency = fixture.stubborn();
    Stubborn closing = fixture.stubborn();
    Owner<Outcome<AutoCloseable>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                return scope.acquire(
                    "admission",
                    "permit",
                    fixture.in(10),
                    () -> {
                      latency.call();
                      return closing::call;
                    });
              }
            });
    latency.awaitStarted();
    fixture.advanceOnceParked(10);
    latency.awaitInterrupted();
    latency.release();
    closing.awaitStarted();
    fixture.advanceOnceParked(100);
    assertEquals(new TimedOut<>(true), owner.get());
    assertEquals(1, tree.abandoned().size());
  }

  @Test
  void a_value_is_given_back_if_its_body_left_a_scope_open_and_so_is_a_scope_of_its_close() {
    Permit permit = new Permit();
    List<TaskScope> left = new ArrayList<>();
    try (TaskScope scope = tree.open("operation", "op")) {
      Outcome<AutoCloseable> outcome =
          scope.acquire(
              "admission",
              "permit",
              NEVER,
              () -> {
                left.add(tree.open("step", "forgotten"));
                return () -> {
                  left.add(tree.open("step", "forgotten too"));
                  permit.close();
                };
              });
      Throwable cause = assertInstanceOf(Failure.class, outcome).cause();
      assertInstanceOf(IllegalStateException.class, cause);
      assertEquals("task op/permit left a scope open: op/permit/forgotten", cause.getMessage());
    }
    assertEquals(1, permit.closed.get());
    assertEquals(2, left.size());
    assertEquals(0, tree.liveCount());
  }

  @Test
  @Tag("R312")
  void nothing_is_asked_for_once_the_scope_is_cancelled_or_the_deadline_has_passed() {
    try (TaskScope scope = tree.open("operation", "op")) {
      AtomicInteger asked = new AtomicInteger();
      Callable<Permit> body =
          () -> {
            asked.incrementAndGet();
            return new Permit();
          };
      assertEquals(new TimedOut<>(false), scope.acquire("admission", "a", fixture.in(0), body));
      scope.cancel("stop");
      assertEquals(new Cancelled<>("stop", false), scope.acquire("admission", "b", NEVER, body));
      assertEquals(0, asked.get());
    }
  }

  @Test
  void a_failure_and_a_late_nothing_have_nothing_to_give_back() throws Exception {
    IOException refused = new IOException();
    Stubborn latency = fixture.stubborn();
    Owner<Outcome<AutoCloseable>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                Outcome<AutoCloseable> failed =
                    scope.acquire(
                        "admission",
                        "a",
                        NEVER,
                        () -> {
                          throw refused;
                        });
                assertEquals(new Failure<>(refused), failed);
                return scope.acquire("admission", "b", fixture.in(10), () -> nothing(latency));
              }
            });
    latency.awaitStarted();
    fixture.advanceOnceParked(10);
    latency.awaitInterrupted();
    latency.release();
    assertEquals(new TimedOut<>(false), owner.get());
    assertEquals(0, tree.closeFailures());
  }

  @SuppressWarnings("NullAway") // what a caller may do who does not check nullness
  private static AutoCloseable nothing(Stubborn latency) {
    latency.call();
    return null;
  }

  /**
   * Permits that come at about the instant at which their task is given up, by its deadline, a
   * cancel or for good: each is closed once, by its owner or by its task, never interrupted.
   */
  @Test
  @Tag("R312")
  void no_permit_is_lost_or_closed_twice_whatever_races_with_its_arrival() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    TaskTree real = TaskTree.builder().abandonGrace(Duration.ofNanos(50_000)).build();
    List<Permit> permits = new ArrayList<>();
    Exchanger<TaskScope> cancelled = new Exchanger<>();
    int rounds = 3_000;
    Owner<int[]> owner =
        Owner.start(
            () -> {
              int[] counts = new int[3];
              for (int i = 0; i < rounds; i++) {
                Permit permit = new Permit();
                permits.add(permit);
                counts[round(real, random, permit, cancelled)]++;
              }
              return counts;
            });
    for (int i = 0; i < rounds; i++) {
      TaskScope scope = cancelled.exchange(null, 10, TimeUnit.SECONDS);
      if (scope != null) {
        for (int spins = i % 64 * 8; spins > 0; spins--) {
          Thread.onSpinWait();
        }
        scope.cancel("raced");
      }
    }
    int[] counts = owner.get();
    TaskFixture.until("the end of all tasks", () -> real.liveCount() == 0);
    for (Permit permit : permits) {
      assertEquals(permit.granted ? 1 : 0, permit.closed.get(), "seed " + seed);
      assertFalse(permit.interrupted, "seed " + seed);
    }
    assertEquals(rounds, counts[0] + counts[1] + counts[2], "seed " + seed);
  }

  private static int round(
      TaskTree tree, Random random, Permit permit, Exchanger<TaskScope> cancelled)
      throws Exception {
    try (TaskScope scope = tree.open("operation", "op")) {
      boolean byCancel = random.nextBoolean();
      long delayNanos = random.nextInt(100_000);
      Deadline deadline =
          byCancel ? NEVER : Deadline.after(tree.time(), Duration.ofNanos(random.nextInt(100_000)));
      cancelled.exchange(byCancel ? scope : null, 10, TimeUnit.SECONDS);
      Outcome<Permit> outcome =
          scope.acquire("admission", "permit", deadline, () -> delayed(permit, delayNanos));
      return switch (outcome) {
        case Success<Permit>(Permit got) -> {
          assertEquals(0, got.closed.get());
          got.close();
          yield 0;
        }
        case TimedOut<Permit>(boolean abandoned) -> abandoned ? 2 : 1;
        case Cancelled<Permit>(String reason, boolean abandoned) -> abandoned ? 2 : 1;
        case Failure<Permit>(Throwable cause) -> throw new AssertionError(cause);
      };
    }
  }

  private static Permit delayed(Permit permit, long nanos) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < nanos) {
      Thread.onSpinWait();
    }
    permit.granted = true;
    return permit;
  }
}
