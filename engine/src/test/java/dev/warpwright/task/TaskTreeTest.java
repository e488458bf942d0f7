package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Outcome.Cancelled;
import dev.warpwright.task.Outcome.Success;
import dev.warpwright.task.Outcome.TimedOut;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nesting, inheritance, and what a tree says about itself. */
class TaskTreeTest {
  private static final ScopedValue<String> TENANT = ScopedValue.newInstance();
  private static final ScopedValue<@Nullable String> TRACE = ScopedValue.newInstance();
  private static final ScopedValue<String> PRIVATE = ScopedValue.newInstance();

  @RegisterExtension final TaskFixture fixture = new TaskFixture();
  private final TaskTree tree = fixture.tree;

  private static final Deadline NEVER = Deadline.never();

  @Test
  void a_scope_takes_the_earlier_of_its_own_deadline_and_those_around_it() {
    try (TaskScope outer = tree.open("operation", "outer", fixture.in(100))) {
      try (TaskScope inner = tree.open("step", "inner")) {
        assertEquals(outer.deadline(), inner.deadline());
      }
      try (TaskScope inner = tree.open("step", "inner", fixture.in(50))) {
        assertEquals(fixture.in(50), inner.deadline());
      }
      Outcome<Deadline> inTask =
          outer.call(
              "attempt",
              "one",
              fixture.in(70),
              () -> {
                try (TaskScope inner = tree.open("step", "inner", fixture.in(80))) {
                  return inner.deadline();
                }
              });
      assertEquals(new Success<>(fixture.in(70)), inTask);
    }
  }

