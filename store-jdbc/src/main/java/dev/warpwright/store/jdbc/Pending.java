package dev.warpwright.store.jdbc;

import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.util.concurrent.TimeUnit;
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

  /** How often a waiting thread looks at its deadline, which may be on a test's own clock. */
  private static final long DEADLINE_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

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
   * @param withdrawn the verdict if nothing was begun until deadline and grace had passed
   * @param unknown the verdict if something was begun and had not ended then
   */
  Verdict<T> await(
      Deadline deadline,
      long graceNanos,
      TimeSource time,
      Verdict<T> withdrawn,
      Verdict<T> unknown) {
    caller = Thread.currentThread();
    boolean interrupted = false;
    try {
      boolean late = false;
      long lateSince = 0;
      while (true) {
        Verdict<T> fate = verdict;
        if (fate != null) {
          return fate;
        }
        long left = deadline.remainingNanos();
        if (left == 0) {
          if (!late) {
            late = true;
            lateSince = time.nanoTime();
          }
          left = graceNanos - (time.nanoTime() - lateSince);
          if (left <= 0) {
            boolean untouched = stage.compareAndSet(Stage.QUEUED, Stage.WITHDRAWN);
            return untouched ? withdrawn : unknown;
          }
        }
        LockSupport.parkNanos(this, Math.min(left, DEADLINE_CHECK_NANOS));
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
