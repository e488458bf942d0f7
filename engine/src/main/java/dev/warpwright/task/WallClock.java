package dev.warpwright.task;

import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * What the wall clock said at an instant of the monotonic one, to tell the wall-clock time of
 * instants around it: to read the one clock takes twice as long as to read the other. A wall clock
 * that is set is heard of within a second.
 */
record WallClock(Instant now, long nanoTime) {
  private static final long OLD_NANOS = TimeUnit.SECONDS.toNanos(1);

  static WallClock read(TimeSource time) {
    return new WallClock(time.now(), time.nanoTime());
  }

  boolean isOld(long nowNanoTime) {
    long age = nowNanoTime - nanoTime;
    return age < 0 || age > OLD_NANOS;
  }

  Instant at(long atNanoTime) {
    return now.plusNanos(atNanoTime - nanoTime);
  }
}
