package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Outcome.Cancelled;
import dev.warpwright.task.Outcome.Failure;
import dev.warpwright.task.Outcome.Success;
import dev.warpwright.task.Outcome.TimedOut;
import java.io.IOException;
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

/** Tasks on their owner's own thread. */
class TaskScopeHereTest {
  @RegisterExtension final TaskFixture fixture = new TaskFixture();
  private final TaskTree tree = fixture.tree;

  private static final Deadline NEVER = Deadline.never();

  @Test
  void the_body_runs_on_the_owner_s_thread_and_stands_in_the_tree_and_in_the_trace() {
    try (TaskScope scope = tree.openRecorded("operation", "op", fixture.in(1000))) {
      Thread owner = Thread.currentThread();
      Outcome<List<String>> outcome =
          scope.callHere(
              "attempt",
              "one",
              fixture.in(500),
              () -> {
                assertSame(owner, Thread.currentThread());
                assertEquals(fixture.in(500), tree.deadline());
                return tree.live().stream().map(TaskInfo::path).toList();
              });
      assertEquals(new Success<>(List.of("op", "op/one")), outcome);
      assertEquals(1, tree.liveCount());
      TaskTrace trace = scope.trace().orElseThrow().children().getFirst();
      assertEquals("one", trace.name());
      assertEquals(new TaskTrace.End.Succeeded(), trace.end());
    }
  }

  @Test
  @Tag("R129")
  void a_normal_call_leaves_no_alarm_no_task_and_no_thread_local() {
    try (TaskScope scope = tree.open("operation", "op", fixture.in(1000))) {
      for (int i = 0; i < 100; i++) {
        assertEquals(
            new Success<>(1),
            scope.callHere("attempt", "one", fixture.in(500), fixture.time::pendingAlarms));
        assertEquals(0, fixture.time.pendingAlarms());
        assertSame(scope, Node.innermost());
      }
    }
    assertEquals(0, tree.liveCount());
  }

