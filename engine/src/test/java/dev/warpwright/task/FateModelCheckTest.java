package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.task.Outcome.Success;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.jetbrains.lincheck.Lincheck;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The decisions on a task under a model checker, which runs a race again and again, each time with
 * another interleaving of its threads, those with the fewest switches first.
 */
class FateModelCheckTest {
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

  /** A task without a thread, that counts what is asked of it. */
  private static final class Model extends Fate<String> {
    private final TaskScope scope;
    private int interrupts; // of one thread: whoever stopped it
    private int settled; // of one thread: whoever decided
    private volatile @Nullable Outcome<String> outcome;
    private int givenBack; // of the task's thread
    private boolean disturbed; // of the task's thread
    private volatile boolean listed;

    Model(TaskScope scope) {
      super(TREE, scope, "task", "task", Deadline.never());
      this.scope = scope;
    }

    @Override
    void interrupt(String reason) {
      interrupts++;
    }

    @Override
    void giveBack(String value) {
      takeInterrupt();
      disturbed |= interrupts == 0;
      givenBack++;
    }

    @Override
    void remember() {
      listed = true;
    }

    @Override
    void forget() {
      listed = false;
    }

    @Override
    void settled(Outcome<String> decided) {
      settled++;
      outcome = decided;
    }

    @Override
    void unseen(Outcome<String> own) {}

    @Override
    void endedUnseen(Outcome<String> own) {
      forget();
    }

    @Override
    boolean isDetached() {
      return false;
    }

    @Override
    Deadline givenUpAt() {
      return Deadline.never();
    }

    @Override
    Deadline givenUpIfStopped() {
      return Deadline.never();
    }

    @Override
    Deadline enforce() {
      return Deadline.never();
    }

    /** Its owner's patience: as much of it as {@link Task#enforce} has without a grace. */
    void giveUp() {
      stop(new Stopping(null, Deadline.never()));
      Stopping stopping = stopping();
      if (stopping != null) {
        abandon(stopping);
      }
    }

    /** All threads are through. */
    void check() {
      Outcome<String> decided = settledOutcome();
      if (decided == null) {
        throw new AssertionError("no outcome");
      }
      require(settled == 1, "settled more than once");
      require(decided.equals(outcome), "told another outcome than it has");
      require(currentState() == TaskState.ENDED, "still there");
      require(!listed, "left on the list of abandoned tasks");
      require(givenBack == (decided instanceof Success<String> ? 0 : 1), "leaked or closed twice");
      require(!disturbed, "given back before the interrupt had come");
      require(interrupts <= 1, "interrupted more than once");
      require(isSettled(), "no end in the record");
      TaskTrace trace = scope.trace().orElseThrow().children().getFirst();
      require(trace.end().equals(endOf(decided)), "another end in the record");
    }
  }

  private static TaskTrace.End endOf(Outcome<String> outcome) {
    return switch (outcome) {
      case Outcome.Success<String> success -> new TaskTrace.End.Succeeded();
      case Outcome.Failure<String>(var cause) -> throw new AssertionError(cause);
      case Outcome.TimedOut<String>(var abandoned) -> new TaskTrace.End.TimedOut(abandoned);
      case Outcome.Cancelled<String>(var why, var abandoned) ->
          new TaskTrace.End.Cancelled(abandoned);
    };
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

  private static void check(Race race) {
    Runnable once =
        () -> {
          Model task = new Model(new TaskScope(TREE, null, "s", "s", Deadline.never(), true));
          published = task;
          try {
            race.run(task);
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          task.check();
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
  @Tag("R312")
  void a_value_that_races_with_a_cancel_is_the_owner_s_or_given_back() {
    check(
        task ->
            race(
                () -> task.end(new Success<>("permit")),
                () -> task.stop(new Fate.Stopping("stop", Deadline.never()))));
  }

  @Test
  @Tag("R121")
  @Tag("R312")
  void a_task_that_ends_while_it_is_given_up_has_one_outcome_and_is_on_no_list() {
    check(task -> race(task::giveUp, () -> task.end(new Success<>("permit"))));
  }

  @Test
  @Tag("R121")
  @Tag("R312")
  void an_end_a_cancel_and_an_abandonment_agree_on_one_outcome() {
    check(
        task ->
            race(
                task::giveUp,
                () -> task.end(new Success<>("permit")),
                () -> task.stop(new Fate.Stopping("stop", Deadline.never()))));
  }

  @Test
  void an_outcome_that_is_seen_is_final_and_stands_in_the_record() {
    check(
        task ->
            race(
                () -> {
                  if (task.isSettled()) {
                    Outcome<String> seen = task.settledOutcome();
                    if (seen == null) {
                      throw new AssertionError("settled without an outcome");
                    }
                    TaskTrace trace = task.scope.trace().orElseThrow().children().getFirst();
                    require(trace.end().equals(endOf(seen)), "not in the record");
                    require(seen.equals(task.settledOutcome()), "changed");
                  }
                },
                () -> task.end(new Success<>("permit"))));
  }

  @Test
  void a_task_that_nobody_stops_keeps_its_value() {
    Model task = new Model(new TaskScope(TREE, null, "s", "s", Deadline.never(), true));
    task.end(new Success<>("permit"));
    task.giveUp();
    task.check();
    assertEquals(new Success<>("permit"), task.settledOutcome());
  }
}
