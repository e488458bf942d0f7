package dev.warpwright;

import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Work that no operation waits for but a flush may: each piece is a detached task that is given up
 * after its time.
 */
final class DetachedWork {
  /** The outer task only waits for the inner one, which is bounded. */
  private static final Duration UNBOUNDED = ChronoUnit.FOREVER.getDuration();

  private final TaskTree tree;
  private final Set<Object> pending = ConcurrentHashMap.newKeySet();
  private final Set<TaskScope> flushing = ConcurrentHashMap.newKeySet();

  DetachedWork(TaskTree tree) {
    this.tree = tree;
  }

  /**
   * Starts a piece of work.
   *
   * @param onEnd is told how it ended, before it stops being pending
   */
  void start(String name, Duration timeout, Runnable work, Consumer<Outcome<?>> onEnd) {
    Object piece = begin();
    tree.detach(
        "background",
        name,
        UNBOUNDED,
        () -> {
          try (TaskScope scope = tree.open("background", name)) {
            onEnd.accept(
                scope.call(
                    "background",
                    name,
                    Deadline.after(tree.time(), timeout),
                    () -> {
                      work.run();
                      return true;
                    }));
          } finally {
            end(piece);
          }
        });
  }

  /** Something that is pending until it {@link #end ends}, wherever it is done. */
  Object begin() {
    Object piece = new Object();
    pending.add(piece);
    return piece;
  }

  void end(Object piece) {
    pending.remove(piece);
    flushing.forEach(TaskScope::wake);
  }

  int pending() {
    return pending.size();
  }

  TimeSource time() {
    return tree.time();
  }

  /** Waits for what is pending now; whether it ended in time. */
  boolean flush(Duration atMost) {
    List<Object> batch = List.copyOf(pending);
    try (TaskScope scope = tree.open("flush", "flush")) {
      flushing.add(scope);
      try {
        return scope.await(
            () -> batch.stream().noneMatch(pending::contains), Deadline.after(tree.time(), atMost));
      } finally {
        flushing.remove(scope);
      }
    }
  }
}
