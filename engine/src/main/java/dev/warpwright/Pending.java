package dev.warpwright;

import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What has begun and not ended yet, and that no operation waits for; a flush may. */
final class Pending {
  private final TaskTree tree;
  private final String flushName;
  private final Set<Object> pieces = ConcurrentHashMap.newKeySet();
  private final Set<TaskScope> flushing = ConcurrentHashMap.newKeySet();

  /**
   * Nothing yet.
   *
   * @param flushName the name of the scope of whoever waits
   */
  Pending(TaskTree tree, String flushName) {
    this.tree = tree;
    this.flushName = flushName;
  }

  /** A new piece of work. */
  Object begin() {
    Object piece = new Object();
    begin(piece);
    return piece;
  }

  /** A piece of work that is told from others by its identity. */
  void begin(Object piece) {
    pieces.add(piece);
  }

  void end(Object piece) {
    pieces.remove(piece);
    flushing.forEach(TaskScope::wake);
  }

  int count() {
    return pieces.size();
  }

  /** Waits for what is pending now, and not for what begins later; whether it ended in time. */
  boolean flush(Duration atMost) {
    List<Object> batch = List.copyOf(pieces);
    try (TaskScope scope = tree.open("flush", flushName)) {
      flushing.add(scope);
      try {
        return scope.await(
            () -> batch.stream().noneMatch(pieces::contains), Deadline.after(tree.time(), atMost));
      } finally {
        flushing.remove(scope);
      }
    }
  }
}
