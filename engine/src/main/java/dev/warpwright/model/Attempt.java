package dev.warpwright.model;

import java.time.Duration;
import java.util.Optional;

/**
 * One entry of an operation's attempt list: a dispatch to a target, or a skip.
 *
 * @param step the model step, 1-based
 * @param target the target
 * @param reasonCode what became of it
 * @param retry 0 for the first dispatch to this target in this step, then counting
 * @param targetRank the target's index in the route decision
 * @param latency from the attempt's start to its end; zero for a skip
 * @param message what happened, redacted; empty for a success
 * @param failure the kind of a provider failure
 * @param status the HTTP status of a failure, 0 if there is none
 * @param requestId the provider's request id
 * @param usage the usage of a success
 */
public record Attempt(
    int step,
    Target target,
    ReasonCode reasonCode,
    int retry,
    int targetRank,
    Duration latency,
    String message,
    Optional<ProviderException.Kind> failure,
    int status,
    Optional<String> requestId,
    Optional<Usage> usage) {
  /** What became of an attempt. */
  public enum ReasonCode {
    /** The target answered. */
    PROVIDER_SUCCESS,
    /** The target failed, or its attempt timeout passed. */
    PROVIDER_ERROR,
    /** The caller's cancellation cut it off. */
    REQUEST_ABORTED,
    /** The operation's deadline cut it off. */
    DEADLINE_EXCEEDED,
    /** Skipped: no adapter, unknown deployment, or the model could not be made. */
    OPERATION_SKIP,
    /** Skipped: the model lacks a capability that the request needs. */
    MODEL_CAPABILITIES,
    /** Skipped: the model lacks what the agent needs. */
    AGENT_CAPABILITIES,
    /** Skipped: its price is above the request's ceiling, or the cost of the call is not known. */
    COST_BUDGET,
    /** Skipped: its circuit is open. */
    CIRCUIT_OPEN,
    /** Skipped: its admission refused the call. */
    ADMISSION_DENIED,
    /** Not called: the budget refused the reservation. */
    BUDGET_DENIED,
    /** Skipped: the adaptive policy excluded it. */
    ADAPTIVE_EXCLUSION
  }

  /**
   * A skip.
   *
   * @param step the model step
   * @param target the target that was ruled out
   * @param reasonCode why
   * @param targetRank its index in the route decision
   * @param message the reason in words, redacted
   * @return the entry
   */
  public static Attempt skip(
      int step, Target target, ReasonCode reasonCode, int targetRank, String message) {
    return new Attempt(
        step,
        target,
        reasonCode,
        0,
        targetRank,
        Duration.ZERO,
        message,
        Optional.empty(),
        0,
        Optional.empty(),
        Optional.empty());
  }

  /**
   * Whether the target answered.
   *
   * @return true for a success
   */
  public boolean ok() {
    return reasonCode == ReasonCode.PROVIDER_SUCCESS;
  }

  /**
   * Whether this was a dispatch, which counts against the total of attempts, and not a skip.
   *
   * @return true for a dispatch
   */
  public boolean dispatched() {
    return switch (reasonCode) {
      case PROVIDER_SUCCESS, PROVIDER_ERROR, REQUEST_ABORTED, DEADLINE_EXCEEDED -> true;
      case OPERATION_SKIP,
          MODEL_CAPABILITIES,
          AGENT_CAPABILITIES,
          COST_BUDGET,
          CIRCUIT_OPEN,
          ADMISSION_DENIED,
          BUDGET_DENIED,
          ADAPTIVE_EXCLUSION ->
          false;
    };
  }
}
