package dev.warpwright.task;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/**
 * Where time, timers and randomness come from: the one seam that makes waiting testable.
 *
 * <p>Programs use {@link #system()}; tests use {@code dev.warpwright.testing.ManualTime}, on which
 * an hour of backoff takes no time. Implementations are safe for use by any thread.
 */
public interface TimeSource {

  /**
   * Reads the monotonic clock, in nanoseconds.
   *
   * <p>Only differences mean anything, and the value may wrap around: compare {@code a - b < 0},
   * never {@code a < b}, as with {@link System#nanoTime()}.
   *
   * @return the monotonic time
   */
  long nanoTime();

  /**
   * Reads the wall clock. For stamps that people and other processes read; never for measuring.
   *
   * @return the current instant
   */
  Instant now();

  /**
   * Arms an alarm: runs an action once, on the timer's thread, when the monotonic clock has reached
   * an instant. Never earlier; later by at most one tick of the timer (about 1 ms on the system's)
   * and the time that the thread needs to wake up. Alarms that are due in the same tick run in no
   * particular order.
   *
   * <p>Constant time, as is {@link Alarm#cancel()}, also with a million alarms pending.
   *
   * @param atNanoTime when, on {@link #nanoTime()}'s scale; an instant in the past is due at once
   * @param action what to run. It holds up every other alarm: it must be short, must not block,
   *     must not run foreign code and must not throw. Unparking a thread or setting a flag is right
   * @return the handle that cancels it
   */
  Alarm alarm(long atNanoTime, Runnable action);

  /**
   * The source of jitter and of ids. Not for secrets.
   *
   * @return a generator for the calling thread; do not keep it or hand it to another thread
   */
  RandomGenerator random();

  /**
   * Blocks the calling thread until a time has passed on this source's monotonic clock. A zero or
   * negative time returns at once.
   *
   * @param duration how long; more than 292 years are cut to that
   * @throws InterruptedException if the thread is interrupted before or while it waits; the flag is
   *     then cleared and the alarm is gone
   */
  default void sleep(Duration duration) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (!duration.isPositive()) {
      return;
    }
    long at = nanoTime() + Deadline.saturatedNanos(duration);
    Thread sleeper = Thread.currentThread();
    Alarm alarm = alarm(at, new Unpark(sleeper));
    try {
      while (at - nanoTime() > 0) {
        LockSupport.park(alarm);
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    } finally {
      alarm.cancel();
    }
  }

  /**
   * The real clocks of this JVM and one timer, shared by everything in the process: one daemon
   * platform thread, {@code warpwright-timer}, which starts with the first alarm and stays.
   *
   * @return the one instance
   */
  static TimeSource system() {
    return SystemTime.INSTANCE;
  }
}
