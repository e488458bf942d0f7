package dev.warpwright.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A task that a {@link TaskScope} started, on its own virtual thread.
 *
 * <p>Safe for use by any thread.
 *
 * @param <T> the type of its value; may be nullable
 */
public final class Task<T extends @Nullable Object> extends Node {

  /*
   * One field decides how a task ended:
   *
   *   RUNNING ──end──► Success, Failure
   *      │ stop (deadline, cancel)
   *      ▼
   *   Stopping ──end──► TimedOut(false), Cancelled(false)
   *      └────abandon──► TimedOut(true), Cancelled(true)
   *
   * Each arrow is one compare-and-set, so the task's end, its deadline, a cancel and its owner's
   * patience may race: one of them wins, the others find that they have lost. Whoever sets the
   * outcome tells the scope, once. A thread that ends after it was abandoned only takes itself off
   * the list of abandoned tasks.
   *
   * The same compare-and-set hands over a value that has to be closed: if the end wins, it is the
   * owner's, else the task closes it.
   *
   * The thread serves one task and is never reused, so an interrupt that comes too late hits nobody.
   */
  private static final Object RUNNING = new Object();

  /** Why the scopes in a task are cancelled at its deadline. */
  private static final String DEADLINE_PASSED = "deadline passed";

  private record Stopping(@Nullable String cancelReason, Deadline giveUpAt) {
    <T extends @Nullable Object> Outcome<T> outcome(boolean abandoned) {
      return cancelReason == null
          ? new Outcome.TimedOut<>(abandoned)
          : new Outcome.Cancelled<>(cancelReason, abandoned);
    }
  }

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Task.class, "state", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final @Nullable TaskScope scope; // null: detached
  private final boolean awaited; // the owner waits for this one alone and sees its outcome
  private final boolean acquires; // its value is AutoCloseable and closed if it comes too late
  private final @Nullable Watch watch; // of a detached task
  private final Thread thread;
  private volatile Object state = RUNNING; // RUNNING, Stopping or Outcome<T>
  private volatile boolean ended; // the thread is through
  private volatile boolean interruptSent; // whoever stopped it has interrupted it

  /** A task of a scope. */
  Task(
      TaskScope scope,
      String kind,
      String name,
      Deadline deadline,
      boolean awaited,
      boolean acquires,
      Callable<? extends T> body) {
    super(scope.tree, scope, kind, name, deadline, false);
    this.scope = scope;
    this.awaited = awaited;
    this.acquires = acquires;
    this.watch = null;
    this.thread = Thread.ofVirtual().name(path).unstarted(() -> run(body));
  }

  /** A detached task. */
  Task(TaskTree tree, String kind, String name, Deadline deadline, Callable<? extends T> body) {
    super(tree, null, kind, name, deadline, false);
    this.scope = null;
    this.awaited = false;
    this.acquires = false;
    this.watch = new Watch(this);
    this.thread = Thread.ofVirtual().name(path).unstarted(() -> run(body));
  }

  /**
   * The name it was given, without the path before it.
   *
   * @return its own name
   */
  public String name() {
    return name;
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
    // With its end in the record: else an owner that sees the outcome could miss it there.
    return state instanceof Outcome<?> && (recorder == null || recorder.hasEnded());
  }

  /**
   * How the task ended. After {@link TaskScope#join()} every task of the scope has an outcome.
   *
   * @return the outcome, always the same one
   * @throws IllegalStateException if the task is not done yet
   */
  @SuppressWarnings("unchecked") // only an Outcome<T> is ever stored
  public Outcome<T> outcome() {
    if (state instanceof Outcome<?> outcome) {
      return (Outcome<T>) outcome;
    }
    throw new IllegalStateException("task " + path + " has not ended; join its scope first");
  }

  @Override
  public String toString() {
    return path + " " + currentState();
  }

  /** Starts the thread. A thread that cannot be started is a failure of the task. */
  void start() {
    try {
      if (watch != null) {
        watch.begin();
      }
      thread.start();
    } catch (Throwable thrown) {
      end(new Outcome.Failure<>(thrown));
    }
  }

  /** Gives a task that is not going to be started its outcome. */
  void endUnstarted(Outcome<T> outcome) {
    state = outcome;
    if (recorder != null) {
      recorder.end(outcome);
    }
  }

  /**
   * Asks the task to stop: cancels what is open in it and interrupts it. Only the first call
   * counts. Any thread.
   */
  void stop(String reason) {
    if (state != RUNNING) {
      return;
    }
    // Past the deadline it is a timeout whoever notices first, so that the tasks of a nested scope
    // and the one that they hang under agree on what happened.
    boolean timedOut = deadline.hasPassed();
    Stopping stopping =
        new Stopping(timedOut ? null : reason, Deadline.in(tree.time(), graceNanosIn(0)));
    if (STATE.compareAndSet(this, RUNNING, stopping)) {
      try {
        TaskScope open = inner;
        if (open != null) {
          open.cancel(reason); // first, else its owner wakes up and finds only the interrupt
        }
        thread.interrupt();
      } finally {
        interruptSent = true; // the task may wait for it
      }
    }
  }

