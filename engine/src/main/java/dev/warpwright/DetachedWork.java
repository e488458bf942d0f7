package dev.warpwright;

import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.function.Consumer;

/**
 * Work that no operation waits for but a flush may: each piece is a detached task that is given up
 * after its time.
 */
final class DetachedWork {
  /** The outer task only waits for the inner one, which is bounded. */
  private static final Duration UNBOUNDED = ChronoUnit.FOREVER.getDuration();

  private final TaskTree tree;
  private final Pending pending;

  DetachedWork(TaskTree tree, String flushName) {
    this.tree = tree;
    this.pending = new Pending(tree, flushName);
  }

  /**
   * Starts a piece of work.
   *
   * @param onEnd is told how it ended, before it stops being pending
   */
  void start(String name, Duration timeout, Runnable work, Consumer<Outcome<?>> onEnd) {
    Object piece = pending.begin();
    boolean started =
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
                pending.end(piece);
              }
            });
    if (!started) {
      pending.end(piece);
    }
  }

  int pending() {
    return pending.count();
  }

  TimeSource time() {
    return tree.time();
  }

  boolean flush(Duration atMost) {
    return pending.flush(atMost);
  }
}
