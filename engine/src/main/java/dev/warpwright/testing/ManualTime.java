package dev.warpwright.testing;

import dev.warpwright.task.Alarm;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Time that stands still until a test moves it.
 *
 * <pre>{@code
 * ManualTime time = new ManualTime();
 * Thread waiting = Thread.startVirtualThread(() -> backOff(time, Duration.ofMinutes(1)));
 * time.awaitAlarms(1); // it waits now
 * time.advance(Duration.ofMinutes(1)); // and is woken
 * waiting.join();
 * }</pre>
 *
 * <p>The monotonic clock starts one second before it wraps around, so that code which compares
 * instants instead of differences fails in its tests and not after 292 years. Randomness is seeded.
 *
 * <p>Safe for use by any thread.
 */
public final class ManualTime implements TimeSource {
  private static final long ORIGIN = Long.MAX_VALUE - 1_000_000_000L;
  private static final long PATIENCE_SECONDS = 10;

  private final Instant start;
  private final Random random; // itself safe for use by any thread
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Queue<Entry> alarms = // guarded by lock
      new PriorityQueue<>(
          Comparator.<Entry>comparingLong(entry -> entry.atNanos)
              .thenComparingLong(entry -> entry.number));
  private long elapsedNanos; // guarded by lock; the one state of both clocks
  private long numbers; // guarded by lock

  /** Time that starts at noon UTC on 1 January 2026, with seed 1. */
  public ManualTime() {
    this(Instant.parse("2026-01-01T12:00:00Z"), 1);
  }

  /**
   * Time that starts at a given instant.
   *
   * @param start what {@link #now()} says until time is moved
   * @param seed the seed of {@link #random()}
   */
  public ManualTime(Instant start, long seed) {
    this.start = Objects.requireNonNull(start, "start");
    this.random = new Random(seed);
  }

  @Override
  public long nanoTime() {
    return ORIGIN + elapsed();
  }

  @Override
  public Instant now() {
    return start.plusNanos(elapsed());
  }

  /**
   * Arms an alarm. It runs in {@link #advance}, on the thread that calls that, when its instant is
   * reached; also one that is due already does not run before.
   */
  @Override
  public Alarm alarm(long atNanoTime, Runnable action) {
    Objects.requireNonNull(action, "action");
    lock.lock();
    try {
      long ahead = Math.max(0, atNanoTime - (ORIGIN + elapsedNanos));
      long at = elapsedNanos > Long.MAX_VALUE - ahead ? Long.MAX_VALUE : elapsedNanos + ahead;
      Entry entry = new Entry(at, numbers++, action);
      alarms.add(entry);
      changed.signalAll();
      return entry;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The one seeded generator; it may be shared. The order of its calls decides what they return.
   */
  @Override
  public RandomGenerator random() {
    return random;
  }

  /**
   * Moves both clocks forward and runs what falls due on the way, in the order of the instants and
   * of arming, each with the clocks at its instant. What the actions arm and what is armed
   * meanwhile is included if it is due.
   *
   * <p>It does not wait for threads that the actions wake; {@link #awaitAlarms} does.
   *
   * @param duration how far; zero runs what is due now
   * @throws IllegalArgumentException if it is negative
   */
  public void advance(Duration duration) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException("time does not go back: " + duration);
    }
    long target = Math.addExact(elapsed(), duration.toNanos());
    Runnable action;
    while ((action = moveToNextDue(target)) != null) {
      action.run();
    }
  }

  /**
   * Waits until so many alarms are armed, for at most 10 s of real time: the way to know that the
   * threads of a test have come to their waits.
   *
   * @param count how many at least
   * @throws IllegalStateException if it takes longer; the message names the alarms that are pending
   * @throws InterruptedException if the calling thread is interrupted
   */
  public void awaitAlarms(int count) throws InterruptedException {
    await(count + " alarms", () -> alarms.size() >= count);
  }

  /**
   * Waits until an alarm is armed that is due in exactly this time from now, for at most 10 s of
   * real time: the way to know that a thread has come to a wait of known length, such as a backoff,
   * whatever else is timed.
   *
   * @param ahead how far ahead it is due, to the nanosecond
   * @throws IllegalStateException if it takes longer; the message names the alarms that are pending
   * @throws InterruptedException if the calling thread is interrupted
   */
  public void awaitAlarmIn(Duration ahead) throws InterruptedException {
    long aheadNanos = ahead.toNanos();
    await(
        "an alarm in " + ahead,
        () -> alarms.stream().anyMatch(entry -> entry.atNanos - elapsedNanos == aheadNanos));
  }

  /**
   * Waits for what an armed alarm or the passing of time may bring about; the condition is asked
   * under the lock.
   */
  private void await(String what, BooleanSupplier condition) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long nanos = TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
      while (!condition.getAsBoolean()) {
        if (nanos <= 0) {
          throw new IllegalStateException(
              "waited %d s for %s; pending: %s".formatted(PATIENCE_SECONDS, what, names()));
        }
        nanos = changed.awaitNanos(nanos);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * How many alarms are armed.
   *
   * @return the number at this moment
   */
  public int pendingAlarms() {
    lock.lock();
    try {
      return alarms.size();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String toString() {
    lock.lock();
    try {
      return "manual time " + Duration.ofNanos(elapsedNanos) + " after its start " + names();
    } finally {
      lock.unlock();
    }
  }

  private long elapsed() {
    lock.lock();
    try {
      return elapsedNanos;
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Runnable moveToNextDue(long target) {
    lock.lock();
    try {
      changed.signalAll();
      Entry next = alarms.peek();
      if (next == null || next.atNanos > target) {
        elapsedNanos = Math.max(elapsedNanos, target);
        return null;
      }
      elapsedNanos = Math.max(elapsedNanos, next.atNanos);
      alarms.remove();
      next.fired = true;
      return next.action;
    } finally {
      lock.unlock();
    }
  }

  private String names() {
    return alarms.stream()
        .sorted(Comparator.comparingLong(entry -> entry.atNanos))
        .map(entry -> "in " + Duration.ofNanos(entry.atNanos - elapsedNanos) + ": " + entry.action)
        .collect(Collectors.joining(", ", "[", "]"));
  }

  private final class Entry implements Alarm {
    final long atNanos;
    final long number;
    final Runnable action;
    boolean fired; // guarded by lock

    Entry(long atNanos, long number, Runnable action) {
      this.atNanos = atNanos;
      this.number = number;
      this.action = action;
    }

    @Override
    public boolean cancel() {
      lock.lock();
      try {
        alarms.remove(this);
        return !fired;
      } finally {
        lock.unlock();
      }
    }
  }
}
