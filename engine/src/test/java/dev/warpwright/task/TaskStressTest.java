package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Outcome.Cancelled;
import dev.warpwright.task.Outcome.Failure;
import dev.warpwright.task.Outcome.Success;
import dev.warpwright.task.Outcome.TimedOut;
import dev.warpwright.task.TaskTrace.End;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random trees on real time, with cancels, deadlines, interrupts, failing and stubborn tasks, and a
 * check after each that everything adds up.
 */
class TaskStressTest {
  private static final int TREES = 4_000;

  @Test
  @Tag("R121")
  @Tag("R129")
  void nothing_is_lost_or_left_over_in_thousands_of_random_trees() throws Exception {
    long base = System.nanoTime();
    int[] outcomes = new int[6];
    for (int i = 0; i < TREES; i++) {
      long seed = base + i;
      try {
        new RandomTree(seed).run(outcomes);
      } catch (Throwable thrown) {
        throw new AssertionError("seed " + seed, thrown);
      }
    }
    for (int count : outcomes) {
      assertTrue(count > 0, () -> "not every kind of outcome: " + Arrays.toString(outcomes));
    }
  }

  /** A task, and what its body knows of itself. */
  private static final class Child {
    final String name;
    final String parent;
    volatile @Nullable Task<Object> forked;
    volatile @Nullable Outcome<Object> seen; // as the owner first saw it
    volatile @Nullable Object returned;
    volatile @Nullable Throwable thrown;

    Child(String name, String parent) {
      this.name = name;
      this.parent = parent;
    }

    Outcome<Object> outcome() {
      Task<Object> task = forked;
      Outcome<Object> outcome = task == null ? seen : task.outcome();
      assertNotNull(outcome);
      return outcome;
    }
  }

  private static final class RandomTree {
    private static final Duration GRACE = Duration.ofMillis(1);

    private final Random random;
    private final TaskTree tree = TaskTree.builder().abandonGrace(GRACE).build();
    private final CountDownLatch release = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);
    private final AtomicReference<@Nullable TaskScope> root = new AtomicReference<>();
    private final Queue<Child> children = new ConcurrentLinkedQueue<>();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger scopes = new AtomicInteger();
    private final AtomicInteger tasks = new AtomicInteger();
    private boolean interrupted;

    RandomTree(long seed) {
      random = new Random(seed);
    }

    void run(int[] counts) throws Exception {
      int alarmsBefore = SystemTime.INSTANCE.pendingAlarms();
      Random ofOwner = new Random(random.nextLong());
      Owner<Boolean> owner =
          Owner.start(
              () -> {
                scope(ofOwner, 0);
                return Thread.interrupted();
              });
      disturb(owner);
      boolean foundInterrupt = owner.get();
      assertTrue(interrupted || !foundInterrupt, "an interrupt out of nowhere");
      checkThatOnlyAbandonedTasksAreLeft();
      release.countDown();
      TaskFixture.until("no live task", () -> tree.liveCount() == 0);
      assertEquals(0, running.get());
      assertEquals(List.of(), tree.abandoned());
      TaskFixture.until("no alarm", () -> SystemTime.INSTANCE.pendingAlarms() <= alarmsBefore);
      for (Child child : children) {
        check(child, counts);
      }
      checkTrace();
    }

    /** Every task stands in the trace once, where it was started, with the end that it had. */
    private void checkTrace() {
      TaskScope scope = root.get();
      assertNotNull(scope);
      TaskTrace trace = scope.trace().orElseThrow();
      Map<String, TaskTrace> found = new HashMap<>();
      Map<String, String> parents = new HashMap<>();
      collect(trace, found, parents);
      for (Child child : children) {
        TaskTrace node = found.get(child.name);
        assertNotNull(node, child.name);
        assertEquals(child.parent, parents.get(child.name));
        assertEquals(endOf(child.outcome()), node.end());
      }
      assertEquals(children.size() + scopes.get(), found.size());
      found.values().forEach(node -> assertNotEquals(new End.Running(), node.end()));
    }

    private static void collect(
        TaskTrace node, Map<String, TaskTrace> found, Map<String, String> parents) {
      assertNull(found.put(node.name(), node), node.name());
      assertEquals(0, node.omitted());
      for (TaskTrace child : node.children()) {
        parents.put(child.name(), node.name());
        collect(child, found, parents);
      }
    }

    private static End endOf(Outcome<Object> outcome) {
      return switch (outcome) {
        case Success<Object> success -> new End.Succeeded();
        case Failure<Object>(var cause) -> new End.Failed(cause.getClass().getName());
        case TimedOut<Object>(var abandoned) -> new End.TimedOut(abandoned);
        case Cancelled<Object>(var reason, var abandoned) -> new End.Cancelled(abandoned);
      };
    }

