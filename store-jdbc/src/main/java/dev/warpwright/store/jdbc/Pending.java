package dev.warpwright.store.jdbc;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The place where one caller waits for one thread of the store.
 *
 * <p>The wait is not interruptible: whoever left it early could not know whether the database did
 * what it was asked. It ends with the verdict or, at the latest, a grace after the deadline. What
 * no thread of the store has begun by then is withdrawn, so that its fate is known after all.
 */
final class Pending<T extends @Nullable Object> {
  private enum Stage {
    QUEUED,
    BEGUN,
    WITHDRAWN
  }

  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.QUEUED);
  private volatile @Nullable Verdict<T> verdict;
  private volatile @Nullable Thread caller;

  /** Called by the thread of the store that takes it up; false if the caller has gone. */
  boolean begin() {
    return stage.compareAndSet(Stage.QUEUED, Stage.BEGUN) || stage.get() == Stage.BEGUN;
  }

  /** Called by the thread of the store; the first verdict stands. */
  void settle(Verdict<T> fate) {
    if (verdict == null) {
      verdict = fate;
      LockSupport.unpark(caller);
    }
  }

  /**
   * Waits for the verdict.
   *
   * @param withdrawn the verdict if nothing was begun until the patience was over
   * @param unknown the verdict if something was begun and had not ended then
   */
  Verdict<T> await(Patience patience, Verdict<T> withdrawn, Verdict<T> unknown) {
    caller = Thread.currentThread();
    boolean interrupted = false;
    try {
      while (true) {
        Verdict<T> fate = verdict;
        if (fate != null) {
          return fate;
        }
        long nanos = patience.nextNanos();
        if (nanos <= 0) {
          boolean untouched = stage.compareAndSet(Stage.QUEUED, Stage.WITHDRAWN);
          return untouched ? withdrawn : unknown;
        }
        LockSupport.parkNanos(this, nanos);
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
