package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Outcome.Cancelled;
import dev.warpwright.task.Outcome.Failure;
import dev.warpwright.task.Outcome.Success;
import dev.warpwright.task.Outcome.TimedOut;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
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
    volatile @Nullable Task<Object> forked;
    volatile @Nullable Outcome<Object> seen; // as the owner first saw it
    volatile @Nullable Object returned;
    volatile @Nullable Throwable thrown;
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
      TaskFixture.until("no alarm", () -> SystemTime.INSTANCE.pendingAlarms() == alarmsBefore);
      for (Child child : children) {
        check(child, counts);
      }
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
      try (TaskScope scope = tree.open("scope", "s" + depth, deadline(random))) {
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

    private Deadline deadline(Random random) {
      return Deadline.after(
          tree.time(),
          Duration.ofNanos(random.nextInt(random.nextBoolean() ? 500_000 : 6_000_000)));
    }

    private void start(TaskScope scope, Random random, int depth) {
      Child child = new Child();
      children.add(child);
      Random ofBody = new Random(random.nextLong());
      Callable<Object> body = () -> counted(child, ofBody, depth);
      if (random.nextInt(3) == 0) {
        child.seen = scope.call("call", "call", deadline(random), body);
      } else {
        Task<Object> task = scope.fork("fork", "fork", deadline(random), body);
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
      Task<Object> task = child.forked;
      Outcome<Object> outcome = task == null ? child.seen : task.outcome();
      assertNotNull(outcome);
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
