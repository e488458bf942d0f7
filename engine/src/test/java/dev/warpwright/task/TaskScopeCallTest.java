package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Outcome.Cancelled;
import dev.warpwright.task.Outcome.Failure;
import dev.warpwright.task.Outcome.Success;
import dev.warpwright.task.Outcome.TimedOut;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TaskScopeCallTest {
  @RegisterExtension final TaskFixture fixture = new TaskFixture();
  private final TaskTree tree = fixture.tree;

  private static final Deadline NEVER = Deadline.never();
  private static final int ROUNDS = 2_000; // of a race
  private static final int SPINNING_ROUNDS = 200; // of one that keeps a core busy

  @Test
  void a_value_is_a_success() {
    try (TaskScope scope = tree.open("operation", "op")) {
      assertEquals(new Success<>("value"), scope.call("attempt", "one", NEVER, () -> "value"));
    }
  }

  @Test
  void null_is_a_value() {
    try (TaskScope scope = tree.open("operation", "op")) {
      Outcome<@Nullable String> outcome = scope.call("attempt", "one", NEVER, () -> null);
      assertEquals(new Success<@Nullable String>(null), outcome);
    }
  }

  @Test
  void what_the_body_throws_is_a_failure_errors_included() {
    try (TaskScope scope = tree.open("operation", "op")) {
      for (Throwable thrown :
          List.of(new IOException(), new IllegalStateException(), new Error())) {
        Outcome<String> outcome =
            scope.call(
                "attempt",
                "one",
                NEVER,
                () -> {
                  if (thrown instanceof Error error) {
                    throw error;
                  }
                  throw (Exception) thrown;
                });
        assertSame(thrown, assertInstanceOf(Failure.class, outcome).cause());
      }
    }
  }

  @Test
  @Tag("R132")
  void the_body_runs_on_a_virtual_thread_named_by_its_place_in_the_tree() {
    try (TaskScope scope = tree.open("operation", "generate-17")) {
      AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
      scope.call(
          "attempt",
          "attempt 1 openai/gpt",
          NEVER,
          () -> {
            thread.set(Thread.currentThread());
            return null;
          });
      Thread ran = thread.get();
      assertTrue(ran != null && ran.isVirtual());
      assertEquals("generate-17/attempt 1 openai/gpt", ran.getName());
    }
  }

  @Test
  @Tag("R129")
  void a_normal_call_leaves_no_alarm_no_task_and_no_thread_local() throws Exception {
    try (TaskScope scope = tree.open("operation", "op", fixture.in(1000))) {
      CountDownLatch release = new CountDownLatch(1);
      Owner<Void> releaser =
          Owner.start(
              () -> {
                fixture.time.awaitAlarms(1); // the wait below is bounded by one alarm
                assertTrue(fixture.time.pendingAlarms() <= 1);
                release.countDown();
                return null;
              });
      Outcome<String> outcome =
          scope.call(
              "attempt",
              "one",
              fixture.in(500),
              () -> {
                release.await();
                return "done";
              });
      assertEquals(new Success<>("done"), outcome);
      releaser.get();
      assertEquals(0, fixture.time.pendingAlarms());
      assertEquals(List.of("op"), tree.live().stream().map(TaskInfo::path).toList());
    }
    assertEquals(0, tree.liveCount());
    assertEquals(List.of(), tree.live());
    assertSame(null, Node.innermost());
  }

  @Test
  void a_body_that_obeys_its_interrupt_times_out_at_the_deadline() throws Exception {
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                return scope.call("attempt", "one", fixture.in(50), TaskFixture::untilInterrupted);
              }
            });
    fixture.advanceOnceParked(49);
    fixture.time.awaitAlarms(1);
    assertTrue(fixture.time.pendingAlarms() <= 1);
    fixture.advance(1);
    assertEquals(new TimedOut<>(false), owner.get());
    assertEquals(List.of(), tree.abandoned());
  }

  @Test
  void a_value_that_comes_in_the_grace_is_discarded() throws Exception {
    Stubborn body = fixture.stubborn();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                return scope.call("attempt", "one", fixture.in(50), body);
              }
            });
    body.awaitStarted();
    fixture.advanceOnceParked(50);
    body.awaitInterrupted();
    body.release();
    assertEquals(new TimedOut<>(false), owner.get());
  }

  @Test
  void a_value_that_is_there_before_the_deadline_is_noticed_is_a_success() {
    try (TaskScope scope = tree.open("operation", "op")) {
      // The body itself lets the deadline pass and then returns; its owner parks only afterwards,
      // or
      // is woken by both: in either case it must not take back what it was given.
      for (int i = 0; i < 200; i++) {
        Outcome<String> outcome =
            scope.call(
                "attempt",
                "one",
                fixture.in(50),
                () -> {
                  fixture.advance(50);
                  return "in time or not";
                });
        if (outcome instanceof TimedOut<String>(boolean abandoned)) {
          assertFalse(abandoned);
        } else {
          assertEquals(new Success<>("in time or not"), outcome);
        }
      }
    }
  }

  @Test
  @Tag("R121")
  void a_stubborn_body_is_abandoned_at_the_end_of_the_grace_and_listed_until_it_ends()
      throws Exception {
    Stubborn body = fixture.stubborn();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                return scope.call("attempt", "attempt 1 openai/gpt", fixture.in(50), body);
              }
            });
    body.awaitStarted();
    fixture.advanceOnceParked(50);
    body.awaitInterrupted();
    fixture.advanceOnceParked(99);
    assertEquals(List.of(), tree.abandoned());
    fixture.advance(1); // 50 + 100: no real time has passed, so this is all that it waited for
    assertEquals(new TimedOut<>(true), owner.get());

    assertEquals(1, tree.abandoned().size());
    TaskInfo info = tree.abandoned().getFirst();
    assertEquals("op/attempt 1 openai/gpt", info.path());
    assertEquals("attempt 1 openai/gpt", info.name());
    assertEquals("attempt", info.kind());
    assertEquals(Optional.of("op"), info.parent());
    assertEquals(TaskState.ABANDONED, info.state());
    assertEquals(fixture.time.now().minusMillis(150), info.since());
    assertEquals(List.of(info.path()), tree.live().stream().map(TaskInfo::path).toList());
    assertEquals(1, tree.liveCount());

    body.release();
    TaskFixture.until("its end", () -> tree.abandoned().isEmpty());
    assertEquals(0, tree.liveCount());
  }

  @Test
  void without_grace_it_is_abandoned_at_the_deadline() throws Exception {
    TaskTree strict = TaskTree.builder().time(fixture.time).abandonGrace(Duration.ZERO).build();
    Stubborn body = fixture.stubborn();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = strict.open("operation", "op")) {
                return scope.call("attempt", "one", fixture.in(50), body);
              }
            });
    body.awaitStarted();
    fixture.advanceOnceParked(50);
    assertEquals(new TimedOut<>(true), owner.get());
    body.release();
    TaskFixture.until("its end", () -> strict.liveCount() == 0);
  }

  @Test
  void an_error_in_an_abandoned_task_is_counted_and_goes_nowhere_else() throws Exception {
    Stubborn body = fixture.stubborn();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                return scope.call(
                    "attempt",
                    "one",
                    fixture.in(50),
                    () -> {
                      body.call();
                      throw new LinkageError("late");
                    });
              }
            });
    body.awaitStarted();
    fixture.advanceOnceParked(50);
    body.awaitInterrupted();
    fixture.advanceOnceParked(100);
    assertEquals(new TimedOut<>(true), owner.get());
    assertEquals(0, tree.abandonedErrors());
    body.release();
    TaskFixture.until("the count", () -> tree.abandonedErrors() == 1);
  }

  @Test
  void a_deadline_that_has_passed_means_that_the_body_does_not_run() {
    AtomicBoolean ran = new AtomicBoolean();
    Callable<String> body =
        () -> {
          ran.set(true);
          return "ran";
        };
    try (TaskScope scope = tree.open("operation", "op", fixture.in(50))) {
      assertEquals(new TimedOut<>(false), scope.call("attempt", "one", fixture.in(0), body));
      fixture.advance(50);
      assertEquals(new TimedOut<>(false), scope.call("attempt", "two", NEVER, body));
      assertFalse(scope.isCancelled());
    }
    assertFalse(ran.get());
  }

  @Test
  @Tag("R131")
  void the_scope_s_deadline_bounds_a_call_with_a_later_one() throws Exception {
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op", fixture.in(30))) {
                return scope.call(
                    "attempt", "one", fixture.in(120_000), TaskFixture::untilInterrupted);
              }
            });
    fixture.advanceOnceParked(30);
    assertEquals(new TimedOut<>(false), owner.get());
  }

  @Test
  void cancel_from_another_thread_ends_a_call() throws Exception {
    AtomicReference<@Nullable TaskScope> shared = new AtomicReference<>();
    CountDownLatch running = new CountDownLatch(1);
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                shared.set(scope);
                return scope.call(
                    "attempt",
                    "one",
                    NEVER,
                    () -> {
                      running.countDown();
                      return TaskFixture.untilInterrupted();
                    });
              }
            });
    TaskFixture.await("the body", running);
    TaskScope scope = shared.get();
    assertTrue(scope != null);
    scope.cancel("caller said so");
    scope.cancel("and again");
    assertEquals(new Cancelled<>("caller said so", false), owner.get());
    assertEquals(Optional.of("caller said so"), scope.cancelReason());
  }

  @Test
  @Tag("R121")
  void after_a_cancel_the_owner_waits_for_a_stubborn_body_no_longer_than_the_grace()
      throws Exception {
    Stubborn body = fixture.stubborn();
    AtomicReference<@Nullable TaskScope> shared = new AtomicReference<>();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                shared.set(scope);
                return scope.call("attempt", "one", NEVER, body);
              }
            });
    body.awaitStarted();
    TaskScope scope = shared.get();
    assertTrue(scope != null);
    scope.cancel("stop");
    fixture.advanceOnceParked(100);
    assertEquals(new Cancelled<>("stop", true), owner.get());
    assertEquals(1, tree.abandoned().size());
  }

  @Test
  void a_cancel_that_races_with_the_start_of_a_task_misses_nothing() throws Exception {
    for (int i = 0; i < ROUNDS; i++) {
      AtomicReference<@Nullable TaskScope> shared = new AtomicReference<>();
      Owner<Outcome<String>> owner =
          Owner.start(
              () -> {
                try (TaskScope scope = tree.open("operation", "op")) {
                  shared.set(scope);
                  return scope.call( // and in it the race with the opening of a scope
                      "attempt",
                      "one",
                      NEVER,
                      () -> {
                        try (TaskScope inner = tree.open("step", "inner")) {
                          inner.await(() -> false, NEVER);
                        }
                        return "over";
                      });
                }
              });
      TaskScope scope;
      while ((scope = shared.get()) == null) {
        Thread.onSpinWait();
      }
      for (int spins = i % 100; spins > 0; spins--) {
        Thread.onSpinWait();
      }
      scope.cancel("stop");
      assertEquals(new Cancelled<>("stop", false), owner.get());
    }
  }

  @Test
  @Tag("R121")
  void a_task_that_ends_while_it_is_given_up_has_one_outcome_and_is_not_left_on_the_list()
      throws Exception {
    TaskTree strict = TaskTree.builder().time(fixture.time).abandonGrace(Duration.ZERO).build();
    Owner<int[]> owner =
        Owner.start(
            () -> {
              int[] outcomes = new int[2];
              for (int i = 0; i < SPINNING_ROUNDS; i++) {
                Task<String> task = endWhenInterrupted(strict, i % 50);
                boolean abandoned = task.outcome().equals(new Cancelled<>("scope closed", true));
                assertTrue(
                    abandoned || task.outcome().equals(new Cancelled<>("scope closed", false)));
                outcomes[abandoned ? 1 : 0]++;
              }
              return outcomes;
            });
    int[] outcomes = owner.get();
    assertEquals(SPINNING_ROUNDS, outcomes[0] + outcomes[1]);
    TaskFixture.until("an empty list", () -> strict.abandoned().isEmpty());
    assertEquals(0, strict.liveCount());
  }

  /** Closes a scope around a task that ends so many spins after its interrupt. */
  private static Task<String> endWhenInterrupted(TaskTree tree, int spins) throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    try (TaskScope scope = tree.open("operation", "op")) {
      Task<String> task =
          scope.fork(
              "attempt",
              "one",
              NEVER,
              () -> {
                started.countDown();
                TaskFixture.spinUntilInterrupted();
                for (int spin = spins; spin > 0; spin--) {
                  Thread.onSpinWait();
                }
                return "ended";
              });
      TaskFixture.await("the start", started);
      return task;
    }
  }

  @Test
  void a_task_that_is_stopped_before_its_thread_runs_does_not_run_its_body() {
    AtomicBoolean ran = new AtomicBoolean();
    Task<Boolean> task =
        new Task<>(tree, "observer", "one", fixture.in(1000), null, () -> ran.getAndSet(true));
    task.cancel("stop");
    task.start();
    TaskFixture.until("its end", task::hasEnded);
    assertEquals(new Cancelled<>("stop", false), task.outcome());
    assertFalse(ran.get());
  }

  @Test
  void a_call_in_a_cancelled_scope_does_not_run_its_body() {
    try (TaskScope scope = tree.open("operation", "op")) {
      scope.cancel("over");
      Outcome<String> outcome = scope.call("attempt", "one", NEVER, () -> "ran");
      assertEquals(new Cancelled<>("over", false), outcome);
    }
  }

  @Test
  void an_interrupt_that_the_owner_brings_along_cancels_and_is_still_set_afterwards() {
    AtomicBoolean ran = new AtomicBoolean();
    for (int i = 0; i < 100; i++) {
      try (TaskScope scope = tree.open("operation", "op")) {
        Thread.currentThread().interrupt();
        Outcome<Boolean> outcome = scope.call("attempt", "one", NEVER, () -> ran.getAndSet(true));
        assertTrue(Thread.interrupted());
        assertEquals(new Cancelled<>("interrupted", false), outcome);
        assertTrue(scope.isCancelled());
      }
    }
    assertFalse(ran.get());
  }

  @Test
  void an_interrupt_during_the_call_is_a_cancel_and_is_set_afterwards() throws Exception {
    Stubborn body = fixture.stubborn();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                Outcome<String> outcome = scope.call("attempt", "one", NEVER, body);
                assertTrue(Thread.interrupted());
                return outcome;
              }
            });
    body.awaitStarted();
    owner.thread().interrupt();
    body.awaitInterrupted();
    body.release();
    assertEquals(new Cancelled<>("interrupted", false), owner.get());
  }

  @Test
  void a_timeout_leaves_no_interrupt_on_the_owner() throws Exception {
    Owner<Boolean> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                scope.call("attempt", "one", fixture.in(50), TaskFixture::untilInterrupted);
                return Thread.currentThread().isInterrupted();
              }
            });
    fixture.advanceOnceParked(50);
    assertFalse(owner.get());
  }

  @Test
  void an_interrupt_that_a_body_sets_on_itself_stays_with_it() {
    try (TaskScope scope = tree.open("operation", "op")) {
      for (int i = 0; i < 100; i++) {
        scope.call(
            "attempt",
            "one",
            NEVER,
            () -> {
              Thread.currentThread().interrupt();
              return null;
            });
        assertFalse(Thread.currentThread().isInterrupted());
      }
      assertFalse(scope.isCancelled());
    }
  }

  @Test
  void a_scope_that_a_body_leaves_open_is_closed_and_fails_the_task() {
    try (TaskScope scope = tree.open("operation", "op")) {
      Outcome<String> outcome =
          scope.call(
              "attempt",
              "one",
              NEVER,
              () -> {
                tree.open("leak", "outer");
                tree.open("leak", "inner");
                return "forgot to close";
              });
      Throwable cause = assertInstanceOf(Failure.class, outcome).cause();
      assertTrue(
          String.valueOf(cause.getMessage()).contains("op/one/outer"), () -> "message: " + cause);
      assertEquals(1, tree.liveCount());
    }
  }

  @Test
  void only_the_owner_may_use_a_scope_and_only_while_it_is_open() throws Exception {
    TaskScope scope = tree.open("operation", "op");
    Owner<Void> other =
        Owner.start(
            () -> {
              for (Runnable use : uses(scope)) {
                String message = assertThrows(IllegalStateException.class, use::run).getMessage();
                assertTrue(message.contains("op") && message.contains("owner"), message);
              }
              assertThrows(IllegalStateException.class, scope::close);
              return null;
            });
    other.get();
    scope.close();
    scope.close();
    for (Runnable use : uses(scope)) {
      assertEquals(
          "scope op is closed", assertThrows(IllegalStateException.class, use::run).getMessage());
    }
  }

  private static List<Runnable> uses(TaskScope scope) {
    return List.of(
        () -> scope.call("k", "n", NEVER, () -> "v"),
        () -> scope.fork("k", "n", NEVER, () -> "v"),
        scope::join,
        scope::joinFailFast,
        () -> scope.sleep(Duration.ZERO),
        () -> scope.await(() -> true, NEVER));
  }
}