  @Test
  void a_cancel_goes_down_through_tasks_and_scopes_to_every_level() throws Exception {
    AtomicReference<@Nullable TaskScope> root = new AtomicReference<>();
    CountDownLatch deep = new CountDownLatch(1);
    AtomicReference<@Nullable Outcome<String>> deepest = new AtomicReference<>();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "root");
                  TaskScope same = tree.open("step", "same thread")) {
                root.set(scope);
                Outcome<String> outcome =
                    same.call(
                        "attempt",
                        "one",
                        NEVER,
                        () -> {
                          try (TaskScope inner = tree.open("step", "inner")) {
                            Outcome<String> result =
                                inner.call(
                                    "tool",
                                    "two",
                                    NEVER,
                                    () -> {
                                      deep.countDown();
                                      return TaskFixture.untilInterrupted();
                                    });
                            deepest.set(result);
                            assertTrue(inner.isCancelled());
                          }
                          return "swallowed";
                        });
                assertEquals(Optional.of("stop"), same.cancelReason());
                return outcome;
              }
            });
    TaskFixture.await("the deepest task", deep);
    assertEquals(
        List.of(
            "root",
            "root/same thread",
            "root/same thread/one",
            "root/same thread/one/inner",
            "root/same thread/one/inner/two"),
        tree.live().stream().map(TaskInfo::path).toList());
    TaskScope scope = root.get();
    assertTrue(scope != null);
    scope.cancel("stop");
    assertEquals(new Cancelled<>("stop", false), owner.get());
    assertEquals(new Cancelled<>("stop", false), deepest.get());
  }

  @Test
  void a_scope_opened_under_a_cancelled_node_is_cancelled_from_the_start() throws Exception {
    Stubborn body = fixture.stubborn();
    AtomicReference<@Nullable Outcome<String>> inner = new AtomicReference<>();
    try (TaskScope scope = tree.open("operation", "op")) {
      Task<String> task =
          scope.fork(
              "attempt",
              "one",
              NEVER,
              () -> {
                body.call(); // swallows the interrupt and goes on as if nothing had happened
                try (TaskScope late = tree.open("step", "late")) {
                  inner.set(late.call("tool", "two", NEVER, () -> "ran"));
                }
                return "went on";
              });
      body.awaitStarted();
      scope.cancel("stop");
      body.awaitInterrupted();
      body.release();
      scope.join();
      assertEquals(new Cancelled<>("stop", false), task.outcome());
      try (TaskScope late = tree.open("step", "late")) {
        assertTrue(late.isCancelled());
      }
    }
    assertEquals(new Cancelled<>("stop", false), inner.get());
  }

  @Test
  void a_scope_of_another_tree_obeys_the_task_it_is_opened_in() throws Exception {
    TaskTree other = TaskTree.builder().time(fixture.time).build();
    AtomicReference<@Nullable Outcome<String>> inner = new AtomicReference<>();
    AtomicReference<@Nullable List<TaskInfo>> seen = new AtomicReference<>();
    Owner<Outcome<String>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op", fixture.in(50))) {
                return scope.call(
                    "tool",
                    "agent as tool",
                    NEVER,
                    () -> {
                      try (TaskScope nested = other.open("run", "run 1")) {
                        assertEquals(scope.deadline(), nested.deadline());
                        inner.set(
                            nested.call(
                                "attempt",
                                "one",
                                NEVER,
                                () -> {
                                  seen.set(other.live());
                                  return TaskFixture.untilInterrupted();
                                }));
                      }
                      return TaskFixture.untilInterrupted();
                    });
              }
            });
    TaskFixture.until("the innermost", () -> seen.get() != null);
    assertEquals(List.of("op", "op/agent as tool"), paths(tree.live()));
    List<TaskInfo> others = seen.get();
    assertTrue(others != null);
    assertEquals(List.of("op/agent as tool/run 1", "op/agent as tool/run 1/one"), paths(others));
    assertEquals(Optional.of("op/agent as tool"), others.getFirst().parent());
    fixture.time.awaitAlarms(2);
    fixture.advance(50);
    assertEquals(new TimedOut<>(false), owner.get());
    assertEquals(new TimedOut<>(false), inner.get());
    assertEquals(0, other.liveCount());
  }

  private static List<String> paths(List<TaskInfo> infos) {
    return infos.stream().map(TaskInfo::path).toList();
  }

  @Test
  @Tag("R121")
  void of_a_nest_around_a_stubborn_task_only_that_task_is_abandoned() throws Exception {
    Stubborn body = fixture.stubborn();
    AtomicReference<@Nullable Outcome<Outcome<String>>> middle = new AtomicReference<>();
    Owner<Outcome<Outcome<Outcome<String>>>> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("run", "a", fixture.in(50))) {
                return scope.call(
                    "task",
                    "b",
                    NEVER,
                    () -> {
                      try (TaskScope inner = tree.open("operation", "c")) {
                        Outcome<Outcome<String>> outcome =
                            inner.call(
                                "task",
                                "d",
                                NEVER,
                                () -> {
                                  try (TaskScope innermost = tree.open("step", "e")) {
                                    return innermost.call("task", "f", NEVER, body);
                                  }
                                });
                        middle.set(outcome);
                        return outcome;
                      }
                    });
              }
            });
    body.awaitStarted();
    fixture.time.awaitAlarms(3); // three owners wait
    fixture.advance(50); // and notice their common deadline
    body.awaitInterrupted();
    fixture.time.awaitAlarms(3);
    fixture.advance(25); // a quarter of the grace for the innermost
    TaskFixture.until("the end of d", () -> middle.get() != null);
    assertEquals(new TimedOut<>(false), owner.get());
    assertEquals(new TimedOut<>(false), middle.get());
    assertEquals(List.of("a/b/c/d/e/f"), paths(tree.abandoned()));
  }

  @Test
  void the_live_list_says_what_runs_since_when_and_how_it_stands() throws Exception {
    Stubborn stubborn = fixture.stubborn();
    Stubborn running = fixture.stubborn();
    Owner<Void> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "op", fixture.in(1000))) {
                scope.fork("tool", "stopping", fixture.in(10), stubborn);
                scope.fork("tool", "running", NEVER, running);
                scope.join();
              }
              return null;
            });
    stubborn.awaitStarted();
    fixture.advanceOnceParked(10);
    stubborn.awaitInterrupted();
    fixture.time.awaitAlarms(1);
    List<TaskInfo> live = tree.live();
    assertEquals(3, tree.liveCount());
    assertEquals(List.of("op", "op/stopping", "op/running"), paths(live));
    assertEquals(
        List.of(TaskState.RUNNING, TaskState.CANCELLED, TaskState.RUNNING),
        live.stream().map(TaskInfo::state).toList());
    assertEquals(
        List.of(Optional.empty(), Optional.of("op"), Optional.of("op")),
        live.stream().map(TaskInfo::parent).toList());
    assertEquals("tool", live.get(1).kind());
    assertEquals("stopping", live.get(1).name());
    assertEquals(fixture.time.now().minusMillis(10), live.getFirst().since());
    assertEquals(fixture.in(990), live.getFirst().deadline());
    assertThrows(UnsupportedOperationException.class, live::clear);
    stubborn.release();
    running.release();
    owner.get();
  }

  @Test
  @Tag("R132")
  void carried_scoped_values_are_bound_in_every_task_below() {
    TaskTree carrying = TaskTree.builder().time(fixture.time).carry(TENANT).carry(TRACE).build();
    ScopedValue.where(TENANT, "acme")
        .where(TRACE, null)
        .where(PRIVATE, "mine")
        .run(
            () -> {
              try (TaskScope scope = carrying.open("operation", "op")) {
                Outcome<String> outcome =
                    scope.call(
                        "attempt",
                        "one",
                        NEVER,
                        () -> {
                          assertTrue(TRACE.isBound());
                          assertFalse(PRIVATE.isBound());
                          try (TaskScope inner = carrying.open("step", "inner")) {
                            Task<String> task = inner.fork("tool", "two", NEVER, TENANT::get);
                            inner.join();
                            return assertInstanceOf(Success.class, task.outcome())
                                .value()
                                .toString();
                          }
                        });
                assertEquals(new Success<>("acme"), outcome);
              }
            });
    try (TaskScope scope = carrying.open("operation", "op")) {
      assertEquals(
          new Success<>(false), scope.call("attempt", "one", NEVER, () -> TENANT.isBound()));
    }
  }

  @Test
  void the_grace_is_between_zero_and_five_seconds() {
    TaskTree.Builder builder = TaskTree.builder();
    for (Duration bad : List.of(Duration.ofNanos(-1), Duration.ofMillis(5001))) {
      String message =
          assertThrows(IllegalArgumentException.class, () -> builder.abandonGrace(bad))
              .getMessage();
      assertEquals("abandonGrace must be between 0 and PT5S: " + bad, message);
    }
    assertEquals(Duration.ofMillis(100), builder.build().abandonGrace());
    assertEquals(
        Duration.ofSeconds(5), builder.abandonGrace(Duration.ofSeconds(5)).build().abandonGrace());
    assertEquals(TimeSource.system(), builder.build().time());
  }

  @Test
  @Tag("R129")
  void a_detached_task_runs_on_its_own_and_leaves_nothing() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    AtomicReference<@Nullable String> tenant = new AtomicReference<>();
    TaskTree carrying = TaskTree.builder().time(fixture.time).carry(TENANT).build();
    try (TaskScope scope = carrying.open("operation", "op")) {
      assertFalse(scope.isCancelled());
      ScopedValue.where(TENANT, "acme")
          .run(
              () ->
                  carrying.detach(
                      "observer",
                      "observer of op",
                      Duration.ofSeconds(1),
                      () -> {
                        tenant.set(TENANT.get() + " in " + Thread.currentThread().getName());
                        awaitQuietly(release);
                        done.countDown();
                      }));
      assertEquals(1, fixture.time.pendingAlarms());
      assertEquals(List.of("op", "observer of op"), paths(carrying.live()));
      assertEquals(Optional.empty(), carrying.live().getLast().parent());
    }
    release.countDown();
    TaskFixture.await("its end", done);
    TaskFixture.until("its last step", () -> carrying.liveCount() == 0);
    TaskFixture.until("its alarm", () -> fixture.time.pendingAlarms() == 0);
    assertEquals("acme in observer of op", tenant.get());
    assertEquals(0, carrying.detachedFailures());
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void when_the_reader_of_a_feed_hears_of_its_end_the_task_behind_it_is_gone() {
    for (int round = 0; round < 2_000; round++) {
      Feed<String, String> feed = new Feed<>(2, 2, element -> 1);
      assertTrue(tree.detach("stream", "one", feed, () -> "done"));
      assertEquals("done", feed.result());
      assertEquals(0, tree.liveCount(), "in round " + round);
    }
  }

  @Test
  void what_the_task_behind_a_feed_throws_is_the_end_of_the_feed_and_not_counted_as_unseen() {
    Feed<String, String> feed = new Feed<>(2, 2, element -> 1);
    LinkageError thrown = new LinkageError("no class");
    tree.detach(
        "stream",
        "one",
        feed,
        () -> {
          throw thrown;
        });
    assertSame(thrown, assertThrows(LinkageError.class, feed::result));
    assertEquals(0, tree.detachedFailures());
  }

  @Test
  void what_detached_tasks_throw_is_counted() {
    tree.detach(
        "observer",
        "one",
        Duration.ofSeconds(1),
        () -> {
          throw new IllegalStateException();
        });
    tree.detach(
        "observer",
        "two",
        Duration.ofSeconds(1),
        () -> {
          throw new AssertionError();
        });
    tree.detach("observer", "three", Duration.ofSeconds(1), () -> {});
    TaskFixture.until("the count", () -> tree.detachedFailures() == 2);
  }

  @Test
  @Tag("R121")
  void a_detached_task_is_interrupted_at_its_timeout_and_abandoned_after_the_grace()
      throws Exception {
    Stubborn body = fixture.stubborn();
    tree.detach("observer", "one", Duration.ofSeconds(1), body::call);
    body.awaitStarted();
    fixture.advance(1000);
    body.awaitInterrupted();
    assertEquals(TaskState.CANCELLED, tree.live().getFirst().state());
    fixture.time.awaitAlarms(1);
    fixture.advance(99);
    assertEquals(List.of(), tree.abandoned());
    fixture.advance(1);
    assertEquals(List.of("one"), paths(tree.abandoned()));
    assertEquals(0, fixture.time.pendingAlarms());
    body.release();
    TaskFixture.until("its end", () -> tree.abandoned().isEmpty());
    assertEquals(0, tree.liveCount());
  }

  @Test
  @Tag("R129")
  void a_detached_task_that_ends_while_it_is_timed_out_leaves_no_alarm() {
    for (int i = 0; i < 200; i++) {
      CountDownLatch started = new CountDownLatch(1);
      tree.detach(
          "observer",
          "one",
          Duration.ofSeconds(1),
          () -> {
            started.countDown();
            TaskFixture.spinUntilInterrupted();
          });
      awaitQuietly(started);
      fixture.advance(1000);
      TaskFixture.until("its end", () -> tree.liveCount() == 0);
      TaskFixture.until("its last alarm", () -> fixture.time.pendingAlarms() == 0);
    }
    assertEquals(0, tree.detachedFailures());
  }

  @Test
  void a_scope_in_a_detached_task_inherits_its_timeout() throws Exception {
    AtomicReference<@Nullable Outcome<String>> inner = new AtomicReference<>();
    tree.detach(
        "observer",
        "one",
        Duration.ofSeconds(1),
        () -> {
          try (TaskScope scope = tree.open("step", "inner")) {
            inner.set(scope.call("tool", "two", NEVER, TaskFixture::untilInterrupted));
          }
        });
    fixture.time.awaitAlarms(2);
    fixture.advance(1000);
    TaskFixture.until("the outcome", () -> inner.get() != null);
    assertEquals(new TimedOut<>(false), inner.get());
  }

  @Test
  void a_negative_timeout_is_refused() {
    Duration negative = Duration.ofMillis(-1);
    assertThrows(
        IllegalArgumentException.class, () -> tree.detach("observer", "one", negative, () -> {}));
  }
}
