package dev.warpwright.control;

import java.time.Duration;

/**
 * One target's circuit at one moment: an immutable value and the one function that leads from each
 * to the next. Pure: "now" is an argument, on a monotonic clock that may wrap around.
 */
sealed interface Circuit {
  /*
   *            failureThreshold failures in a row
   *   CLOSED ────────────────────────────────────► OPEN ◄──┐ a probe fails
   *     ▲ a success sets the count back to 0        │      │
   *     │                           first call after │      │
   *     │       a probe succeeds    the cooldown     ▼      │
   *     └─────────────────────────────────────── HALF_OPEN ─┘
   *
   * Each arrow begins a new epoch. A call carries the epoch in which it was let through, and its
   * end counts in no other: else a slow success from before the trouble would close the circuit, or
   * a slow failure would end the probing. There is one exception: a failure that arrives during a
   * cooldown says that the trouble lasts, whenever its call began, and may lengthen that cooldown.
   *
   * No timer ends a cooldown: the first call after it does.
   */

  /** The state of a target that nothing is known of. */
  Circuit INITIAL = new Closed(0, 0, 0);

  /** Counts the changes of state. */
  long epoch();

  /** Whether it is closed without failures, so that no success changes it. */
  static boolean isUntroubled(Circuit circuit) {
    return circuit instanceof Closed closed && closed.failures == 0;
  }

  /**
   * Calls are let through.
   *
   * @param failures how many health failures there were since the last success
   * @param probesAtNanos when the longest of their cooldowns ends; means nothing without failures
   */
  record Closed(long epoch, int failures, long probesAtNanos) implements Circuit {}

  /**
   * Calls are refused.
   *
   * @param probesAtNanos when the cooldown ends
   */
  record Open(long epoch, long probesAtNanos) implements Circuit {
    boolean isCooling(long nowNanos) {
      return nowNanos - probesAtNanos < 0;
    }
  }

  /**
   * A few calls are let through to try the target out.
   *
   * @param probes how many of them are under way
   */
  record HalfOpen(long epoch, int probes) implements Circuit {}

  /** What happens to a circuit. */
  sealed interface Event {}

  /** A call asks to be let through. */
  record Acquire() implements Event {
    static final Acquire EVENT = new Acquire();
  }

  /**
   * A call that was let through succeeded.
   *
   * @param epoch when it was let through
   */
  record Success(long epoch) implements Event {}

  /**
   * A call that was let through failed, and it is the target's fault.
   *
   * @param epoch when it was let through
   * @param retryAfter the wait that the provider asks for, zero if it does not
   */
  record Failure(long epoch, Duration retryAfter) implements Event {}

  /**
   * A call that was let through ended in a way that says nothing of the target.
   *
   * @param epoch when it was let through
   */
  record Neutral(long epoch) implements Event {}

  /**
   * What a circuit becomes by an event.
   *
   * @return the next state; the same instance if nothing changes
   */
  static Circuit next(Circuit circuit, Event event, long nowNanos, CircuitPolicy policy) {
    return switch (circuit) {
      case Closed closed ->
          switch (event) {
            case Success(long epoch) when epoch == closed.epoch && closed.failures > 0 ->
                new Closed(closed.epoch, 0, 0);
            case Failure failure when failure.epoch == closed.epoch ->
                counted(closed, nowNanos + policy.cooldownNanos(failure.retryAfter), policy);
            case Acquire _, Success _, Failure _, Neutral _ -> closed;
          };
      case Open open ->
          switch (event) {
            case Acquire _ when !open.isCooling(nowNanos) -> new HalfOpen(open.epoch + 1, 1);
            case Failure failure when open.isCooling(nowNanos) ->
                lengthened(open, nowNanos + policy.cooldownNanos(failure.retryAfter));
            case Acquire _, Success _, Failure _, Neutral _ -> open;
          };
      case HalfOpen half ->
          switch (event) {
            case Acquire _ when half.probes < policy.halfOpenMaxProbes() ->
                new HalfOpen(half.epoch, half.probes + 1);
            case Success(long epoch) when epoch == half.epoch -> new Closed(half.epoch + 1, 0, 0);
            case Failure failure when failure.epoch == half.epoch ->
                new Open(half.epoch + 1, nowNanos + policy.cooldownNanos(failure.retryAfter));
            case Neutral(long epoch) when epoch == half.epoch ->
                new HalfOpen(half.epoch, half.probes - 1);
            case Acquire _, Success _, Failure _, Neutral _ -> half;
          };
    };
  }

  /** Whether the call whose {@link Acquire} led from one state to the next is let through. */
  static boolean isLetThrough(Circuit before, Circuit after) {
    return after instanceof Closed || !after.equals(before);
  }

  private static Circuit counted(Closed closed, long probesAtNanos, CircuitPolicy policy) {
    int failures = closed.failures + 1;
    long latest = closed.failures == 0 ? probesAtNanos : later(closed.probesAtNanos, probesAtNanos);
    return failures < policy.failureThreshold()
        ? new Closed(closed.epoch, failures, latest)
        : new Open(closed.epoch + 1, latest);
  }

  private static Circuit lengthened(Open open, long probesAtNanos) {
    return probesAtNanos - open.probesAtNanos > 0 ? new Open(open.epoch, probesAtNanos) : open;
  }

  private static long later(long oneNanos, long otherNanos) {
    return oneNanos - otherNanos > 0 ? oneNanos : otherNanos;
  }
}
