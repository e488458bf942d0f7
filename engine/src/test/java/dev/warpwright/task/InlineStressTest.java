package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.contract.Together;
import dev.warpwright.task.Outcome.Cancelled;
import dev.warpwright.task.Outcome.Failure;
import dev.warpwright.task.Outcome.Success;
import dev.warpwright.task.Outcome.TimedOut;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tasks on their owner's own thread, on real time: the end of the body, its deadline, a cancel, an
 * interrupt from outside and the stop of the task around race, and after each race it is counted
 * whose interrupt is where.
 */
class InlineStressTest {
  private static final int RACES = 6_000;

  @Test
  @Tag("R17")
  @Tag("R110")
  @Tag("R129")
  void no_interrupt_leaks_or_is_lost_in_thousands_of_races() throws Exception {
    long base = System.nanoTime();
    int[] ends = new int[5];
    for (int i = 0; i < RACES; i++) {
      long seed = base + i;
      try {
        new Race(seed).run(ends);
      } catch (ExecutionException thrown) {
        throw new AssertionError("seed " + seed, thrown.getCause());
      } catch (Throwable thrown) {
        throw new AssertionError("seed " + seed, thrown);
      }
    }
    for (int count : ends) {
      assertTrue(count > 0, () -> "not every kind of end: " + Arrays.toString(ends));
    }
    TaskFixture.until("no alarm", () -> SystemTime.INSTANCE.pendingAlarms() == 0);
  }

  private static final class Race {
    private static final Duration GRACE = Duration.ofSeconds(5); // nothing here is stubborn

    private final long seed;
    private final boolean interrupts;
    private final boolean cancels;
    private final boolean nested; // the owner is a task, which is stopped instead of the scope
    private final TaskTree tree = TaskTree.builder().abandonGrace(GRACE).build();
    private final CountDownLatch open = new CountDownLatch(1);
    private final CountDownLatch disturbed = new CountDownLatch(2);
    private volatile @Nullable Thread thread;
    private volatile @Nullable TaskScope outer;
    private @Nullable Outcome<Object> outcome; // of the owner's thread
    private @Nullable Object own; // what the body returned or threw
    private boolean scopeCancelled;
    private boolean left; // the flag behind the scope

    Race(long seed) {
      this.seed = seed;
      Random random = new Random(seed);
      this.interrupts = random.nextInt(3) == 0;
      this.cancels = random.nextInt(3) == 0;
      this.nested = random.nextInt(3) == 0;
    }

    void run(int[] ends) throws Exception {
      Together.run(
          3,
          part -> {
            Random random = new Random(31 * seed + part);
            switch (part) {
              case 0 -> owner(random);
              case 1 -> disturb(random, interrupts, () -> thread().interrupt());
              default -> disturb(random, cancels, () -> scope().cancel("stop"));
            }
            return true;
          });
      assertEquals(0, tree.liveCount());
      check(ends);
    }

    private void disturb(Random random, boolean does, Runnable what) throws InterruptedException {
      try {
        TaskFixture.await("the scope", open);
        spin(random, 300_000);
        if (does) {
          what.run();
        }
      } finally {
        disturbed.countDown();
      }
    }

    private Thread thread() {
      Thread known = thread;
      if (known == null) {
        throw new AssertionError("no thread");
      }
      return known;
    }

    private TaskScope scope() {
      TaskScope known = outer;
      if (known == null) {
        throw new AssertionError("no scope");
      }
      return known;
    }

    private void owner(Random random) throws InterruptedException {
      if (!nested) {
        try (TaskScope scope = tree.open("operation", "op")) {
          outer = scope;
          attempts(scope, random);
        }
        return;
      }
      boolean outside;
      try (TaskScope scope = tree.open("operation", "op")) {
        outer = scope;
        Outcome<Boolean> around =
            scope.call(
                "tool",
                "tool",
                Deadline.never(),
                () -> {
                  try (TaskScope inner = tree.open("operation", "inner")) {
                    attempts(inner, random);
                  }
                  return true;
                });
        assertTrue(
            around instanceof Success<Boolean> || around.equals(new Cancelled<>("stop", false)),
            around::toString);
        outside = Thread.interrupted();
      }
      assertFalse(outside, "the interrupt of a task's thread came to its owner");
    }

