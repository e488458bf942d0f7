package dev.warpwright.control;

import dev.warpwright.task.Alarm;
import dev.warpwright.task.TimeSource;
import java.time.Instant;
import java.util.Random;
import java.util.random.RandomGenerator;

/** Time that stands still and has no locks of its own that a model checker would explore. */
final class FrozenTime implements TimeSource {
  @Override
  public long nanoTime() {
    return 0;
  }

  @Override
  public Instant now() {
    return Instant.EPOCH;
  }

  @Override
  public Alarm alarm(long atNanoTime, Runnable action) {
    return () -> true; // never due
  }

  @Override
  public RandomGenerator random() {
    return new Random(1);
  }
}
