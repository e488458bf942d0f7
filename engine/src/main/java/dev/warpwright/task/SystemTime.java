package dev.warpwright.task;

import java.security.SecureRandom;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/** The real clocks, and a thread around a {@link TimerWheel}. See {@link TimeSource#system()}. */
final class SystemTime implements TimeSource {
  /** Sets this process apart: the JDK's thread-local generators are seeded from the clock alone. */
  private static final long PROCESS_SALT = new SecureRandom().nextLong();

  private static final RandomGenerator RANDOM =
      () -> ThreadLocalRandom.current().nextLong() ^ PROCESS_SALT;

  static final SystemTime INSTANCE = new SystemTime();

  private final TimerWheel wheel = new TimerWheel(System.nanoTime(), SystemTime::wakeTimer);

  private SystemTime() {}

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Instant now() {
    return Instant.now();
  }

  @Override
  public Alarm alarm(long atNanoTime, Runnable action) {
    return wheel.arm(atNanoTime, Objects.requireNonNull(action, "action"));
  }

  @Override
  public RandomGenerator random() {
    return RANDOM;
  }

  @Override
  public String toString() {
    return "system time";
  }

  /** The number of armed alarms of the whole process. */
  int pendingAlarms() {
    return wheel.pending();
  }

  private static void wakeTimer() {
    LockSupport.unpark(Timer.THREAD);
  }

  private void runTimer() {
    while (true) {
      Runnable action;
      while ((action = wheel.pollDue(System.nanoTime())) != null) {
        run(action);
      }
      long nanos = wheel.planWake(System.nanoTime());
      if (nanos == Long.MAX_VALUE) {
        LockSupport.park(wheel);
      } else if (nanos > 0) {
        LockSupport.parkNanos(wheel, nanos);
      }
      Thread.interrupted(); // not ours to obey, and while it is set no park waits
    }
  }

  /** Runs an action so that one that throws does not take the timer of the process with it. */
  private static void run(Runnable action) {
    try {
      action.run();
    } catch (Throwable thrown) {
      Thread timer = Thread.currentThread();
      timer.getUncaughtExceptionHandler().uncaughtException(timer, thrown);
    }
  }

  /** Starts the thread when the first alarm needs it. */
  private static final class Timer {
    static final Thread THREAD =
        Thread.ofPlatform()
            .name("warpwright-timer")
            .daemon()
            .inheritInheritableThreadLocals(false)
            .unstarted(INSTANCE::runTimer);

    static {
      THREAD.setContextClassLoader(null); // it outlives the first caller's application
      THREAD.start();
    }
  }
}
