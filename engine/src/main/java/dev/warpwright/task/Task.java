package dev.warpwright.task;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A task that a {@link TaskScope} started, on its own virtual thread.
 *
 * <p>Safe for use by any thread.
 *
 * @param <T> the type of its value; may be nullable
 */
public final class Task<T extends @Nullable Object> extends Fate<T> {

  private final @Nullable TaskScope scope; // null: detached
  private final boolean awaited; // the owner waits for this one alone and sees its outcome
  private final boolean acquires; // its value is AutoCloseable and closed if it comes too late
  private final @Nullable Watch watch; // of a detached task
  private final @Nullable Feed<?, T> feed; // of a detached task whose end is the feed's
  private final Thread thread; // of this task alone, so an interrupt too late hits nobody else

  /** A task of a scope. */
  Task(
      TaskScope scope,
      String kind,
      String name,
      Deadline deadline,
      boolean awaited,
      boolean acquires,
      Callable<? extends T> body) {
    super(scope.tree, scope, kind, name, deadline);
    this.scope = scope;
    this.awaited = awaited;
    this.acquires = acquires;
    this.watch = null;
    this.feed = null;
    this.thread = Thread.ofVirtual().name(path()).unstarted(() -> run(body));
  }

  /** A detached task. */
  Task(
      TaskTree tree,
      String kind,
      String name,
      Deadline deadline,
      @Nullable Feed<?, T> feed,
      Callable<? extends T> body) {
    super(tree, null, kind, name, deadline);
    this.scope = null;
    this.awaited = false;
    this.acquires = false;
    this.watch = new Watch(this);
    this.feed = feed;
    this.thread = Thread.ofVirtual().name(path()).unstarted(() -> run(body));
  }

  /**
   * The name it was given, without the path before it.
   *
   * @return its own name
   */
  @Override
  public String name() {
    return super.name();
  }

  /**
   * Where the task is in its life. Changes at any time until it is {@link TaskState#ENDED}.
   *
   * @return the state at this moment
   */
  public TaskState state() {
    return currentState();
  }

  /**
   * Whether the task has its outcome: it ended, was given up, or was never started.
   *
   * @return true once {@link #outcome()} may be called
   */
  public boolean isDone() {
    return isSettled();
  }

  /**
   * How the task ended. After {@link TaskScope#join()} every task of the scope has an outcome.
   *
   * @return the outcome, always the same one
   * @throws IllegalStateException if the task is not done yet
   */
  public Outcome<T> outcome() {
    return requireOutcome();
  }

  @Override
  public String toString() {
    return path() + " " + currentState();
  }

  /** Starts the thread. A thread that cannot be started is a failure of the task, and false. */
  boolean start() {
    try {
      if (watch != null) {
        watch.begin();
      }
      thread.start();
      return true;
    } catch (Throwable thrown) {
      end(new Outcome.Failure<>(thrown));
      return false;
    }
  }

  /**
   * Asks the task to stop, as its deadline would: what is open in it is cancelled and it is
   * interrupted; if it has not ended within the grace, its owner gives it up the next time it
   * waits. Returns without waiting. Only the first call counts, and none after the task is done.
   *
   * @param reason why, for its {@link Outcome.Cancelled}
   */
  @Override
  public void cancel(String reason) {
    super.cancel(reason);
  }

  /** Stops the task at its deadline, abandons it after the grace; returns when to look again. */
  @Override
  Deadline enforce() {
    if (isRunning()) {
      if (!deadline.hasPassed()) {
        return deadline;
      }
      cancel(DEADLINE_PASSED);
    }
    Stopping stopping = stopping();
    if (stopping != null) {
      if (!stopping.giveUpAt().hasPassed()) {
        return stopping.giveUpAt();
      }
      abandon(stopping);
    }
    return Deadline.never();
  }

  @Override
  Deadline givenUpIfStopped() {
    return Deadline.in(tree.time(), graceNanosIn(0));
  }

  @Override
  Deadline givenUpAt() {
    Stopping stopping = stopping();
    if (stopping != null) {
      return stopping.giveUpAt();
    }
    if (!isRunning() || deadline.isNever()) {
      return Deadline.never(); // nobody waits for it any more, or for ever
    }
    long nanos = deadline.remainingNanos();
    return Deadline.in(tree.time(), nanos + graceNanosIn(nanos));
  }

  /**
   * The grace that this task gets if it is stopped in {@code nanos} from now: that of the tree, but
   * at most half of the time that is then left to whoever has to wait for it. Else all levels of a
   * nest would be given up at the same instant because the innermost is stubborn; so each has time
   * to return after it has given up the one below.
   */
  private long graceNanosIn(long nanos) {
    long left = scope == null ? Long.MAX_VALUE : scope.givenUpAt().remainingNanos();
    return Math.min(tree.graceNanos(), Math.max(0, left - nanos) / 2);
  }

  private void run(Callable<? extends T> body) {
    end(isRunning() ? call(body) : new Outcome.Cancelled<>("stopped before it began", false));
  }

  @Override
  void interrupt(String reason) {
    TaskScope open = inner;
    if (open != null) {
      open.cancel(reason); // first, else its owner wakes up and finds only the interrupt
    }
    thread.interrupt();
  }

  /** Undisturbed by the interrupt that stopped the task: it was meant for the body. */
  @Override
  void giveBack(T value) {
    if (!acquires || value == null) {
      return;
    }
    takeInterrupt();
    try {
      ((AutoCloseable) value).close();
    } catch (Throwable thrown) {
      tree.countCloseFailure();
    }
    closeInner();
  }

  @Override
  void remember() {
    tree.remember(this);
  }

  @Override
  void forget() {
    tree.forget(this);
  }

  @Override
  void settled(Outcome<T> outcome) {
    if (scope != null) {
      scope.childSettled(
          this, awaited, outcome instanceof Outcome.Failure<?>(var cause) ? cause : null);
    }
  }

  @Override
  void unseen(Outcome<T> own) {
    if (feed == null && own instanceof Outcome.Failure<?>(Throwable thrown)) {
      tree.countUnseen(thrown, scope == null);
    }
  }

  @Override
  void endedUnseen(Outcome<T> own) {
    forget();
    if (watch != null) {
      watch.end();
    }
    if (feed != null) {
      feed.end(own); // last: whoever hears of it finds nothing of the task left
    }
  }

  @Override
  boolean isDetached() {
    return scope == null;
  }
}
