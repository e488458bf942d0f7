package dev.warpwright;

import dev.warpwright.model.Attempt;

/**
 * Is told of every entry of an operation's attempt list, skips too, once each and in the order of
 * the list.
 *
 * <p>Best effort: {@link ObserverMode} says on which thread and who waits for it. A call is
 * interrupted when the observer timeout passes or the caller cancels the operation; what it throws
 * is counted and changes nothing. A callback that computes without looking at its interrupt cannot
 * be stopped; it is left behind and listed in {@link Diagnostics#abandonedTasks()}.
 */
@FunctionalInterface
public interface AttemptObserver {
  /**
   * An attempt ended, or a target was skipped.
   *
   * @param operationId the operation
   * @param attempt what became of it; holds no prompt, output or secret
   */
  void onAttempt(String operationId, Attempt attempt);
}
