package dev.warpwright.task;

import dev.warpwright.task.Outcome.Cancelled;
import dev.warpwright.task.Outcome.Success;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.jetbrains.lincheck.Lincheck;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whose interrupt is whose, of a task on its owner's thread, under a model checker: the thread's
 * flag is a field here, so that the checker sees who sets and who clears it.
 */
class InlineTaskModelCheckTest {
  private static final int INTERLEAVINGS = 300;

  private static final TaskTree TREE = TaskTree.builder().time(new StoppedTime()).build();

  /** The checker takes what only a thread's body refers to for local to one thread. */
  @SuppressWarnings("UnusedVariable")
  private static volatile @Nullable Model published;

  private static final class StoppedTime implements TimeSource {
    @Override
    public long nanoTime() {
      return 0;
    }

    @Override
    public Instant now() {
      return Instant.EPOCH;
    }

    @Override
    public Alarm alarm(long atNanoTime, Runnable action) {
      throw new UnsupportedOperationException();
    }

    @Override
    public RandomGenerator random() {
      throw new UnsupportedOperationException();
    }
  }

  /** A task whose thread has a flag that can be looked into. */
  private static final class Model extends InlineTask<String> {
    private final TaskScope scope;
    private final AtomicBoolean flag = new AtomicBoolean();
    private volatile boolean merged; // two have set the flag, and it was taken off once
    private volatile boolean found; // the flag, when it was last looked at
    private volatile boolean returned;
    private boolean cameFromOutside; // of one thread: whoever interrupts from outside
    private @Nullable Outcome<String> outcome; // of the owner's thread

    Model(TaskScope scope) {
      super(scope, "task", "task", Deadline.never());
      this.scope = scope;
    }

    @Override
    boolean isFlagSet() {
      found = flag.get();
      return found;
    }

    @Override
    void setFlag() {
      require(!returned, "interrupted what comes after the task");
      if (flag.getAndSet(true) && !found) {
        merged = true; // it was set since it was looked at
      }
    }

    @Override
    boolean clearFlag() {
      return flag.getAndSet(false);
    }

    void interruptFromOutside() {
      cameFromOutside = true;
      if (flag.getAndSet(true)) {
        merged = true;
      }
    }

    void stop(String reason) {
      cancel(reason);
    }

    /** A body that ends by its interrupt, if it notices one. */
    void run(boolean looks) {
      outcome =
          runHere(
              () -> {
                if (looks && clearFlag()) {
                  throw new InterruptedException();
                }
                return "value";
              });
      scope.leave(); // where the task has put its thread
      returned = true;
    }

    void check(boolean stopped) {
      Outcome<String> ended = outcome;
      if (ended == null) {
        throw new AssertionError("no outcome");
      }
      boolean ours = ended.equals(new Cancelled<>("stop", false));
      boolean interrupted = ended.equals(new Cancelled<>("interrupted", false));
      require(ours || interrupted || ended.equals(new Success<>("value")), "another outcome");
      require(!ours || stopped, "stopped by nobody");
      require(!interrupted || cameFromOutside, "interrupted by nobody");
      require(interrupted == scope.isCancelled() || ours, "the scope knows nothing of it");
      boolean left = flag.get();
      require(!left || cameFromOutside, "ours has leaked");
      require(left || !cameFromOutside || (ours && merged), "one from outside was lost");
    }
  }

  /** The checker follows these into every call, which makes an assertion of JUnit expensive. */
  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  private interface Race {
    void run(Model task) throws InterruptedException;
  }

  private static void check(boolean stopped, Race race) {
    Runnable once =
        () -> {
          Model task = new Model(new TaskScope(TREE, null, "s", "s", Deadline.never(), false));
          published = task;
          try {
            race.run(task);
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          task.check(stopped);
        };
    once.run(); // loads the classes: not a part of what is explored
    Lincheck.runConcurrentTest(INTERLEAVINGS, once);
  }

  private static void race(Runnable... sides) throws InterruptedException {
    Thread[] threads = new Thread[sides.length];
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    for (int i = 1; i < sides.length; i++) {
      threads[i] = new Thread(sides[i]);
      threads[i].setUncaughtExceptionHandler((thread, failure) -> thrown.set(failure));
      threads[i].start();
    }
    sides[0].run();
    for (int i = 1; i < sides.length; i++) {
      threads[i].join();
    }
    require(thrown.get() == null, "failed on another thread");
  }

  @Test
  @Tag("R110")
  void a_stop_that_races_with_the_end_leaves_no_interrupt() {
    check(true, task -> race(() -> task.run(true), () -> task.stop("stop")));
    check(true, task -> race(() -> task.run(false), () -> task.stop("stop")));
  }

  @Test
  @Tag("R17")
  void an_interrupt_from_outside_that_races_with_the_end_is_left() {
    check(false, task -> race(() -> task.run(true), task::interruptFromOutside));
    check(false, task -> race(() -> task.run(false), task::interruptFromOutside));
  }

  @Test
  @Tag("R17")
  @Tag("R110")
  void of_a_stop_and_an_interrupt_from_outside_only_the_latter_is_left() {
    check(
        true,
        task -> race(() -> task.run(true), () -> task.stop("stop"), task::interruptFromOutside));
    check(
        true,
        task -> race(() -> task.run(false), () -> task.stop("stop"), task::interruptFromOutside));
  }

  @Test
  void two_who_stop_a_task_interrupt_it_once() {
    check(
        true, task -> race(() -> task.run(true), () -> task.stop("stop"), () -> task.stop("stop")));
  }
}
