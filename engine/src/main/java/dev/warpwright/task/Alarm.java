package dev.warpwright.task;

/**
 * The handle of one armed alarm of a {@link TimeSource}.
 *
 * <p>Safe for use by any thread. An alarm that has fired or was cancelled holds on to nothing: the
 * timer forgets it and it forgets its action.
 */
public interface Alarm {

  /**
   * Cancels the alarm, in constant time whatever else is pending.
   *
   * <p>Idempotent: once it has returned {@code true} it returns {@code true} for ever.
   *
   * @return true if the action has not run and will not run; false if it has run, is running or is
   *     about to
   */
  boolean cancel();
}
