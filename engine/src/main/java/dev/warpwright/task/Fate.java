package dev.warpwright.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * How a task ends: the decisions, in which its thread, its deadline, a cancel and its owner's
 * patience race, and the order of what follows from them. What that is in detail, and the thread,
 * is {@link Task}'s. Apart from it, so that a model checker can run it.
 *
 * @param <T> the type of the task's value
 */
abstract non-sealed class Fate<T extends @Nullable Object> extends Node {

  /*
   * One field decides how a task ended:
   *
   *   RUNNING ──end──► Success, Failure
   *      │ stop (deadline, cancel)
   *      ▼
   *   Stopping ──end──► TimedOut(false), Cancelled(false)
   *      └────abandon──► TimedOut(true), Cancelled(true)
   *
   * Each arrow is one compare-and-set: of all who race one wins, the others find that they have
   * lost. Whoever sets the outcome takes it down and tells the scope, once. A thread that ends after
   * it was abandoned only takes itself off the list of abandoned tasks.
   *
   * The same compare-and-set hands over a value that has to be closed: if the end wins, it is the
   * owner's, else the task closes it.
   */
  private static final Object RUNNING = new Object();

  /** Why the scopes in a task are cancelled at its deadline. */
  static final String DEADLINE_PASSED = "deadline passed";

  /** Asked to stop: by a cancel, or by the deadline if there is no reason. */
  record Stopping(@Nullable String cancelReason, Deadline giveUpAt) {
    private <T extends @Nullable Object> Outcome<T> outcome(boolean abandoned) {
      return cancelReason == null
          ? new Outcome.TimedOut<>(abandoned)
          : new Outcome.Cancelled<>(cancelReason, abandoned);
    }
  }

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Fate.class, "state", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile Object state = RUNNING; // RUNNING, Stopping or Outcome<T>
  private volatile boolean ended; // the thread is through
  private volatile boolean interruptSent; // whoever stopped it has interrupted it

  Fate(TaskTree tree, @Nullable Node parent, String kind, Object name, Deadline deadline) {
    super(tree, parent, kind, name, deadline, false);
  }

  /** Cancels what is open in the task and interrupts its thread. By whoever stopped it, once. */
  abstract void interrupt(String reason);

  /** Closes a value that nobody gets, if it has to be closed. On the task's thread. */
  abstract void giveBack(T value);

  /** Puts the task on the list of abandoned ones. */
  abstract void remember();

  /** Takes the task off the list of abandoned ones. */
  abstract void forget();

  /** The task has its outcome. By whoever decided it, once. */
  abstract void settled(Outcome<T> outcome);

  /** The task comes to this while nobody waits for it any more. On its thread, before its end. */
  abstract void unseen(Outcome<T> own);

  /** The task has ended, with this, while nobody waited for it any more. On the task's thread. */
  abstract void endedUnseen(Outcome<T> own);

  /** Whether nobody waits for the task from the start. */
  abstract boolean isDetached();

  /** When the task is given up if it is stopped now. */
  abstract Deadline givenUpIfStopped();

  /** Stops and abandons the task when it is due, if its owner does that; when to look again. */
  abstract Deadline enforce();

  final boolean isRunning() {
    return state == RUNNING;
  }

  /** Whether somebody has asked the task to stop before it ended; its thread may ask. */
  final boolean wasStopped() {
    return switch (state) {
      case Stopping _, Outcome.TimedOut<?> _, Outcome.Cancelled<?> _ -> true;
      default -> false;
    };
  }

  /** Whether the thread is through, also if nobody waited for that. */
  final boolean hasEnded() {
    return ended;
  }

  /** Why and until when the task is given time to stop; null if it runs or has its outcome. */
  final @Nullable Stopping stopping() {
    return state instanceof Stopping stopping ? stopping : null;
  }

  /** The outcome; null if there is none yet. */
  @SuppressWarnings("unchecked") // only an Outcome<T> is ever stored
  final @Nullable Outcome<T> settledOutcome() {
    return state instanceof Outcome<?> outcome ? (Outcome<T>) outcome : null;
  }

  /** Whether there is an outcome, also in the record: else who sees it could miss it there. */
  final boolean isSettled() {
    return state instanceof Outcome<?> && (recorder == null || recorder.hasEnded());
  }

  /** Gives a task that is not going to be started its outcome. */
  final void endUnstarted(Outcome<T> outcome) {
    state = outcome;
    if (recorder != null) {
      recorder.end(outcome);
    }
  }

  /** Asks the task to stop, as its deadline would. Only the first call counts. Any thread. */
  void cancel(String reason) {
    if (isRunning()) {
      // Past the deadline it is a timeout whoever notices first, so that the tasks of a nested
      // scope and the one that they hang under agree on what happened.
      stop(new Stopping(deadline.hasPassed() ? null : reason, givenUpIfStopped()));
    }
  }

  /** Asks the task to stop. Only the first call counts. Any thread. */
  final void stop(Stopping stopping) {
    if (STATE.compareAndSet(this, RUNNING, stopping)) {
      try {
        interrupt(reason(stopping));
      } finally {
        interruptSent = true; // the task may wait for it
      }
    }
  }

  /** Gives the task up. By its owner. */
  final void abandon(Stopping stopping) {
    remember(); // first: whoever ends after it was abandoned finds itself on the list
    if (!settle(stopping, stopping.outcome(true))) {
      forget(); // it has ended after all
    }
  }

  /** The end of the thread, with what it came to by itself. */
  final void end(Outcome<T> own) {
    if (isDetached()) {
      unseen(own); // first, so that it is counted when the task looks as if it had ended
    }
    if (!settle(RUNNING, own)) {
      if (own instanceof Outcome.Success<T>(T value)) {
        giveBack(value); // first, so that it is back when the owner hears that the task has ended
      }
      Stopping stopping = stopping();
      if (stopping != null) {
        settle(stopping, stopping.outcome(false));
      }
    }
    boolean abandoned = isAbandoned(state);
    if (abandoned && !isDetached()) {
      unseen(own);
    }
    ended = true;
    if (abandoned || isDetached()) {
      endedUnseen(own);
    }
  }

  /** If the task was stopped, takes the interrupt. */
  final void takeInterrupt() {
    if (state != RUNNING) {
      awaitInterrupt();
      Thread.interrupted();
    }
  }

  /** Waits for the interrupt of a task that was stopped, which is sent right after that. */
  @SuppressWarnings("ThreadPriorityCheck") // the other thread stands between two statements
  final void awaitInterrupt() {
    while (!interruptSent) {
      Thread.yield();
    }
  }

  /** Runs the body, and closes what it leaves open. On the task's thread. */
  final Outcome<T> call(Callable<? extends T> body) {
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
    giveBack(value);
    return new Outcome.Failure<>(
        new IllegalStateException("task " + path() + " left a scope open: " + open.path()));
  }

  final void closeInner() {
    TaskScope open = inner;
    if (open != null) {
      open.closeWithInner();
    }
  }

  /** The outcome of one that has ended or was not started. */
  final Outcome<T> requireOutcome() {
    Outcome<T> outcome = settledOutcome();
    if (outcome == null) {
      throw new IllegalStateException("task " + path() + " has not ended; join its scope first");
    }
    return outcome;
  }

  @Override
  final TaskState currentState() {
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
  final @Nullable String stopReason() {
    return switch (state) {
      case Stopping stopping -> reason(stopping);
      case Outcome.Cancelled<?>(var reason, var abandoned) -> reason;
      case Outcome.TimedOut<?> timedOut -> DEADLINE_PASSED;
      default -> null;
    };
  }

  /** Gives the task its outcome unless its state has changed; if so, tells record and scope. */
  private boolean settle(Object before, Outcome<T> outcome) {
    if (!STATE.compareAndSet(this, before, outcome)) {
      return false;
    }
    if (recorder != null) {
      recorder.end(outcome);
    }
    settled(outcome);
    return true;
  }

  private static String reason(Stopping stopping) {
    return stopping.cancelReason == null ? DEADLINE_PASSED : stopping.cancelReason;
  }

  private static boolean isAbandoned(Object state) {
    return switch (state) {
      case Outcome.TimedOut<?>(var abandoned) -> abandoned;
      case Outcome.Cancelled<?>(var reason, var abandoned) -> abandoned;
      default -> false;
    };
  }
}
