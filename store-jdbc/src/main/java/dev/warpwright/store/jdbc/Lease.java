package dev.warpwright.store.jdbc;

import dev.warpwright.task.Alarm;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Whether the store's runs are its own, as far as it can know without asking.
 *
 * <p>It counts on its monotonic clock, from the start of the last good renewal, and so ends before
 * it has ended for others. A fifth of its time before that, nothing may begin any more. Where no
 * other process can have the database, it has no end. Thread-safe.
 */
final class Lease {
  private static final int MARGIN_PART = 5;

  private final TimeSource time;
  private final long ttlNanos; // 0: without an end
  private final Runnable onLost;
  private final ReentrantLock lock = new ReentrantLock();
  private Worker worker = new Worker("", 0, 0); // guarded by lock
  private State state = State.LOST; // guarded by lock
  private long endNanos; // guarded by lock
  private @Nullable Alarm alarm; // guarded by lock

  private enum State {
    HELD,
    /** Another one can be taken. */
    LOST,
    /** A store was opened under the same name, or this one has closed. */
    OVER
  }

  /** A lease that nobody holds yet; {@code onLost} is called when it is lost, on any thread. */
  private Lease(TimeSource time, long ttlNanos, Runnable onLost) {
    this.time = time;
    this.ttlNanos = ttlNanos;
    this.onLost = onLost;
  }

  /** One that must be renewed. */
  static Lease of(Duration ttl, TimeSource time, Runnable onLost) {
    return new Lease(time, ttl.toNanos(), onLost);
  }

  /** One without an end. */
  static Lease unlimited(TimeSource time, Runnable onLost) {
    return new Lease(time, 0, onLost);
  }

  long ttlMillis() {
    return ttlNanos / 1_000_000;
  }

  /** Begins under an epoch that was never held; what was asked for at {@code startNanos}. */
  void begin(Worker held, long startNanos) {
    lock.lock();
    try {
      if (state == State.OVER) {
        return;
      }
      worker = held;
      state = State.HELD;
      endNanos = startNanos + ttlNanos;
    } finally {
      lock.unlock();
    }
    arm();
  }

  /** Goes on from {@code startNanos}; false if it had ended meanwhile. */
  boolean renew(long startNanos) {
    lock.lock();
    try {
      if (!holds()) {
        return false;
      }
      endNanos = startNanos + ttlNanos;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Called with the lock. */
  private boolean holds() {
    return state == State.HELD && (ttlNanos == 0 || endNanos - time.nanoTime() > 0);
  }

  Worker worker() {
    lock.lock();
    try {
      return worker;
    } finally {
      lock.unlock();
    }
  }

  /** Whether what this worker owns is its own. */
  boolean isHeldBy(Worker held) {
    lock.lock();
    try {
      return holds() && worker.equals(held);
    } finally {
      lock.unlock();
    }
  }

  /** Whether there is time enough for a worker to begin something. */
  boolean mayBegin(Worker held) {
    lock.lock();
    try {
      return holds()
          && worker.equals(held)
          && (ttlNanos == 0 || endNanos - time.nanoTime() > ttlNanos / MARGIN_PART);
    } finally {
      lock.unlock();
    }
  }

  /** Whether none will ever be held again. */
  boolean isOver() {
    lock.lock();
    try {
      return state == State.OVER;
    } finally {
      lock.unlock();
    }
  }

  /** Somebody took a worker's runs, or it cannot know; nothing happens if it is not held by it. */
  void lose(Worker held) {
    leave(State.LOST, held);
  }

  /** Somebody else is the worker now. */
  void end() {
    leave(State.OVER, worker());
  }

  private void leave(State next, Worker held) {
    boolean lost;
    lock.lock();
    try {
      if (state == State.OVER || !worker.equals(held)) {
        return;
      }
      lost = state == State.HELD;
      state = next;
    } finally {
      lock.unlock();
    }
    if (lost) {
      onLost.run();
    }
  }

  /** The store closes: nobody is told any more. */
  void close() {
    Alarm pending;
    lock.lock();
    try {
      state = State.OVER;
      pending = alarm;
    } finally {
      lock.unlock();
    }
    if (pending != null) {
      pending.cancel();
    }
  }

  /** Looks again at the end that is known now, which a renewal moves. */
  private void arm() {
    long at;
    lock.lock();
    try {
      if (state != State.HELD || ttlNanos == 0) {
        return;
      }
      at = endNanos;
    } finally {
      lock.unlock();
    }
    Alarm next = time.alarm(at, this::check);
    Alarm needless;
    lock.lock();
    try {
      needless = state == State.OVER ? next : alarm;
      alarm = next;
    } finally {
      lock.unlock();
    }
    if (needless != null) {
      needless.cancel();
    }
  }

  private void check() {
    Worker held = worker();
    if (isHeldBy(held)) {
      arm();
    } else {
      lose(held);
    }
  }
}