    private void attempts(TaskScope scope, Random random) throws InterruptedException {
      thread = Thread.currentThread();
      open.countDown();
      Deadline deadline =
          random.nextInt(4) == 0
              ? Deadline.never()
              : Deadline.after(tree.time(), Duration.ofNanos(random.nextInt(1_500_000)));
      boolean ends = deadline.isNever() && !interrupts && !cancels;
      int kind = random.nextInt(ends ? 3 : 7);
      outcome = scope.callHere("attempt", "one", deadline, () -> body(random, kind));
      scopeCancelled = scope.isCancelled();
      undisturbed(scope);
      left = awaitDisturbers();
    }

    /** What runs next on the thread is not hit by what was meant for the one before. */
    private void undisturbed(TaskScope scope) {
      Outcome<Boolean> next =
          scope.callHere(
              "attempt", "two", Deadline.never(), () -> Thread.currentThread().isInterrupted());
      if (!interrupts && !(nested && cancels)) {
        assertTrue(
            next.equals(new Success<>(false)) || next instanceof Cancelled<Boolean>,
            next::toString);
      }
    }

    /** Whether the flag is set when all who might set it have come and gone. */
    private boolean awaitDisturbers() {
      boolean set = Thread.interrupted();
      while (disturbed.getCount() > 0) {
        try {
          disturbed.await();
        } catch (InterruptedException e) {
          set = true;
        }
      }
      return set | Thread.interrupted();
    }

    private Object body(Random random, int kind) throws Exception {
      try {
        own = work(random, kind);
      } catch (Throwable thrown) {
        own = thrown;
        throw thrown;
      }
      return own;
    }

    private Object work(Random random, int kind) throws Exception {
      spin(random, 200_000);
      switch (kind) {
        case 0 -> {}
        case 1 -> throw new IOException();
        case 2 -> {
          try (TaskScope inner = tree.open("step", "inner")) {
            inner.call("task", "in it", Deadline.never(), () -> tree.deadline().hasPassed());
          }
        }
        case 3, 4 -> awaitEnd();
        case 5 -> {
          try {
            awaitEnd();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
          }
        }
        default -> {
          try (TaskScope inner = tree.open("step", "inner")) {
            inner.await(this::isDisturbed, Deadline.never());
          }
        }
      }
      return new Object();
    }

    /** For an interrupt; if all who might send one have come and gone, it would be in vain. */
    private void awaitEnd() throws InterruptedException {
      while (!isDisturbed()) {
        tree.time().sleep(Duration.ofNanos(100_000));
      }
    }

    private boolean isDisturbed() {
      return disturbed.getCount() == 0;
    }

    private void check(int[] ends) {
      Outcome<Object> ended = outcome;
      assertTrue(ended != null);
      boolean stopped = false;
      switch (ended) {
        case Success<Object>(Object value) -> {
          assertSame(own, value);
          ends[0]++;
        }
        case Failure<Object>(Throwable cause) -> {
          assertSame(own, cause);
          assertFalse(cause instanceof InterruptedException);
          ends[1]++;
        }
        case TimedOut<Object>(boolean abandoned) -> {
          assertFalse(abandoned);
          stopped = true;
          ends[2]++;
        }
        case Cancelled<Object>(String reason, boolean abandoned) -> {
          assertFalse(abandoned);
          assertTrue(scopeCancelled);
          stopped = reason.equals("stop");
          assertTrue(stopped ? cancels : reason.equals("interrupted") && interrupts, reason);
          ends[stopped ? 3 : 4]++;
        }
      }
      if (nested && cancels) {
        assertTrue(left, "the task around has lost its own interrupt");
        return;
      }
      // An interrupt that meets one of ours on the flag cannot be told from it: see InlineTask.
      assertEquals(
          Optional.of(interrupts),
          Optional.of(left || (interrupts && stopped)),
          "left: " + left + ", outcome: " + ended);
    }
  }

  private static void spin(Random random, int mostNanos) {
    long nanos = random.nextInt(mostNanos);
    long start = System.nanoTime();
    while (System.nanoTime() - start < nanos) {
      Thread.onSpinWait();
    }
  }
}
