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

  /** An operation ended; whether it was the last one of a closed gateway. */
  boolean end() {
    boolean last = state.decrementAndGet() == CLOSED;
    if (last) {
      waiting.forEach(TaskScope::wake);
    }
    return last;
  }

  /** Lets nothing begin any more; whether this was the first close, and nothing is under way. */
  boolean close() {
    return state.getAndUpdate(now -> now | CLOSED) == 0;
  }

  /** Waits for the operations that are under way. */
  void awaitEnd(TaskTree tree, Deadline deadline) {
    if (state.get() == CLOSED || deadline.hasPassed()) {
      return;
    }
    try (TaskScope scope = tree.open("close", "close of the gateway")) {
      waiting.add(scope);
      scope.await(() -> state.get() == CLOSED, deadline);
      waiting.remove(scope);
    }
  }
}
