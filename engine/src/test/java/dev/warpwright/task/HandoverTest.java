package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Outcome.Cancelled;
import dev.warpwright.task.Outcome.Success;
import dev.warpwright.task.Outcome.TimedOut;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Work of a platform thread on a virtual one. */
class HandoverTest {
  private static final ScopedValue<String> TENANT = ScopedValue.newInstance();

  @RegisterExtension final TaskFixture fixture = new TaskFixture();
  private final TaskTree tree = fixture.tree;

  @Test
  void a_virtual_thread_works_itself() throws Exception {
    Owner<Boolean> owner =
        Owner.start(
            () -> {
              Thread self = Thread.currentThread();
              return tree.onVirtualThread("work", () -> Thread.currentThread().equals(self));
            });
    assertTrue(owner.get());
  }

  @Test
  void work_of_a_platform_thread_goes_to_one_virtual_thread_with_all_that_it_sees() {
    TaskTree carrying = TaskTree.builder().time(fixture.time).carry(TENANT).build();
    Thread self = Thread.currentThread();
    ScopedValue.where(TENANT, "acme")
        .run(
            () -> {
              try (TaskScope scope = carrying.open("batch", "batch", fixture.in(50))) {
                List<String> seen =
                    carrying.onVirtualThread(
                        "work",
                        () -> {
                          assertNotSame(self, Thread.currentThread());
                          assertTrue(Thread.currentThread().isVirtual());
                          assertEquals("work", Thread.currentThread().getName());
                          assertEquals(fixture.in(50), carrying.deadline());
                          try (TaskScope inner = carrying.open("operation", "op")) {
                            return List.of(inner.path(), TENANT.get());
                          }
                        });
                assertEquals(List.of("batch/op", "acme"), seen);
                assertSame(scope, Node.innermost());
              }
              assertEquals(0, carrying.liveCount());
            });
  }

  @Test
  @Tag("R17")
  void an_interrupt_of_the_caller_is_a_cancel_of_the_work_and_set_afterwards() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    FutureTask<Boolean> call =
        new FutureTask<>(
            () -> {
              Outcome<String> outcome =
                  tree.onVirtualThread(
                      "work",
                      () -> {
                        try (TaskScope scope = tree.open("operation", "op")) {
                          return scope.call(
                              "attempt",
                              "one",
                              Deadline.never(),
                              () -> {
                                running.countDown();
                                return TaskFixture.untilInterrupted();
                              });
                        }
                      });
              assertEquals(new Cancelled<>("interrupted", false), outcome);
              return Thread.interrupted();
            });
    Thread caller = Thread.ofPlatform().daemon().start(call);
    TaskFixture.await("the body", running);
    caller.interrupt();
    assertTrue(call.get(60, TimeUnit.SECONDS));
  }

  @Test
  void without_an_interrupt_none_is_left() {
    assertEquals("done", tree.onVirtualThread("work", () -> "done"));
    assertFalse(Thread.currentThread().isInterrupted());
  }

  @Test
  @Tag("R17")
  void the_work_of_an_interrupted_thread_is_interrupted_from_the_start() {
    for (int i = 0; i < 100; i++) {
      Thread.currentThread().interrupt();
      boolean seen = tree.onVirtualThread("work", () -> Thread.currentThread().isInterrupted());
      assertTrue(Thread.interrupted());
      assertTrue(seen);
    }
  }

  @Test
  void a_failure_shows_where_it_came_from_and_who_called_and_grows_once() {
    IllegalStateException failure = new IllegalStateException("made elsewhere");
    int frames = failure.getStackTrace().length;
    for (int i = 0; i < 3; i++) {
      assertSame(
          failure,
          assertThrows(
              IllegalStateException.class,
              () ->
                  tree.onVirtualThread(
                      "work",
                      () -> {
                        throw failure;
                      })));
    }
    assertEquals(frames, failure.getStackTrace().length);

    Error fresh =
        assertThrows(
            Error.class,
            () ->
                tree.onVirtualThread(
                    "work",
                    () -> {
                      throw new Error("made there");
                    }));
    List<String> methods =
        Arrays.stream(fresh.getStackTrace()).map(StackTraceElement::getMethodName).toList();
    assertTrue(
        methods.contains("a_failure_shows_where_it_came_from_and_who_called_and_grows_once"),
        methods::toString);
    assertEquals("java.lang.VirtualThread", ofThread(fresh).getClassName());
  }

  private static StackTraceElement ofThread(Throwable thrown) {
    return Arrays.stream(thrown.getStackTrace())
        .filter(frame -> frame.getClassName().equals("java.lang.VirtualThread"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void while_the_work_waits_the_deadlines_of_the_caller_s_tasks_have_their_effect()
      throws Exception {
    FutureTask<Outcome<String>> call =
        new FutureTask<>(
            () -> {
              try (TaskScope scope = tree.open("batch", "batch")) {
                Task<String> sibling =
                    scope.fork("tool", "other", fixture.in(50), TaskFixture::untilInterrupted);
                Outcome<String> outcome =
                    tree.onVirtualThread(
                        "work",
                        () -> {
                          try (TaskScope inner = tree.open("operation", "op")) {
                            return inner.call(
                                "attempt",
                                "one",
                                Deadline.never(),
                                () -> {
                                  TaskFixture.until("the timeout", sibling::isDone);
                                  return "after it";
                                });
                          }
                        });
                assertEquals(new TimedOut<>(false), sibling.outcome());
                return outcome;
              }
            });
    Thread.ofPlatform().daemon().start(call);
    fixture.advanceOnceParked(50);
    assertEquals(new Success<>("after it"), call.get(60, TimeUnit.SECONDS));
  }
}
