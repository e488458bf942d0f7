package dev.warpwright.store.jdbc;

import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.util.concurrent.TimeUnit;

/** How long one call goes on waiting: until its deadline, and a grace after that. */
final class Patience {
  /** How often a waiting thread looks at its deadline, which may be on a test's own clock. */
  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Deadline deadline;
  private final long graceNanos;
  private final TimeSource time;
  private boolean late;
  private long lateSince;

  Patience(Deadline deadline, long graceNanos, TimeSource time) {
    this.deadline = deadline;
    this.graceNanos = graceNanos;
    this.time = time;
  }

  /** How long to wait before the next look; zero or less if it is over. */
  long nextNanos() {
    long left = deadline.remainingNanos();
    if (left == 0) {
      if (!late) {
        late = true;
        lateSince = time.nanoTime();
      }
      left = graceNanos - (time.nanoTime() - lateSince);
    }
    return Math.min(left, CHECK_NANOS);
  }
}
