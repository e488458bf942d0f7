package dev.warpwright;

import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Whether a gateway is open, and how many operations it has under way: what they use may be given
 * back when it is closed and the last of them has ended.
 */
final class Lifecycle {
  private static final long CLOSED = Long.MIN_VALUE;

  /** The operations under way; the sign bit says that no more may begin. */
  private final AtomicLong state = new AtomicLong();

  private volatile boolean finished;
  private final Set<TaskScope> waiting = ConcurrentHashMap.newKeySet();

  /** Whether an operation may begin; it must {@link #end} then. */
  boolean begin() {
    for (long now = state.get(); now >= 0; now = state.get()) {
      if (state.compareAndSet(now, now + 1)) {
        return true;
      }
    }
    return false;
  }

  /**
   * An operation begins inside another one that is under way: also after a close, which waits for
   * the other one. It must {@link #end} too.
   */
  void beginInside() {
    state.incrementAndGet();
  }

  /**
   * An operation ended; whether it was the last one of a closed gateway, which must {@link
   * #finish}.
   */
  boolean end() {
    return state.decrementAndGet() == CLOSED;
  }

  /** All that there was to close is closed. */
  void finish() {
    finished = true;
    waiting.forEach(TaskScope::wake);
  }

  /**
   * Lets nothing begin any more; whether this was the first close, and nothing is under way, so
   * that the caller must {@link #finish}.
   */
  boolean close() {
    return state.getAndUpdate(now -> now | CLOSED) == 0;
  }

  /** Waits for the operations that are under way, and for what is closed after them. */
  void awaitEnd(TaskTree tree, Deadline deadline) {
    if (finished || deadline.hasPassed()) {
      return;
    }
    try (TaskScope scope = tree.open("close", "close of the gateway")) {
      waiting.add(scope);
      scope.await(() -> finished, deadline);
      waiting.remove(scope);
    }
  }
}
