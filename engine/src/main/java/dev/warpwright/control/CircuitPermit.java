package dev.warpwright.control;

import java.time.Duration;
import java.util.Optional;

/**
 * A call that a {@link CircuitBreaker} has let through. Whoever holds it says once how the call
 * ended:
 *
 * <pre>{@code
 * try (permit) {
 *   ModelResponse response = call(target);
 *   permit.success();
 *   return response;
 * } catch (ProviderException e) {
 *   if (CircuitBreaker.isHealthFailure(e)) {
 *     permit.failure(e.retryAfter());
 *   }
 *   throw e;
 * }
 * }</pre>
 *
 * <p>Only the first end counts, and only as long as the circuit has not changed its state since:
 * the late result of a call from before closes nothing, opens nothing and is not counted. But a
 * failure that arrives during a cooldown may lengthen it.
 *
 * <p>A permit that is never closed is a call that never ends: as a probe it keeps its place, and
 * its target keeps its place in the table. Safe for use by any thread; no method throws or, with a
 * local breaker, blocks.
 */
public non-sealed interface CircuitPermit extends CircuitDecision, AutoCloseable {
  /**
   * The call succeeded: the count of failures goes back to 0, and a probe closes the circuit. For a
   * stream that is its complete end, not its first event.
   */
  void success();

  /**
   * The call failed, and the target is to blame: it is counted and may open the circuit; a probe
   * opens it again. For a stream that breaks or goes idle after its first output too, whatever the
   * kind of the failure.
   *
   * @param retryAfter how long the provider asks to wait
   */
  void failure(Optional<Duration> retryAfter);

  /**
   * If nothing was said, the call ended in a way that tells nothing of the target: it was
   * cancelled, denied, answered from a cache, cut off by the operation's deadline, or the caller
   * was wrong. Nothing is counted; a probe gives its place to the next.
   */
  @Override
  void close();
}
