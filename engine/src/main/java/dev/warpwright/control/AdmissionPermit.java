package dev.warpwright.control;

/**
 * A place among the calls of a target that are in flight. Thread-safe; no method blocks, so that a
 * shared backend does on threads of its own whatever takes long.
 */
public interface AdmissionPermit extends AutoCloseable {

  /**
   * Puts the tokens that the provider reported in place of those that were estimated. The first
   * report counts, before the permit is closed and in the minute window in which it was given; any
   * other changes nothing. A call whose usage is not known keeps what was estimated.
   *
   * @param totalTokens input and output, zero or more
   * @throws dev.warpwright.model.InvalidRequestException if it is negative
   */
  void reconcile(long totalTokens);

  /**
   * Gives the place back to the first request that waits for it. Idempotent. The request stays
   * counted in its minute window.
   */
  @Override
  void close();
}
