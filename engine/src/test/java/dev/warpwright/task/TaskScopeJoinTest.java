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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TaskScopeJoinTest {
  @RegisterExtension final TaskFixture fixture = new TaskFixture();
  private final TaskTree tree = fixture.tree;

  private static final Deadline NEVER = Deadline.never();

  @Test
  void after_a_join_every_task_has_its_outcome() {
    try (TaskScope scope = tree.open("tools", "tools")) {
      List<Task<Integer>> tasks = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        int number = i;
        tasks.add(scope.fork("tool", "tool " + i, NEVER, () -> number));
      }
      scope.join();
      for (int i = 0; i < tasks.size(); i++) {
        assertEquals(new Success<>(i), tasks.get(i).outcome());
        assertEquals(TaskState.ENDED, tasks.get(i).state());
        assertEquals("tool " + i, tasks.get(i).name());
      }
      assertEquals(1, tree.liveCount());
    }
  }

  @Test
  void a_join_of_nothing_returns_at_once() {
    try (TaskScope scope = tree.open("tools", "tools")) {
      scope.join();
      assertEquals(Optional.empty(), scope.joinFailFast());
    }
  }

  @Test
  void joining_the_next_gives_tasks_in_the_order_in_which_they_end() throws Exception {
    Stubborn one = fixture.stubborn();
    Stubborn two = fixture.stubborn();
    Stubborn three = fixture.stubborn();
    Owner<List<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("batch", "batch")) {
                scope.fork("item", "one", NEVER, one);
                scope.fork("item", "two", fixture.in(10), two);
                scope.fork("item", "three", NEVER, three);
                one.awaitStarted();
                two.awaitStarted();
                three.awaitStarted();
                List<String> order = new ArrayList<>();
                for (Optional<Task<?>> next = scope.joinNext();
                    next.isPresent();
                    next = scope.joinNext()) {
                  Task<?> done = next.get();
                  assertTrue(done.isDone());
                  order.add(done.name());
                  if (done.name().equals("three")) {
                    one.release();
                  }
                }
                return order;
              }
            });
    fixture.advanceOnceParked(10);
    two.awaitInterrupted();
    fixture.advanceOnceParked(100);
    TaskFixture.until("the end of two", () -> tree.abandoned().size() == 1);
    three.release();
    assertEquals(List.of("two", "three", "one"), owner.get());
  }

  @Test
  void joining_the_next_gives_unstarted_tasks_too_and_each_task_once() {
    try (TaskScope scope = tree.open("batch", "batch")) {
      assertEquals(Optional.empty(), scope.joinNext());
      assertEquals(new Outcome.Success<>(1), scope.call("item", "called", NEVER, () -> 1));
      Task<Integer> started = scope.fork("item", "one", NEVER, () -> 1);
      assertEquals(Optional.of(started), scope.joinNext());
      scope.cancel("enough");
      Task<Integer> unstarted = scope.fork("item", "two", NEVER, () -> 1);
      assertEquals(Optional.of(unstarted), scope.joinNext());
      assertEquals(Optional.empty(), scope.joinNext());
    }
  }

  @Test
  void a_join_forgets_what_was_not_asked_for() {
    try (TaskScope scope = tree.open("batch", "batch")) {
      scope.fork("item", "one", NEVER, () -> 1);
      scope.join();
      assertEquals(Optional.empty(), scope.joinNext());
    }
  }

  @Test
  void joining_the_next_loses_no_end_of_a_task() throws Exception {
    Owner<Integer> owner =
        Owner.start(
            () -> {
              int joined = 0;
              try (TaskScope scope = tree.open("batch", "batch")) {
                int running = 0;
                while (joined < 20_000) {
                  while (running < 3) {
                    scope.fork("item", "item", NEVER, () -> 1);
                    running++;
                  }
                  assertTrue(scope.joinNext().isPresent());
                  running--;
                  joined++;
                }
              }
              return joined;
            });
    assertEquals(20_000, owner.get());
  }

  @Test
  void a_task_that_runs_has_no_outcome_yet() {
    Stubborn body = fixture.stubborn();
    try (TaskScope scope = tree.open("tools", "tools")) {
      Task<String> task = scope.fork("tool", "one", NEVER, body);
      assertFalse(task.isDone());
      assertEquals(TaskState.RUNNING, task.state());
      assertEquals("tools/one RUNNING", task.toString());
      String message = assertThrows(IllegalStateException.class, task::outcome).getMessage();
      assertTrue(message.contains("tools/one"), message);
      body.release();
      scope.join();
      assertTrue(task.isDone());
    }
  }

  @Test
  void each_task_has_its_own_deadline_and_the_owner_one_alarm() throws Exception {
    Stubborn stubborn = fixture.stubborn();
    Owner<List<Outcome<String>>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("tools", "tools", fixture.in(1000))) {
                List<Task<String>> tasks =
                    List.of(
                        scope.fork("tool", "a", fixture.in(100), TaskFixture::untilInterrupted),
                        scope.fork("tool", "b", fixture.in(20), TaskFixture::untilInterrupted),
                        scope.fork("tool", "c", fixture.in(40), stubborn),
                        scope.fork("tool", "d", NEVER, TaskFixture::untilInterrupted),
                        scope.fork("tool", "e", NEVER, () -> "value"));
                scope.join();
                return tasks.stream().map(Task::outcome).toList();
              }
            });
    stubborn.awaitStarted();
    fixture.advanceOnceParked(20); // b
    assertTrue(fixture.time.pendingAlarms() <= 1);
    fixture.awaitEnd("b");
    fixture.awaitEnd("e");
    fixture.advanceOnceParked(20); // c
    stubborn.awaitInterrupted();
    fixture.advanceOnceParked(60); // a
    fixture.awaitEnd("a");
    fixture.advanceOnceParked(40); // the grace of c
    TaskFixture.until("the end of c", () -> !tree.abandoned().isEmpty());
    fixture.advanceOnceParked(860); // the scope's own deadline
    assertEquals(
        List.of(
            new TimedOut<>(false),
            new TimedOut<>(false),
            new TimedOut<>(true),
            new TimedOut<>(false),
            new Success<>("value")),
        owner.get());
  }

  @Test
  void a_deadline_of_an_outer_scope_s_task_is_enforced_while_the_owner_waits_in_an_inner_one()
      throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    AtomicReference<@Nullable TaskScope> waiting = new AtomicReference<>();
    Owner<Boolean> owner =
        Owner.start(
            () -> {
              try (TaskScope outer = tree.open("operation", "outer")) {
                outer.fork(
                    "tool",
                    "background",
                    fixture.in(10),
                    () -> {
                      began.countDown();
                      try {
                        return TaskFixture.untilInterrupted();
                      } finally {
                        interrupted.countDown();
                      }
                    });
                try (TaskScope inner = tree.open("step", "inner")) {
                  waiting.set(inner);
                  return inner.await(() -> interrupted.getCount() == 0, fixture.in(1000));
                }
              }
            });
    TaskFixture.await("the task", began);
    fixture.advanceOnceParked(10);
    TaskFixture.await("the interrupt", interrupted);
    TaskScope inner = waiting.get();
    assertTrue(inner != null);
    inner.wake();
    assertTrue(owner.get());
  }

  @Test
  @Tag("R132")
  void the_first_failure_cancels_the_siblings_and_carries_the_later_ones() throws Exception {
    CountDownLatch siblings = new CountDownLatch(1);
    CountDownLatch first = new CountDownLatch(1);
    IOException one = new IOException("one");
    Error two = new Error("two");
    try (TaskScope scope = tree.open("tools", "tools")) {
      Task<String> waiting =
          scope.fork(
              "tool",
              "waiting",
              NEVER,
              () -> {
                siblings.countDown();
                return TaskFixture.untilInterrupted();
              });
      TaskFixture.await("the sibling", siblings);
      Task<String> failing =
          scope.fork(
              "tool",
              "failing",
              NEVER,
              () -> {
                throw one;
              });
      assertEquals(Optional.of(failing), scope.joinNext());
      Task<String> later =
          scope.fork(
              "tool",
              "later",
              NEVER,
              () -> {
                first.countDown();
                throw two;
              });
      TaskFixture.until("the second failure", later::isDone);
      Optional<Throwable> thrown = scope.joinFailFast();
      assertSame(one, thrown.orElseThrow());
      assertEquals(List.of(two), Arrays.asList(one.getSuppressed()));
      assertEquals(new Cancelled<>("sibling failed: failing", false), waiting.outcome());
      assertTrue(scope.isCancelled());
    }
  }

  @Test
  @Tag("R121")
  void failing_fast_leaves_a_stubborn_sibling_behind_after_the_grace() throws Exception {
    Stubborn stubborn = fixture.stubborn();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("tools", "tools")) {
                Task<String> sibling = scope.fork("tool", "stubborn", NEVER, stubborn);
                stubborn.awaitStarted();
                scope.fork(
                    "tool",
                    "failing",
                    NEVER,
                    () -> {
                      throw new IOException();
                    });
                assertTrue(scope.joinFailFast().isPresent());
                return sibling.outcome();
              }
            });
    stubborn.awaitInterrupted();
    fixture.advanceOnceParked(100);
    assertEquals(new Cancelled<>("sibling failed: failing", true), owner.get());
    assertEquals(1, tree.abandoned().size());
  }

  @Test
  void timeouts_and_cancels_are_not_failures() throws Exception {
    Owner<Optional<Throwable>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("tools", "tools")) {
                scope.fork("tool", "late", fixture.in(10), TaskFixture::untilInterrupted);
                return scope.joinFailFast();
              }
            });
    fixture.advanceOnceParked(10);
    assertEquals(Optional.empty(), owner.get());
  }

  @Test
  void failures_that_a_join_or_a_call_has_shown_do_not_count_again() {
    try (TaskScope scope = tree.open("tools", "tools")) {
      scope.fork("tool", "failing", NEVER, TaskScopeJoinTest::fail);
      scope.join();
      assertInstanceOf(
          Failure.class, scope.call("tool", "failing", NEVER, TaskScopeJoinTest::fail));
      scope.fork("tool", "fine", NEVER, () -> "value");
      assertEquals(Optional.empty(), scope.joinFailFast());
      assertFalse(scope.isCancelled());
    }
  }

  private static String fail() throws IOException {
    throw new IOException();
  }

  @Test
  void one_throwable_thrown_by_all_is_not_suppressed_in_itself() {
    IOException shared = new IOException();
    assertSame(shared, failAll(shared, shared, shared).orElseThrow());
    assertEquals(0, shared.getSuppressed().length);
  }

  @Test
  void a_throwable_is_suppressed_once() {
    IOException first = new IOException();
    IOException shared = new IOException();
    failAll(first, shared, shared);
    assertEquals(List.of(shared), Arrays.asList(first.getSuppressed()));
  }

  @Test
  void nothing_is_added_to_a_constant_and_no_more_than_64_to_anything() {
    Throwable constant = new Throwable("constant", null, true, false) {};
    for (int i = 0; i < 3; i++) {
      assertSame(constant, failAll(constant, new IOException()).orElseThrow());
    }
    assertEquals(0, constant.getSuppressed().length);

    IOException shared = new IOException();
    for (int i = 0; i < 100; i++) {
      failAll(shared, new IOException());
    }
    assertEquals(Failures.MAX_SUPPRESSED, shared.getSuppressed().length);
  }

  private static Optional<Throwable> failAll(Throwable... causes) {
    Failures failures = new Failures();
    for (Throwable cause : causes) {
      failures.add("task", cause);
    }
    return failures.take();
  }

  @Test
  void an_interrupt_of_a_joining_owner_cancels_the_tasks_and_is_set_afterwards() throws Exception {
    Stubborn stubborn = fixture.stubborn();
    Owner<List<Outcome<String>>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("tools", "tools")) {
                Task<String> one = scope.fork("tool", "one", NEVER, stubborn);
                Task<String> two = scope.fork("tool", "two", NEVER, TaskFixture::untilInterrupted);
                scope.join();
                assertTrue(Thread.interrupted());
                return List.of(one.outcome(), two.outcome());
              }
            });
    stubborn.awaitStarted();
    owner.thread().interrupt();
    stubborn.awaitInterrupted();
    fixture.awaitEnd("two");
    owner.thread().interrupt(); // a second one in the grace
    fixture.advanceOnceParked(100);
    assertEquals(
        List.of(new Cancelled<>("interrupted", true), new Cancelled<>("interrupted", false)),
        owner.get());
  }
}
