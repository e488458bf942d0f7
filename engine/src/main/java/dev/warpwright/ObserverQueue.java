package dev.warpwright;

import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Observer calls that are made one after the other, in order, without anybody waiting for them.
 *
 * <p>While there are calls, one detached task makes them, each as a task of its own that is given
 * up after the timeout; without calls there is no thread.
 */
final class ObserverQueue {
  /** Its calls are bounded one by one. */
  private static final Duration UNBOUNDED = ChronoUnit.FOREVER.getDuration();

  private final TaskTree tree;
  private final String name;
  private final int capacity;
  private final Duration timeout;
  private final ReentrantLock lock = new ReentrantLock();

  /** The first is being made and holds its place until it has ended. Guarded by lock. */
  private final Queue<ObserverCall> calls = new ArrayDeque<>();

  private boolean draining; // guarded by lock

  ObserverQueue(TaskTree tree, String name, int capacity, Duration timeout) {
    this.tree = tree;
    this.name = name;
    this.capacity = capacity;
    this.timeout = timeout;
  }

  /** Whether there was room for the call: fewer than the capacity wait or are being made. */
  boolean offer(ObserverCall call) {
    return add(call, capacity);
  }

  /** Takes the call however many there are; false if there is no thread to make it. */
  boolean add(ObserverCall call) {
    return add(call, Integer.MAX_VALUE);
  }

  private boolean add(ObserverCall call, int limit) {
    boolean begin;
    lock.lock();
    try {
      if (calls.size() >= limit) {
        return false;
      }
      calls.add(call);
      begin = !draining;
      draining = true;
    } finally {
      lock.unlock();
    }
    return !begin || tree.detach("observers", name, UNBOUNDED, this::drain) || giveUp(call);
  }

  /** There is no thread now; the next call tries again. */
  private boolean giveUp(ObserverCall call) {
    lock.lock();
    try {
      draining = false;
      return !calls.remove(call);
    } finally {
      lock.unlock();
    }
  }

  private void drain() {
    try (TaskScope scope = tree.open("observers", "queue")) {
      for (ObserverCall call = next(); call != null; call = next()) {
        Outcome<?> outcome =
            scope.call("observer", call.name(), Deadline.after(tree.time(), timeout), call::make);
        leave(); // before a flush that waits for the call hears of its end
        call.ended(outcome);
      }
    }
  }

  /** The first call gives up its place. */
  private void leave() {
    lock.lock();
    try {
      var _ = calls.remove();
    } finally {
      lock.unlock();
    }
  }

  private @Nullable ObserverCall next() {
    lock.lock();
    try {
      ObserverCall call = calls.peek();
      draining = call != null;
      return call;
    } finally {
      lock.unlock();
    }
  }
}
