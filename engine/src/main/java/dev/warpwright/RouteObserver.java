package dev.warpwright;

/**
 * Is told when a target wins a step of an operation: the first time, and whenever it changes.
 *
 * <p>Best effort: nobody waits for it, in any {@link ObserverMode}. It runs on a virtual thread of
 * its own that is interrupted when the observer timeout passes or the caller cancels the operation;
 * what it throws is counted and changes nothing.
 */
@FunctionalInterface
public interface RouteObserver {
  /**
   * A target won.
   *
   * @param selection which, and how it came to it
   */
  void onRoute(RouteSelection selection);
}
