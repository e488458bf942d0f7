package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Outcome.Cancelled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TaskScopeCloseTest {
  @RegisterExtension final TaskFixture fixture = new TaskFixture();
  private final TaskTree tree = fixture.tree;

  private static final Deadline NEVER = Deadline.never();

  @Test
  @Tag("R132")
  void leaving_a_scope_interrupts_what_still_runs_and_waits_for_it() throws Exception {
    List<Task<String>> tasks = new ArrayList<>();
    CountDownLatch running = new CountDownLatch(3);
    CountDownLatch cleanedUp = new CountDownLatch(3);
    try (TaskScope scope = tree.open("tools", "tools")) {
      for (int i = 0; i < 3; i++) {
        tasks.add(
            scope.fork(
                "tool",
                "tool " + i,
                NEVER,
                () -> {
                  running.countDown();
                  try {
                    return TaskFixture.untilInterrupted();
                  } finally {
                    cleanedUp.countDown();
                  }
                }));
      }
      TaskFixture.await("the tasks", running);
    }
    assertEquals(0, cleanedUp.getCount());
    for (Task<String> task : tasks) {
      assertEquals(new Cancelled<>("scope closed", false), task.outcome());
    }
  }

  @Test
  @Tag("R121")
  @Tag("R132")
  void all_tasks_together_get_one_grace() throws Exception {
    List<Task<String>> tasks = new ArrayList<>();
    Owner<Void> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = tree.open("tools", "tools")) {
                for (int i = 0; i < 5; i++) {
                  Stubborn body = fixture.stubborn();
                  tasks.add(scope.fork("tool", "tool " + i, NEVER, body));
                  body.awaitStarted();
                }
              }
              return null;
            });
    fixture.advanceOnceParked(100);
    owner.get();
    assertEquals(5, tree.abandoned().size());
    for (Task<String> task : tasks) {
      assertEquals(TaskState.ABANDONED, task.state());
      assertEquals(new Cancelled<>("scope closed", true), task.outcome());
    }
  }

  @Test
  void closing_keeps_an_interrupt_and_still_waits_for_the_grace() throws Exception {
    Stubborn body = fixture.stubborn();
    CountDownLatch closing = new CountDownLatch(1);
    Owner<Boolean> owner =
        Owner.start(
            () -> {
              TaskScope scope = tree.open("tools", "tools");
              Task<String> task = scope.fork("tool", "one", NEVER, body);
              body.awaitStarted();
              Thread.currentThread().interrupt();
              closing.countDown();
              scope.close();
              assertTrue(Thread.interrupted());
              assertEquals(new Cancelled<>("scope closed", false), task.outcome());
              return true;
            });
    TaskFixture.await("the close", closing);
    body.awaitInterrupted();
    body.release();
    assertTrue(owner.get());
  }

  @Test
  void closing_an_outer_scope_first_closes_the_inner_ones_and_complains() {
    TaskScope outer = tree.open("operation", "outer");
    TaskScope middle = tree.open("operation", "middle");
    TaskScope inner = tree.open("operation", "inner");
    Task<String> task = inner.fork("tool", "one", NEVER, TaskFixture::untilInterrupted);
    String message = assertThrows(IllegalStateException.class, outer::close).getMessage();
    assertTrue(message.contains("outer"), message);
    assertTrue(task.isDone());
    assertNull(Node.innermost());
    assertThrows(IllegalStateException.class, middle::join);
    inner.close();
    middle.close();
    outer.close();
    assertEquals(0, tree.liveCount());
  }

  @Test
  @Tag("R121")
  void closing_an_outer_scope_first_costs_one_grace_all_the_same() throws Exception {
    Owner<Void> owner =
        Owner.start(
            () -> {
              TaskScope outer = tree.open("operation", "outer");
              Stubborn one = fixture.stubborn();
              outer.fork("tool", "one", NEVER, one);
              TaskScope inner = tree.open("operation", "inner");
              Stubborn two = fixture.stubborn();
              inner.fork("tool", "two", NEVER, two);
              one.awaitStarted();
              two.awaitStarted();
              assertThrows(IllegalStateException.class, outer::close);
              return null;
            });
    fixture.advanceOnceParked(100);
    owner.get();
    assertEquals(2, tree.abandoned().size());
  }

  @Test
  void a_scope_that_was_closed_twice_did_not_disturb_the_one_around_it() {
    try (TaskScope outer = tree.open("operation", "outer")) {
      TaskScope inner = tree.open("operation", "inner");
      inner.close();
      inner.close();
      assertSame(outer, Node.innermost());
      assertFalse(outer.isCancelled());
      inner.cancel("too late");
      assertFalse(outer.isCancelled());
    }
  }
}
