package dev.warpwright.control;

import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Target;
import dev.warpwright.task.TimeSource;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Keeps calls away from targets that are in trouble, and finds out when the trouble is over.
 *
 * <p>Each target, its deployment included, has a circuit of its own. It is CLOSED at first: calls
 * are let through and health failures are counted. After so many without a success it is OPEN:
 * every call is refused until a cooldown has ended, which is {@code min(maxCooldown, max(cooldown,
 * Retry-After))} after the failure, and the latest of these ends if there were several. Then it is
 * HALF_OPEN: a few calls at a time are let through as probes; the first success closes the circuit,
 * the first health failure opens it again.
 *
 * <pre>{@code
 * switch (breaker.tryAcquire(target)) {
 *   case CircuitPermit permit -> call(target, permit); // says how it ended, and closes it
 *   case CircuitRefusal refusal -> skip(target, refusal.earliestReturn());
 * }
 * }</pre>
 *
 * <p>No method waits for a circuit to close. Implementations are safe for use by any thread; one
 * over a shared backend makes the decision of {@link #tryAcquire} atomic there. They must not
 * throw: what one throws reaches the caller of the operation, since to call on would be to pass the
 * guard.
 */
public interface CircuitBreaker {
  /**
   * What is known of a target's circuit. Only a look: it takes no probe, changes nothing, and what
   * it says may have changed when the call is made.
   *
   * <p>The gateway calls it while it plans and between retries, on the operation's thread.
   *
   * @param target the target
   * @return its state; an open circuit whose cooldown has ended is half-open
   */
  CircuitState state(Target target);

  /**
   * Asks to let a call through. The gateway calls it right before each dispatch, on the operation's
   * thread.
   *
   * @param target the target
   * @return a permit, which the caller must close, or a refusal
   */
  CircuitDecision tryAcquire(Target target);

  /**
   * Whether a failure says that the target is unwell, so that it counts. Pure; it looks at kind,
   * status and structured code, never at a text.
   *
   * <p>It judges failures before the first output. Whatever breaks a stream after it is a health
   * failure.
   *
   * @param failure the failure
   * @return true for 408, 429, 500 and above (also inside a 200 response), connect and read
   *     failures and timeouts; false for everything else, and for an exhausted quota whatever its
   *     status
   */
  static boolean isHealthFailure(ProviderException failure) {
    if (failure.code().filter("insufficient_quota"::equals).isPresent()) {
      return false; // the account's trouble, not the target's
    }
    return switch (failure.kind()) {
      case HTTP_STATUS, PROVIDER_EVENT -> {
        int status = failure.status();
        yield status == 408 || status == 429 || status >= 500;
      }
      case CONNECT, READ, TIMEOUT -> true;
      case CONTEXT_LENGTH, PROTOCOL, TOOL_CALL, UNSUPPORTED, OTHER -> false;
    };
  }

  /**
   * A breaker that lets everything through.
   *
   * @return the one instance
   */
  static CircuitBreaker none() {
    return NoCircuitBreaker.INSTANCE;
  }

  /**
   * A breaker of this process, on the system's time.
   *
   * @param policy its numbers
   * @return a breaker whose circuits are all closed
   */
  static CircuitBreaker local(CircuitPolicy policy) {
    return local(policy, TimeSource.system());
  }

  /**
   * A breaker of this process.
   *
   * @param policy its numbers
   * @param time its clocks
   * @return a breaker whose circuits are all closed
   */
  static CircuitBreaker local(CircuitPolicy policy, TimeSource time) {
    return local(policy, time, transition -> {});
  }

  /**
   * A breaker of this process that reports each change of state.
   *
   * <p>It keeps the states of {@code maxTargets} targets. Beyond that a new target takes the place
   * of the one that was asked for least recently among those that are not open and have no call
   * under way; if there is none, the new target is refused. It shares nothing with other processes.
   *
   * @param policy its numbers
   * @param time its clocks
   * @param observer is told of each change on the thread that caused it, outside any lock: it must
   *     hand the work over and return. Changes that follow each other closely may arrive in another
   *     order. What it throws is dropped
   * @return a breaker whose circuits are all closed
   */
  static CircuitBreaker local(
      CircuitPolicy policy, TimeSource time, Consumer<? super CircuitTransition> observer) {
    return new LocalCircuitBreaker(
        Objects.requireNonNull(policy, "policy"),
        Objects.requireNonNull(time, "time"),
        Objects.requireNonNull(observer, "observer"));
  }
}