  /** Stops the task at its deadline, abandons it after the grace; returns when to look again. */
  Deadline enforce() {
    if (state == RUNNING) {
      if (!deadline.hasPassed()) {
        return deadline;
      }
      stop(DEADLINE_PASSED);
    }
    if (state instanceof Stopping stopping) {
      if (!stopping.giveUpAt.hasPassed()) {
        return stopping.giveUpAt;
      }
      abandon(stopping);
    }
    return Deadline.never();
  }

  /** Whether the thread is through, also if nobody waited for that. */
  boolean hasEnded() {
    return ended;
  }

  @Override
  TaskState currentState() {
    Object now = state;
    if (now == RUNNING) {
      return TaskState.RUNNING;
    }
    if (now instanceof Stopping) {
      return TaskState.CANCELLED;
    }
    return isAbandoned(now) && !ended ? TaskState.ABANDONED : TaskState.ENDED;
  }

  @Override
  @Nullable String stopReason() {
    return switch (state) {
      case Stopping(var reason, var giveUpAt) -> reason == null ? DEADLINE_PASSED : reason;
      case Outcome.Cancelled<?>(var reason, var abandoned) -> reason;
      case Outcome.TimedOut<?> timedOut -> DEADLINE_PASSED;
      default -> null;
    };
  }

  @Override
  Deadline givenUpAt() {
    Object now = state;
    if (now instanceof Stopping stopping) {
      return stopping.giveUpAt;
    }
    if (now != RUNNING || deadline.isNever()) {
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
    end(state == RUNNING ? call(body) : new Outcome.Cancelled<>("stopped before it began", false));
  }

  private Outcome<T> call(Callable<? extends T> body) {
    enter();
    T value;
    try {
      value = body.call();
    } catch (Throwable thrown) {
      closeInner();
      return new Outcome.Failure<>(thrown);
    }
    TaskScope open = inner;
    if (open == null) {
      return new Outcome.Success<>(value);
    }
    closeInner();
    if (acquires) {
      giveBack(value);
    }
    return new Outcome.Failure<>(
        new IllegalStateException("task " + path + " left a scope open: " + open.path));
  }

  private void closeInner() {
    TaskScope open = inner;
    if (open != null) {
      open.closeWithInner();
    }
  }

  /** Closes a value that nobody gets, undisturbed by the interrupt that stopped the task. */
  private void giveBack(@Nullable Object value) {
    if (state != RUNNING) {
      takeInterrupt();
    }
    try {
      if (value != null) {
        ((AutoCloseable) value).close();
      }
    } catch (Throwable thrown) {
      tree.countCloseFailure();
    }
    closeInner();
  }

  /** Takes the interrupt of whoever stopped this task, which is sent right after the stop. */
  private void takeInterrupt() {
    while (!interruptSent) {
      Thread.yield();
    }
    Thread.interrupted();
  }

  /** The end of the thread, with what it came to by itself. */
  private void end(Outcome<T> own) {
    if (!settle(RUNNING, own)) {
      if (acquires && own instanceof Outcome.Success<T>(T value)) {
        giveBack(value); // first, so that it is back when the owner hears that the task has ended
      }
      if (state instanceof Stopping stopping) {
        settle(stopping, stopping.outcome(false));
      }
    }
    ended = true;
    if (scope == null || isAbandoned(state)) {
      endUnseen(own);
    }
  }

  /** The end of a task that nobody waits for. */
  private void endUnseen(Outcome<T> own) {
    tree.forget(this);
    if (own instanceof Outcome.Failure<?>(Throwable thrown)) {
      tree.countUnseen(thrown, scope == null);
    }
    if (watch != null) {
      watch.end();
    }
  }

  private void abandon(Stopping stopping) {
    tree.remember(this); // first: whoever ends after it was abandoned finds itself on the list
    if (!settle(stopping, stopping.outcome(true))) {
      tree.forget(this); // it has ended after all
    }
  }

  /** Gives the task its outcome unless the state has changed; if so, tells the record and scope. */
  private boolean settle(Object before, Outcome<T> outcome) {
    if (!STATE.compareAndSet(this, before, outcome)) {
      return false;
    }
    if (recorder != null) {
      recorder.end(outcome);
    }
    if (scope != null) {
      scope.childSettled(
          this, awaited, outcome instanceof Outcome.Failure<?>(var cause) ? cause : null);
    }
    return true;
  }

  private static boolean isAbandoned(Object state) {
    return switch (state) {
      case Outcome.TimedOut<?>(var abandoned) -> abandoned;
      case Outcome.Cancelled<?>(var reason, var abandoned) -> abandoned;
      default -> false;
    };
  }
}
