package dev.warpwright.agent;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.FailureKind;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What is written when something keeps a run from going on: its end or, while the outcome of a tool
 * is unknown that must not be repeated, that it waits and how it would have ended. Pure.
 */
final class RunEnd {
  private final RunLimits limits;

  RunEnd(RunLimits limits) {
    this.limits = limits;
  }

  /**
   * What follows from a failure.
   *
   * @param log of a run that is RUNNING
   * @param attempts the attempts of the current step
   * @param awaited the calls on which a verdict is needed first
   */
  RunEvent after(
      RunLog log, FailureKind kind, String message, List<Attempt> attempts, Set<String> awaited) {
    int step = log.state().step();
    Optional<Duration> timeout =
        limits.passedTimeout().filter(limit -> kind == FailureKind.DEADLINE);
    if (timeout.isPresent() && limits.onTimeout() == OnTimeout.CANCEL_REQUESTED) {
      return new CancelRequested(
          Optional.of("The timeout of the run's policy, " + timeout.get() + ", has passed."));
    }
    Optional<RunTimedOut> timedOut = timeout.map(limit -> new RunTimedOut(limit, step, attempts));
    Optional<RunFailed> failed =
        timedOut.isPresent()
            ? Optional.empty()
            : Optional.of(
                new RunFailed(kind, message, isResumable(kind) && !log.isFull(), step, attempts));
    return awaited.isEmpty()
        ? timedOut.<RunEvent>map(end -> end).orElseGet(failed::orElseThrow)
        : new RunSuspended(RunSuspended.Reason.RECONCILIATION, sorted(awaited), failed, timedOut);
  }

  /**
   * Whether nothing can follow an event: the run has timed out, or failed and cannot be resumed.
   */
  static boolean isForGood(RunEvent end) {
    return end instanceof RunTimedOut || (end instanceof RunFailed failed && !failed.resumable());
  }

  /** That the run waits for verdicts, and would go on otherwise. */
  static RunEvent waiting(RunSuspended.Reason reason, Set<String> awaited) {
    return new RunSuspended(reason, sorted(awaited), Optional.empty());
  }

  private static List<String> sorted(Set<String> awaited) {
    return awaited.stream().sorted().toList();
  }

  /** The calls that need a verdict before the run can go on or end. */
  static Set<String> needingVerdicts(RunState state) {
    return new HashSet<>(state.needingVerdicts());
  }

  private static boolean isResumable(FailureKind kind) {
    return switch (kind) {
      case NO_ELIGIBLE_TARGET,
          TARGETS_EXHAUSTED,
          TOTAL_ATTEMPTS,
          CIRCUIT_OPEN,
          ADMISSION_DENIED,
          BUDGET_DENIED,
          DEADLINE,
          CANCELLED,
          LIMIT,
          TOOL_FAILED,
          STORE,
          INTERNAL,
          STREAM_BROKEN,
          STREAM_IDLE,
          UNFINISHED,
          UNKNOWN_OUTCOME,
          CONFLICT ->
          true;
      case INVALID_REQUEST,
          INVALID_HISTORY,
          INVALID_SCOPE,
          INVALID_CONFIGURATION,
          OUTPUT_PARSE,
          OUTPUT_SCHEMA,
          OUTPUT_REFUSAL,
          OUTPUT_TRUNCATION,
          NON_DETERMINISM,
          GUARDRAIL,
          PROVIDER_TOOL -> // to ask the model again would run the provider's tool again
          false;
    };
  }
}
