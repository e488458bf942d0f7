package dev.warpwright.task;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An instant on the monotonic clock of a {@link TimeSource} until which something may take.
 *
 * <p>A deadline is fixed when it is made and handed down; every wait takes what remains of it. So
 * the waits of one operation cannot add up to more than the operation was given:
 *
 * <pre>{@code
 * Deadline operation = Deadline.after(time, Duration.ofMinutes(10));
 * Deadline attempt = Deadline.after(time, Duration.ofMinutes(2)).earlier(operation);
 * }</pre>
 *
 * <p>Immutable. Two deadlines are equal if they are the same instant of the same time source.
 */
public final class Deadline {
  private static final Deadline NEVER = new Deadline(null, 0);

  /** Half the range of the clock: whatever is farther away cannot be told from the past. */
  private static final long HORIZON_NANOS = Long.MAX_VALUE / 2;

  private final @Nullable TimeSource time; // null: never
  private final long atNanoTime;

  private Deadline(@Nullable TimeSource time, long atNanoTime) {
    this.time = time;
    this.atNanoTime = atNanoTime;
  }

  /**
   * The deadline a given time from now.
   *
   * @param time whose monotonic clock counts
   * @param duration how long from now; zero and negative ones have passed at once, and 146 years or
   *     more (half the range of the clock) are {@link #never()}
   * @return the deadline
   */
  public static Deadline after(TimeSource time, Duration duration) {
    return after(time, time.nanoTime(), duration);
  }

  /**
   * The deadline a given time after an instant that was read just now, for whoever needs the
   * instant too.
   *
   * @param time whose monotonic clock counts
   * @param nanoTime the instant, on that clock
   * @param duration how long from then, as for {@link #after(TimeSource, Duration)}
   * @return the deadline
   */
  public static Deadline after(TimeSource time, long nanoTime, Duration duration) {
    Objects.requireNonNull(time, "time");
    return in(time, nanoTime, duration.isNegative() ? 0 : saturatedNanos(duration));
  }

  /**
   * The deadline that does not pass.
   *
   * @return the one instance
   */
  public static Deadline never() {
    return NEVER;
  }

  /** The deadline {@code nanos} ≥ 0 from now. */
  static Deadline in(TimeSource time, long nanos) {
    return in(time, time.nanoTime(), nanos);
  }

  private static Deadline in(TimeSource time, long nanoTime, long nanos) {
    return nanos >= HORIZON_NANOS ? NEVER : new Deadline(time, nanoTime + nanos);
  }

  /** A non-negative duration in nanoseconds, cut to what a long holds. */
  static long saturatedNanos(Duration duration) {
    return duration.toSeconds() >= Long.MAX_VALUE / 1_000_000_000
        ? Long.MAX_VALUE
        : duration.toNanos();
  }

  /**
   * What is left.
   *
   * @return the time until this deadline, zero if it has passed; for {@link #never()}
   *     2<sup>63</sup> − 1 ns, about 292 years
   */
  public Duration remaining() {
    return Duration.ofNanos(remainingNanos());
  }

  /**
   * What is left, in nanoseconds.
   *
   * @return the time until this deadline, 0 if it has passed, {@link Long#MAX_VALUE} for {@link
   *     #never()}
   */
  public long remainingNanos() {
    return time == null ? Long.MAX_VALUE : Math.max(0, atNanoTime - time.nanoTime());
  }

  /**
   * Whether the clock has reached this deadline.
   *
   * @return true from the instant itself on; never for {@link #never()}
   */
  public boolean hasPassed() {
    return time != null && atNanoTime - time.nanoTime() <= 0;
  }

  /** Whether it has passed at an instant of just now, of a time source that is mostly its own. */
  boolean hasPassedAt(TimeSource other, long nanoTime) {
    boolean own = time != null && time.equals(other);
    return own ? atNanoTime - nanoTime <= 0 : hasPassed();
  }

  /**
   * The one of two deadlines that passes first. Deadlines of different time sources are compared by
   * what remains of each now.
   *
   * @param other the other one
   * @return this or the other; this if they are the same instant
   */
  public Deadline earlier(Deadline other) {
    if (other.time == null) {
      return this;
    }
    if (time == null) {
      return other;
    }
    if (time.equals(other.time)) {
      return other.atNanoTime - atNanoTime < 0 ? other : this;
    }
    return other.remainingNanos() < remainingNanos() ? other : this;
  }

  /**
   * Whether this is {@link #never()}.
   *
   * @return true if this deadline does not pass
   */
  public boolean isNever() {
    return time == null;
  }

  /** Arms an alarm for this deadline, or none if it is never. */
  @Nullable Alarm alarm(Runnable action) {
    return time == null ? null : time.alarm(atNanoTime, action);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Deadline that
        && Objects.equals(time, that.time)
        && atNanoTime == that.atNanoTime;
  }

  @Override
  public int hashCode() {
    return 31 * Objects.hashCode(time) + Long.hashCode(atNanoTime);
  }

  @Override
  public String toString() {
    if (time == null) {
      return "never";
    }
    return hasPassed() ? "passed" : "in " + remaining();
  }
}
