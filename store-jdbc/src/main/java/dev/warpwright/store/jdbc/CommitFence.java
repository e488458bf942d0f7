package dev.warpwright.store.jdbc;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps readers from showing what a power cut could still take back.
 *
 * <p>A commit is visible to other connections a moment before it is durable. Who has read waits
 * here until every commit that it may have seen is durable, or has failed and been settled.
 */
final class CommitFence {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition settled = lock.newCondition();
  private final AtomicLong begun = new AtomicLong();
  private volatile long durable; // written under lock

  /** Called by the journal before it commits. */
  void begin() {
    begun.incrementAndGet();
  }

  /** Called by the journal when nothing is open any more. */
  void settle() {
    lock.lock();
    try {
      durable = begun.get();
      settled.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits, not interruptibly, for the commits begun so far; false if the patience was over first.
   */
  boolean await(Patience patience) {
    long seen = begun.get();
    if (durable >= seen) {
      return true;
    }
    boolean interrupted = false;
    lock.lock();
    try {
      while (durable < seen) {
        long nanos = patience.nextNanos();
        if (nanos <= 0) {
          return false;
        }
        try {
          var _ = settled.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      return true;
    } finally {
      lock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
