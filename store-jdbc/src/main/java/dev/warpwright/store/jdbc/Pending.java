package dev.warpwright.store.jdbc;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The place where one caller waits for one thread of the store.
 *
 * <p>The wait is not interruptible: whoever left it early could not know whether the database did
 * what it was asked. It ends with the verdict or, at the latest, a grace after the deadline. What
 * no thread of the store has begun by then is withdrawn, so that its fate is known after all. For
 * the rest, either the caller gets the verdict or the store learns that it has gone, never both.
 */
final class Pending<T extends @Nullable Object> {
  private enum Stage {
    QUEUED,
    BEGUN,
    SETTLED,
    GONE
  }

  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.QUEUED);
  private volatile @Nullable Verdict<T> verdict;
  private volatile @Nullable Thread caller;

  /** Called by the thread of the store that takes it up; false if the caller has gone. */
  boolean begin() {
    return stage.compareAndSet(Stage.QUEUED, Stage.BEGUN) || stage.get() == Stage.BEGUN;
  }

  /**
   * Called by the thread of the store; the first verdict stands.
   *
   * @return false if the caller has gone, and gets no verdict
   */
  boolean settle(Verdict<T> fate) {
    if (verdict == null) {
      verdict = fate; // before the stage, which tells the caller that it is there
      end(Stage.SETTLED);
      LockSupport.unpark(caller);
    }
    return stage.get() == Stage.SETTLED;
  }

  /** Ends the wait, whoever comes first; returns the stage before that, or how it had ended. */
  private Stage end(Stage how) {
    return stage.getAndUpdate(now -> now == Stage.QUEUED || now == Stage.BEGUN ? how : now);
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
        if (stage.get() == Stage.SETTLED) {
          return Objects.requireNonNull(verdict, "verdict");
        }
        long nanos = patience.nextNanos();
        if (nanos <= 0) {
          return leave(withdrawn, unknown);
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

  private Verdict<T> leave(Verdict<T> withdrawn, Verdict<T> unknown) {
    return switch (end(Stage.GONE)) {
      case QUEUED -> withdrawn;
      case BEGUN, GONE -> unknown;
      case SETTLED -> Objects.requireNonNull(verdict, "verdict");
    };
  }

  /**
   * Waits as {@link #await} does, for something that the store takes back if nobody gets it: an
   * interrupt ends the wait, unless the verdict was there first, which is then returned with the
   * interrupt still pending.
   */
  Verdict<T> awaitInterruptibly(Patience patience, Verdict<T> withdrawn, Verdict<T> unknown)
      throws InterruptedException {
    caller = Thread.currentThread();
    while (stage.get() != Stage.SETTLED) {
      long nanos = patience.nextNanos();
      if (nanos <= 0) {
        return leave(withdrawn, unknown);
      }
      LockSupport.parkNanos(this, nanos);
      if (Thread.interrupted()) {
        if (end(Stage.GONE) != Stage.SETTLED) {
          throw new InterruptedException();
        }
        Thread.currentThread().interrupt();
      }
    }
    return Objects.requireNonNull(verdict, "verdict");
  }
}
