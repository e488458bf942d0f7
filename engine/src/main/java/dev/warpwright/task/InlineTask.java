package dev.warpwright.task;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A task that runs on its owner's own thread. Nobody can leave it behind, so it is for a body that
 * is known to end soon after an interrupt; see {@link TaskScope#callHere}.
 *
 * @param <T> the type of its value; may be nullable
 */
class InlineTask<T extends @Nullable Object> extends Fate<T> implements Runnable {

  /*
   * The thread is not the task's own, so its one interrupt flag has several writers: whoever stops
   * this task, whoever stops the task around it on the same thread, and anybody outside. None may be
   * taken for another.
   *
   *  - Whoever stops this task does it once, after the state has changed. So the end waits until
   *    that interrupt has come, as FutureTask does, and takes it: it reaches nothing that runs later.
   *    If nobody has stopped the task, no interrupt of ours is under way or ever will be.
   *  - A body that ends by an InterruptedException has taken one interrupt. If the task was not
   *    stopped, that was one from outside: a cancel by the owner's caller, as in every wait of a
   *    scope. If it was stopped and the flag is set again, there were two, and the one that is left
   *    is not ours.
   *  - Whoever stops the task looks at the flag first. If it is set already, somebody outside was
   *    quicker, and ours will merge with theirs: then it is set again at the end.
   *  - Whoever stops the task around this one interrupts the same thread a moment later. Theirs is
   *    awaited as ours is, and left behind.
   *
   * What Java cannot tell apart: an interrupt from outside that comes while ours is set and not yet
   * taken by the body. There is one flag for both, and it counts as ours.
   */

  private final TaskScope scope;
  private final Thread thread = Thread.currentThread();
  private boolean foundInterrupt; // of whoever stopped it; written before its interrupt is sent

  InlineTask(TaskScope scope, String kind, Object name, Deadline deadline) {
    super(scope.tree, scope, kind, name, deadline);
    this.scope = scope;
  }

  /** Runs the body to its end; its owner only, once. */
  Outcome<T> runHere(Callable<? extends T> body) {
    Alarm alarm = deadline.alarm(this);
    Outcome<T> own;
    try {
      own = isRunning() ? call(body) : new Outcome.Cancelled<>("stopped before it began", false);
    } finally {
      leave();
      if (alarm != null) {
        alarm.cancel();
      }
    }
    Throwable thrown = own instanceof Outcome.Failure<T>(Throwable cause) ? cause : null;
    boolean tookInterrupt = thrown instanceof InterruptedException;
    // The flag first: if it is ours, the task is not running any more when that is asked.
    boolean interrupted = tookInterrupt || (isException(thrown) && isFlagSet());
    boolean outside = interrupted && isRunning();
    if (outside) {
      cancel(scope.cancelByInterrupt()); // it may be another cancel's turn, which comes later
    }
    end(own);
    leaveInterruptsOfOthers(tookInterrupt, outside);
    return requireOutcome();
  }

  private static boolean isException(@Nullable Throwable thrown) {
    return thrown != null && !(thrown instanceof Error);
  }

  private void leaveInterruptsOfOthers(boolean tookInterrupt, boolean outside) {
    boolean others = outside;
    if (wasStopped()) {
      awaitInterrupt();
      boolean left = clearFlag();
      others |= foundInterrupt || (tookInterrupt && left);
    }
    Fate<?> around = around();
    if (around != null && around.wasStopped()) {
      around.awaitInterrupt();
      others = true;
    }
    if (others) {
      setFlag();
    }
  }

  /** The task that this one runs in, which is on the same thread. */
  private @Nullable Fate<?> around() {
    for (Node node = scope; node != null; node = node.parent) {
      if (node instanceof Fate<?> fate) {
        return fate;
      }
    }
    return null;
  }

  /**
   * The alarm. An interrupt may close the channel that the body reads, which is foreign code, so it
   * does not happen on the timer's thread.
   */
  @Override
  public void run() {
    if (isRunning()) {
      Thread.ofVirtual().name(path() + " timeout").start(() -> cancel(DEADLINE_PASSED));
    }
  }

  @Override
  void interrupt(String reason) {
    TaskScope open = inner;
    if (open != null) {
      open.cancel(reason); // first, else its owner wakes up and finds only the interrupt
    }
    foundInterrupt = isFlagSet();
    setFlag();
  }

  // The flag of the thread; a model checker has another one.

  boolean isFlagSet() {
    return thread.isInterrupted();
  }

  void setFlag() {
    thread.interrupt();
  }

  /** Clears the flag, on this thread; whether it was set. */
  boolean clearFlag() {
    return Thread.interrupted();
  }

  @Override
  Deadline givenUpIfStopped() {
    return Deadline.never();
  }

  /** Nobody waits for this task but its own thread: it is given up with that, if at all. */
  @Override
  Deadline givenUpAt() {
    return scope.givenUpAt();
  }

  /** Its alarm does that. */
  @Override
  Deadline enforce() {
    return Deadline.never();
  }

  @Override
  boolean isDetached() {
    return false;
  }

  // The owner comes back with the outcome; until then it waits for nothing and gives nothing up.

  @Override
  void giveBack(T value) {}

  @Override
  void settled(Outcome<T> outcome) {}

  @Override
  void remember() {}

  @Override
  void forget() {}

  @Override
  void unseen(Outcome<T> own) {}

  @Override
  void endedUnseen(Outcome<T> own) {}

  @Override
  public String toString() {
    return path() + " " + currentState();
  }
}
