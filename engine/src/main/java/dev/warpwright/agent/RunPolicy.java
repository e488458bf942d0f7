package dev.warpwright.agent;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.time.Duration;
import java.util.Optional;

/**
 * When a run is to be ended for good, and what it may use. What is not set is not limited.
 *
 * <p>An {@link Agent} has a policy, and an {@link Invocation} may have another, which wins
 * component by component; a budget is replaced as a whole.
 *
 * {@snippet :
 * RunPolicy policy =
 *     RunPolicy.NONE
 *         .withTimeout(Duration.ofMinutes(5))
 *         .withBudget(RunBudget.builder().maxToolCalls(20).maxTotalTokens(200_000).build());
 * }
 *
 * @param timeout how long one invocation of an agent, or the whole run of a flow with all its
 *     waits, may take; 1 ms to 3650 days. Unlike {@link Invocation.Builder#timeout}, after which
 *     the run can be resumed, it ends the run. A limit of the operation that passes before it, such
 *     as the gateway's own timeout, leaves the run resumable
 * @param onTimeout what the timeout does; {@link OnTimeout#TIMED_OUT} if it is empty
 * @param budget what an agent's run may use over all its invocations; a flow has none
 */
public record RunPolicy(
    Optional<Duration> timeout, Optional<OnTimeout> onTimeout, Optional<RunBudget> budget) {
  /** No limits. */
  public static final RunPolicy NONE =
      new RunPolicy(Optional.empty(), Optional.empty(), Optional.empty());

  private static final Duration MIN_TIMEOUT = Duration.ofMillis(1);
  private static final Duration MAX_TIMEOUT = Duration.ofDays(3650);

  /** Checks the bound. */
  public RunPolicy {
    timeout.ifPresent(
        limit -> {
          if (limit.compareTo(MIN_TIMEOUT) < 0 || limit.compareTo(MAX_TIMEOUT) > 0) {
            throw new InvalidRequestException(
                FailureKind.INVALID_CONFIGURATION,
                "The timeout of a policy must be between 1 ms and %d days, but is %s."
                    .formatted(MAX_TIMEOUT.toDays(), limit));
          }
        });
  }

  /**
   * The same with a timeout.
   *
   * @param limit 1 ms to 3650 days
   * @return another policy
   */
  public RunPolicy withTimeout(Duration limit) {
    return new RunPolicy(Optional.of(limit), onTimeout, budget);
  }

  /**
   * The same with another effect of the timeout.
   *
   * @param effect what the timeout does
   * @return another policy
   */
  public RunPolicy withOnTimeout(OnTimeout effect) {
    return new RunPolicy(timeout, Optional.of(effect), budget);
  }

  /**
   * The same with a budget.
   *
   * @param limits what the run may use
   * @return another policy
   */
  public RunPolicy withBudget(RunBudget limits) {
    return new RunPolicy(timeout, onTimeout, Optional.of(limits));
  }

  /**
   * This policy, and what it leaves open from another.
   *
   * @param other the other one
   * @return a policy with what is set here and, where nothing is, with what is set there
   */
  public RunPolicy over(RunPolicy other) {
    return new RunPolicy(
        timeout.or(other::timeout), onTimeout.or(other::onTimeout), budget.or(other::budget));
  }
}
