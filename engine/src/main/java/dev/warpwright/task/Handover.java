package dev.warpwright.task;

import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Work that a platform thread has done by a virtual thread while it waits.
 *
 * <p>The two are one thread to the tree: what the virtual one opens hangs where the other is, which
 * does nothing meanwhile. An interrupt is passed on, for whatever the work makes of it.
 *
 * @param <T> what comes of the work
 */
final class Handover<T extends @Nullable Object> {
  private final Thread caller = Thread.currentThread();
  private final @Nullable Node around = Node.innermost();
  private final Callable<? extends T> body;
  private final boolean begunInterrupted = Thread.interrupted(); // before the work begins
  private volatile @Nullable Outcome<T> outcome; // a Success or a Failure

  Handover(Callable<? extends T> body) {
    this.body = body;
  }

  /** Has it done and waits for it, however long it takes. */
  Outcome<T> run(String name) {
    Thread thread = Thread.ofVirtual().name(name).unstarted(this::work);
    try {
      thread.start();
    } catch (Throwable none) {
      work(); // the system has no thread for it, so it is done here
    }
    boolean interrupted = begunInterrupted;
    Outcome<T> ended;
    while ((ended = outcome) == null) {
      LockSupport.park(this);
      if (Thread.interrupted()) {
        interrupted = true;
        thread.interrupt();
      }
    }
    if (interrupted) {
      caller.interrupt();
    }
    if (ended instanceof Outcome.Failure<T>(Throwable thrown)) {
      showCaller(thrown);
    }
    return ended;
  }

  private void work() {
    if (around != null) {
      around.enter();
    }
    if (begunInterrupted) {
      Thread.currentThread().interrupt();
    }
    Outcome<T> own;
    try {
      own = new Outcome.Success<>(body.call());
    } catch (Throwable thrown) {
      own = new Outcome.Failure<>(thrown);
    }
    outcome = own;
    LockSupport.unpark(caller);
  }

  /** Puts the caller's frames below those of the virtual thread: else nobody sees who called. */
  private static void showCaller(Throwable thrown) {
    StackTraceElement[] above = thrown.getStackTrace();
    if (above.length == 0 || !isVirtualThread(above[above.length - 1])) {
      return; // a constant that was thrown before, or without a stack trace
    }
    StackTraceElement[] below = new Throwable().getStackTrace();
    StackTraceElement[] all = new StackTraceElement[above.length + below.length];
    System.arraycopy(above, 0, all, 0, above.length);
    System.arraycopy(below, 0, all, above.length, below.length);
    thrown.setStackTrace(all);
  }

  private static boolean isVirtualThread(StackTraceElement frame) {
    return frame.getClassName().equals("java.lang.VirtualThread");
  }
}