    private void checkThatOnlyAbandonedTasksAreLeft() {
      List<TaskInfo> live = tree.live();
      for (TaskInfo info : live) {
        boolean underAnother =
            live.stream().anyMatch(other -> info.parent().equals(Optional.of(other.path())));
        assertTrue(
            info.state() == TaskState.ABANDONED || underAnother, () -> "left behind: " + info);
      }
    }

    private void disturb(Owner<Boolean> owner) throws InterruptedException {
      int what = random.nextInt(4);
      if (what == 0) {
        return;
      }
      TaskFixture.await("the root", opened);
      for (int i = random.nextInt(200); i > 0; i--) {
        Thread.onSpinWait();
      }
      if (what == 1) {
        interrupted = true;
        owner.thread().interrupt();
      } else {
        TaskScope scope = root.get();
        assertNotNull(scope);
        scope.cancel("disturbed");
      }
    }

    /** Opens a scope, starts some tasks, waits for them or not, closes it. */
    private void scope(Random random, int depth) {
      try (TaskScope scope = open(random, depth)) {
        if (depth == 0) {
          root.set(scope);
          opened.countDown();
        }
        for (int i = random.nextInt(5); i > 0; i--) {
          start(scope, random, depth);
        }
        switch (random.nextInt(6)) {
          case 0, 1 -> scope.join();
          case 2, 3 -> scope.joinFailFast();
          case 4 -> scope.sleep(Duration.ofNanos(random.nextInt(1_000_000)));
          default -> {} // leaves what runs to close
        }
        if (random.nextBoolean()) {
          start(scope, random, depth);
        }
      }
    }

    private TaskScope open(Random random, int depth) {
      String name = "scope " + scopes.getAndIncrement();
      return depth == 0 || random.nextInt(4) == 0
          ? tree.openRecorded("scope", name, deadline(random))
          : tree.open("scope", name, deadline(random));
    }

    private Deadline deadline(Random random) {
      return Deadline.after(
          tree.time(),
          Duration.ofNanos(random.nextInt(random.nextBoolean() ? 500_000 : 6_000_000)));
    }

    private void start(TaskScope scope, Random random, int depth) {
      String scopePath = scope.path();
      Child child =
          new Child(
              "task " + tasks.getAndIncrement(),
              scopePath.substring(scopePath.lastIndexOf('/') + 1));
      children.add(child);
      Random ofBody = new Random(random.nextLong());
      Callable<Object> body = () -> counted(child, ofBody, depth);
      if (random.nextInt(3) == 0) {
        child.seen = scope.call("call", child.name, deadline(random), body);
      } else {
        Task<Object> task = scope.fork("fork", child.name, deadline(random), body);
        child.forked = task;
        child.seen = task.isDone() ? task.outcome() : null;
      }
    }

    private Object counted(Child child, Random random, int depth) throws Exception {
      running.incrementAndGet();
      try {
        Object value = body(random, depth);
        child.returned = value;
        return value;
      } catch (Throwable thrown) {
        child.thrown = thrown;
        throw thrown;
      } finally {
        running.decrementAndGet();
      }
    }

    private Object body(Random random, int depth) throws Exception {
      switch (random.nextInt(depth < 3 ? 10 : 7)) {
        case 0, 1 -> {}
        case 2 -> throw new IOException();
        case 3 -> throw new AssertionError();
        case 4 -> TaskFixture.untilInterrupted();
        case 5 -> awaitStubbornly(release);
        case 6 -> tree.time().sleep(Duration.ofNanos(random.nextInt(1_000_000)));
        default -> scope(random, depth + 1);
      }
      return new Object();
    }

    private static void awaitStubbornly(CountDownLatch release) {
      while (true) {
        try {
          release.await();
          return;
        } catch (InterruptedException e) {
          // does not care
        }
      }
    }

    private void check(Child child, int[] counts) {
      Outcome<Object> outcome = child.outcome();
      if (child.seen != null) {
        assertSame(child.seen, outcome);
      }
      switch (outcome) {
        case Success<Object>(var value) -> {
          counts[0]++;
          assertSame(child.returned, value);
        }
        case Failure<Object>(var cause) -> {
          counts[1]++;
          assertSame(child.thrown, cause);
        }
        case TimedOut<Object>(var abandoned) -> counts[abandoned ? 2 : 3]++;
        case Cancelled<Object>(var reason, var abandoned) -> counts[abandoned ? 4 : 5]++;
      }
    }
  }
}
