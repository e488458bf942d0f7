package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The waits of an owner that are not for a task: sleep and await. */
class TaskScopeWaitTest {
  @RegisterExtension final TaskFixture fixture = new TaskFixture();
  private final TaskTree tree = fixture.tree;
  private final AtomicReference<@Nullable TaskScope> shared = new AtomicReference<>();

  private TaskScope scope() {
    TaskScope scope = shared.get();
    assertTrue(scope != null);
    return scope;
  }

  private Owner<Boolean> sleeping(Deadline deadline, long millis) {
    return Owner.start(
        () -> {
          try (TaskScope scope = tree.open("operation", "op", deadline)) {
            shared.set(scope);
            boolean elapsed = scope.sleep(Duration.ofMillis(millis));
            assertEquals(elapsed, !Thread.interrupted() && !deadline.hasPassed() && elapsed);
            return elapsed;
          }
        });
  }

  @Test
  void a_sleep_ends_when_its_time_has_passed() throws Exception {
    Owner<Boolean> owner = sleeping(Deadline.never(), 1000);
    fixture.advanceOnceParked(999);
    fixture.time.awaitAlarms(1);
    assertTrue(fixture.time.pendingAlarms() <= 1);
    fixture.advance(1);
    assertTrue(owner.get());
  }

  @Test
  @Tag("R131")
  void a_sleep_ends_at_the_deadline_of_the_scope() throws Exception {
    Owner<Boolean> owner = sleeping(fixture.in(30), 1000);
    fixture.advanceOnceParked(30);
    assertFalse(owner.get());
  }

  @Test
  void a_sleep_ends_when_the_scope_is_cancelled() throws Exception {
    Owner<Boolean> owner = sleeping(Deadline.never(), 1000);
    fixture.time.awaitAlarms(1);
    scope().cancel("over");
    assertFalse(owner.get());
  }

  @Test
  void a_sleep_ends_when_the_owner_is_interrupted_and_the_scope_is_cancelled() throws Exception {
    Owner<Boolean> owner = sleeping(Deadline.never(), 1000);
    fixture.time.awaitAlarms(1);
    owner.thread().interrupt();
    assertFalse(owner.get());
    assertEquals("interrupted", scope().cancelReason().orElseThrow());
  }

  @Test
  void a_sleep_of_nothing_tells_whether_to_go_on() {
    try (TaskScope scope = tree.open("operation", "op")) {
      assertTrue(scope.sleep(Duration.ZERO));
      assertTrue(scope.sleep(Duration.ofSeconds(-1)));
      scope.cancel("over");
      assertFalse(scope.sleep(Duration.ZERO));
    }
    try (TaskScope scope = tree.open("operation", "op")) {
      Thread.currentThread().interrupt();
      assertFalse(scope.sleep(Duration.ZERO));
      assertTrue(Thread.interrupted());
    }
  }

  @Test
  void a_wait_ends_when_its_condition_holds() throws Exception {
    AtomicBoolean granted = new AtomicBoolean();
    Owner<Boolean> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                shared.set(scope);
                return scope.await(granted::get, fixture.in(1000));
              }
            });
    fixture.time.awaitAlarms(1);
    scope().wake(); // for nothing
    granted.set(true);
    scope().wake();
    assertTrue(owner.get());
  }

  @Test
  @Tag("R131")
  void a_wait_ends_at_the_earlier_deadline() throws Exception {
    for (long[] deadlines : new long[][] {{30, 1000}, {1000, 30}}) {
      Owner<Boolean> owner =
          Owner.start(
              () -> {
                try (TaskScope scope = tree.open("operation", "op", fixture.in(deadlines[0]))) {
                  return scope.await(() -> false, fixture.in(deadlines[1]));
                }
              });
      fixture.advanceOnceParked(30);
      assertFalse(owner.get());
    }
  }

  @Test
  void what_was_granted_is_not_lost_to_a_cancel() {
    try (TaskScope scope = tree.open("operation", "op", fixture.in(0))) {
      scope.cancel("over");
      assertTrue(scope.await(() -> true, fixture.in(0)));
      assertFalse(scope.await(() -> false, Deadline.never()));
    }
  }

  @Test
  void a_wake_up_is_not_lost_though_the_condition_consumes_the_park_permit() throws Exception {
    AtomicInteger turn = new AtomicInteger();
    int turns = 20_000;
    CountDownLatch open = new CountDownLatch(1);
    Owner<Boolean> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                shared.set(scope);
                open.countDown();
                for (int i = 1; i < turns; i += 2) {
                  int mine = i;
                  scope.await(
                      () -> {
                        boolean holds = turn.get() == mine;
                        LockSupport.parkNanos(1); // as a contended lock would
                        return holds;
                      },
                      Deadline.never());
                  turn.incrementAndGet();
                }
                return true;
              }
            });
    TaskFixture.await("the scope", open);
    for (int i = 0; i < turns; i += 2) {
      int mine = i;
      TaskFixture.until("turn " + mine, () -> turn.get() == mine);
      turn.incrementAndGet();
      scope().wake();
    }
    assertTrue(owner.get());
  }

  @Test
  void a_condition_that_throws_ends_the_wait_and_leaves_no_alarm() {
    try (TaskScope scope = tree.open("operation", "op")) {
      IllegalArgumentException thrown = new IllegalArgumentException();
      try {
        scope.await(
            () -> {
              throw thrown;
            },
            fixture.in(1000));
      } catch (IllegalArgumentException e) {
        assertEquals(thrown, e);
      }
      assertEquals(0, fixture.time.pendingAlarms());
    }
  }
}