  @Test
  void what_the_body_throws_is_a_failure_errors_included() {
    try (TaskScope scope = tree.open("operation", "op")) {
      for (Throwable thrown :
          List.of(new IOException(), new IllegalStateException(), new Error())) {
        Outcome<String> outcome =
            scope.callHere(
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
      assertFalse(scope.isCancelled());
    }
  }

  @Test
  @Tag("R110")
  void at_the_deadline_the_body_is_interrupted_and_nothing_of_that_is_left() throws Exception {
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                Outcome<String> outcome =
                    scope.callHere("attempt", "one", fixture.in(50), TaskFixture::untilInterrupted);
                assertFalse(Thread.currentThread().isInterrupted());
                assertFalse(scope.isCancelled());
                assertEquals(new Success<>("next"), scope.callHere("a", "b", NEVER, () -> "next"));
                return outcome;
              }
            });
    fixture.advanceOnceParked(49);
    assertEquals(1, fixture.time.pendingAlarms());
    fixture.advance(1);
    assertEquals(new TimedOut<>(false), owner.get());
    assertEquals(List.of(), tree.abandoned());
  }

  @Test
  @Tag("R131")
  void the_scope_s_deadline_bounds_a_call_with_a_later_one() throws Exception {
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op", fixture.in(30))) {
                return scope.callHere(
                    "attempt", "one", fixture.in(120_000), TaskFixture::untilInterrupted);
              }
            });
    fixture.advanceOnceParked(30);
    assertEquals(new TimedOut<>(false), owner.get());
  }

  @Test
  void a_body_that_ignores_its_interrupt_keeps_its_owner_and_its_value_is_discarded()
      throws Exception {
    Stubborn body = fixture.stubborn();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                Outcome<String> outcome = scope.callHere("attempt", "one", fixture.in(50), body);
                assertFalse(Thread.currentThread().isInterrupted());
                return outcome;
              }
            });
    body.awaitStarted();
    fixture.advanceOnceParked(50);
    body.awaitInterrupted();
    fixture.advance(10_000);
    assertEquals(List.of(), tree.abandoned());
    assertEquals(
        List.of(TaskState.RUNNING, TaskState.CANCELLED),
        tree.live().stream().map(TaskInfo::state).toList());
    body.release();
    assertEquals(new TimedOut<>(false), owner.get());
  }

  @Test
  void an_interrupt_that_the_body_does_not_notice_is_taken_off_the_thread() throws Exception {
    Owner<Boolean> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                Outcome<String> outcome =
                    scope.callHere(
                        "attempt",
                        "one",
                        fixture.in(50),
                        () -> {
                          TaskFixture.spinUntilInterrupted();
                          return "and does not look";
                        });
                assertEquals(new TimedOut<>(false), outcome);
                return Thread.currentThread().isInterrupted();
              }
            });
    fixture.advanceOnceParked(50);
    assertFalse(owner.get());
  }

  @Test
  void a_cancel_from_another_thread_ends_a_call() throws Exception {
    AtomicReference<@Nullable TaskScope> shared = new AtomicReference<>();
    CountDownLatch running = new CountDownLatch(1);
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                shared.set(scope);
                Outcome<String> outcome =
                    scope.callHere(
                        "attempt",
                        "one",
                        NEVER,
                        () -> {
                          running.countDown();
                          return TaskFixture.untilInterrupted();
                        });
                assertFalse(Thread.currentThread().isInterrupted());
                return outcome;
              }
            });
    TaskFixture.await("the body", running);
    TaskScope scope = shared.get();
    assertTrue(scope != null);
    scope.cancel("caller said so");
    assertEquals(new Cancelled<>("caller said so", false), owner.get());
  }

  @Test
  void a_body_does_not_run_in_a_cancelled_scope_after_the_deadline_or_on_an_interrupted_thread() {
    AtomicBoolean ran = new AtomicBoolean();
    Callable<Boolean> body = () -> ran.getAndSet(true);
    try (TaskScope scope = tree.openRecorded("operation", "op", NEVER)) {
      assertEquals(new TimedOut<>(false), scope.callHere("a", "late", fixture.in(0), body));
      Thread.currentThread().interrupt();
      assertEquals(new Cancelled<>("interrupted", false), scope.callHere("a", "b", NEVER, body));
      assertTrue(Thread.interrupted());
      assertEquals(new Cancelled<>("interrupted", false), scope.callHere("a", "c", NEVER, body));
      assertFalse(Thread.currentThread().isInterrupted());
      assertEquals(3, scope.trace().orElseThrow().children().size());
    }
    assertFalse(ran.get());
  }

  private static Outcome<String> interruptedFromOutside(TaskFixture fixture, Callable<String> body)
      throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch sent = new CountDownLatch(1);
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = fixture.tree.open("operation", "op")) {
                Outcome<String> outcome =
                    scope.callHere(
                        "attempt",
                        "one",
                        fixture.in(50),
                        () -> {
                          running.countDown();
                          TaskFixture.spinUntilInterrupted();
                          while (sent.getCount() > 0) {
                            Thread.onSpinWait();
                          }
                          return body.call();
                        });
                assertEquals(outcome instanceof Cancelled<String>, scope.isCancelled());
                assertTrue(Thread.interrupted(), "an interrupt from outside was swallowed");
                return outcome;
              }
            });
    TaskFixture.await("the body", running);
    owner.thread().interrupt();
    sent.countDown();
    return owner.get();
  }

  @Test
  @Tag("R17")
  void an_interrupt_from_outside_is_a_cancel_and_set_afterwards_however_the_body_shows_it()
      throws Exception {
    Outcome<String> cancelled = new Cancelled<>("interrupted", false);
    assertEquals(
        cancelled,
        interruptedFromOutside(
            fixture,
            () -> {
              assertTrue(Thread.interrupted());
              throw new InterruptedException();
            }));
    assertEquals(
        cancelled,
        interruptedFromOutside(
            fixture,
            () -> {
              throw new IllegalStateException("and the flag is still set");
            }));
    assertEquals(new Success<>("done"), interruptedFromOutside(fixture, () -> "done"));
    Error error = new Error();
    assertEquals(
        new Failure<String>(error),
        interruptedFromOutside(
            fixture,
            () -> {
              throw error;
            }));
  }

  @Test
  void of_an_interrupt_from_outside_and_a_stop_after_it_the_first_is_left() throws Exception {
    for (boolean taken : new boolean[] {true, false}) {
      AtomicReference<@Nullable TaskScope> shared = new AtomicReference<>();
      CountDownLatch running = new CountDownLatch(1);
      CountDownLatch interrupted = new CountDownLatch(1);
      CountDownLatch stopped = new CountDownLatch(1);
      Owner<Outcome<String>> owner =
          Owner.start(
              () -> {
                try (TaskScope scope = tree.open("operation", "op")) {
                  shared.set(scope);
                  Outcome<String> outcome =
                      scope.callHere(
                          "attempt",
                          "one",
                          NEVER,
                          () -> {
                            running.countDown();
                            TaskFixture.spinUntilInterrupted();
                            if (taken) {
                              assertTrue(Thread.interrupted());
                            }
                            interrupted.countDown();
                            while (stopped.getCount() > 0) {
                              Thread.onSpinWait();
                            }
                            if (!taken) {
                              assertTrue(Thread.interrupted());
                            }
                            throw new InterruptedException();
                          });
                  assertTrue(Thread.interrupted(), "an interrupt from outside was swallowed");
                  return outcome;
                }
              });
      TaskFixture.await("the body", running);
      owner.thread().interrupt();
      TaskFixture.await("the interrupt", interrupted);
      TaskScope scope = shared.get();
      assertTrue(scope != null);
      scope.cancel("stop");
      stopped.countDown();
      assertEquals(new Cancelled<>("stop", false), owner.get());
    }
  }

  @Test
  void a_stop_of_the_task_around_leaves_its_interrupt_to_that_task() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    AtomicReference<@Nullable TaskScope> shared = new AtomicReference<>();
    AtomicBoolean left = new AtomicBoolean();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                shared.set(scope);
                return scope.call(
                    "tool",
                    "tool",
                    NEVER,
                    () -> {
                      try (TaskScope inner = tree.open("operation", "inner")) {
                        Outcome<String> outcome =
                            inner.callHere(
                                "attempt",
                                "one",
                                fixture.in(1000),
                                () -> {
                                  running.countDown();
                                  return TaskFixture.untilInterrupted();
                                });
                        assertEquals(new Cancelled<>("stop", false), outcome);
                      }
                      left.set(Thread.currentThread().isInterrupted());
                      return "ended";
                    });
              }
            });
    TaskFixture.await("the body", running);
    TaskScope scope = shared.get();
    assertTrue(scope != null);
    scope.cancel("stop");
    assertEquals(new Cancelled<>("stop", false), owner.get());
    assertTrue(left.get(), "the tool has lost its interrupt");
  }

  @Test
  void at_the_deadline_what_the_body_has_open_is_cancelled_and_given_up_after_the_grace()
      throws Exception {
    Stubborn stubborn = fixture.stubborn();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                return scope.callHere(
                    "attempt",
                    "one",
                    fixture.in(50),
                    () -> {
                      try (TaskScope inner = tree.open("step", "inner")) {
                        Outcome<String> outcome = inner.call("task", "two", NEVER, stubborn);
                        assertEquals(new TimedOut<>(true), outcome);
                      }
                      return "discarded";
                    });
              }
            });
    stubborn.awaitStarted();
    fixture.time.awaitAlarms(2); // the attempt's own, and that of the wait in it
    fixture.advance(50);
    stubborn.awaitInterrupted();
    fixture.time.awaitAlarms(1);
    fixture.advance(100);
    assertEquals(new TimedOut<>(false), owner.get());
    assertEquals(
        List.of("op/one/inner/two"), tree.abandoned().stream().map(TaskInfo::path).toList());
  }

  @Test
  void a_scope_that_the_body_leaves_open_is_closed_and_fails_the_task() {
    try (TaskScope scope = tree.open("operation", "op")) {
      Outcome<TaskScope> outcome =
          scope.callHere("attempt", "one", NEVER, () -> tree.open("leak", "outer"));
      Throwable cause = assertInstanceOf(Failure.class, outcome).cause();
      assertTrue(String.valueOf(cause.getMessage()).contains("op/one/outer"), cause::toString);
      assertSame(scope, Node.innermost());
      assertEquals(1, tree.liveCount());
    }
  }

  @Test
  void while_other_tasks_run_it_is_a_task_on_a_thread_of_its_own_and_their_deadlines_count()
      throws Exception {
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op")) {
                Thread thread = Thread.currentThread();
                Task<String> sibling =
                    scope.fork("tool", "other", fixture.in(50), TaskFixture::untilInterrupted);
                try (TaskScope nested = tree.open("step", "nested")) {
                  Outcome<String> outcome =
                      nested.callHere(
                          "attempt",
                          "one",
                          NEVER,
                          () -> {
                            assertNotSame(thread, Thread.currentThread());
                            TaskFixture.until("the sibling's timeout", sibling::isDone);
                            return "after it";
                          });
                  assertEquals(new TimedOut<>(false), sibling.outcome());
                  return outcome;
                }
              }
            });
    fixture.advanceOnceParked(50);
    assertEquals(new Success<>("after it"), owner.get());
  }

  @Test
  void it_may_be_called_in_a_task_that_runs_on_the_same_thread() {
    try (TaskScope scope = tree.open("operation", "op")) {
      Outcome<Outcome<Optional<String>>> outcome =
          scope.callHere(
              "attempt",
              "one",
              fixture.in(50),
              () -> {
                try (TaskScope inner = tree.open("operation", "inner")) {
                  return inner.callHere(
                      "attempt", "two", fixture.in(20), () -> Optional.of(inner.path()));
                }
              });
      assertEquals(new Success<>(new Success<>(Optional.of("op/one/inner"))), outcome);
    }
  }
}
