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
 * @param timeToFirstText from the attempt's start to the first text of a stream
 * @param message what happened, redacted; empty for a success
 * @param failure the kind of a provider failure
 * @param status the HTTP status of a failure, 0 if there is none
 * @param requestId the provider's request id
 * @param usage the usage of a success, or what a stream that broke had reported
 * @param cost what it cost, if costs are accounted; a failure that reported no usage has a
 *     valuation without an amount, as it may have cost something
 * @param cacheHit whether the answer came from the cache, or from another operation's call
 */
public record Attempt(
    int step,
    Target target,
    ReasonCode reasonCode,
    int retry,
    int targetRank,
    Duration latency,
    Optional<Duration> timeToFirstText,
    String message,
    Optional<ProviderException.Kind> failure,
    int status,
    Optional<String> requestId,
    Optional<Usage> usage,
    Optional<CostValuation> cost,
    boolean cacheHit) {
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
    /** Not made: the target had no place for it. */
    ADMISSION_DENIED,
    /** Not made: the money for it could not be set aside. */
    BUDGET_DENIED,
    /** Skipped: the target's circuit is open. */
    CIRCUIT_OPEN,
    /**
     * Skipped: no adapter, unknown deployment, or the model could not be made; or it did not ask
     * for the approval that the conversation answers.
     */
    OPERATION_SKIP,
    /** Skipped: the model lacks a capability that the request needs. */
    MODEL_CAPABILITIES,
    /** Skipped: the model lacks what the agent needs. */
    AGENT_CAPABILITIES,
    /** Skipped: its price is above the request's ceiling, or the cost of the call is not known. */
    COST_BUDGET,
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
        Optional.empty(),
        message,
        Optional.empty(),
        0,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        false);
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
   * Whether this counts against the total of attempts, and is not a skip. An attempt that a control
   * kept from its target counts.
   *
   * @return true for all but skips
   */
  public boolean dispatched() {
    return switch (reasonCode) {
      case PROVIDER_SUCCESS,
          PROVIDER_ERROR,
          REQUEST_ABORTED,
          DEADLINE_EXCEEDED,
          ADMISSION_DENIED,
          BUDGET_DENIED ->
          true;
      case CIRCUIT_OPEN,
          OPERATION_SKIP,
          MODEL_CAPABILITIES,
          AGENT_CAPABILITIES,
          COST_BUDGET,
          ADAPTIVE_EXCLUSION ->
          false;
    };
  }
}
