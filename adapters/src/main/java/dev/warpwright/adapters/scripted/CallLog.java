package dev.warpwright.adapters.scripted;

import dev.warpwright.model.ModelCall;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Counts and keeps the calls of a {@link ScriptedModel}. */
final class CallLog {
  private static final int KEPT = 100;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<ModelCall> last = new ArrayDeque<>(); // guarded by lock
  private long begun; // guarded by lock
  private long running; // guarded by lock

  long begin(ModelCall call) {
    lock.lock();
    try {
      begun++;
      running++;
      if (last.size() == KEPT) {
        last.removeFirst();
      }
      last.addLast(call);
      changed.signalAll();
      return begun;
    } finally {
      lock.unlock();
    }
  }

  void end() {
    lock.lock();
    try {
      running--;
    } finally {
      lock.unlock();
    }
  }

  long begun() {
    lock.lock();
    try {
      return begun;
    } finally {
      lock.unlock();
    }
  }

  long running() {
    lock.lock();
    try {
      return running;
    } finally {
      lock.unlock();
    }
  }

  List<ModelCall> last() {
    lock.lock();
    try {
      return List.copyOf(last);
    } finally {
      lock.unlock();
    }
  }

  void awaitBegun(long count, Duration timeout) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long nanos = timeout.toNanos();
      while (begun < count) {
        if (nanos <= 0) {
          throw new IllegalStateException(
              "Within " + timeout + " only " + begun + " of " + count + " calls have begun.");
        }
        nanos = changed.awaitNanos(nanos);
      }
    } finally {
      lock.unlock();
    }
  }
}
