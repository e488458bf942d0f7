package dev.warpwright.store.jdbc;

import dev.warpwright.task.Alarm;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;

/** The system's time, with a wall clock that is wrong by an amount which may change. */
final class ShiftedTime implements TimeSource {
  private final TimeSource system = TimeSource.system();
  private volatile Duration shift;

  ShiftedTime(Duration shift) {
    this.shift = shift;
  }

  /** Sets the clock, forward or back. */
  void shift(Duration shift) {
    this.shift = shift;
  }

  /** Sets the clock so that it is about this time. */
  void set(Instant now) {
    shift = Duration.between(system.now(), now);
  }

  @Override
  public Instant now() {
    return system.now().plus(shift);
  }

  @Override
  public long nanoTime() {
    return system.nanoTime();
  }

  @Override
  public Alarm alarm(long atNanoTime, Runnable action) {
    return system.alarm(atNanoTime, action);
  }

  @Override
  public RandomGenerator random() {
    return system.random();
  }
}
