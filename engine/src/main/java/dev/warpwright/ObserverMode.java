package dev.warpwright;

/**
 * Who waits for attempt observers. In every mode each call has a virtual thread of its own, is
 * bounded by the observer timeout, and comes in the order of the attempts.
 */
public enum ObserverMode {
  /** Nobody: the operation goes on at once, and its observers follow one after the other. */
  DETACHED,
  /** The operation, for at most the observer timeout for each attempt. */
  AWAIT,
  /**
   * Nobody: the calls of all operations wait in one queue and are made one after the other. When
   * the queue is full, the newest is dropped and counted.
   */
  BACKGROUND
}
