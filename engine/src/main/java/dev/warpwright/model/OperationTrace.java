package dev.warpwright.model;

import java.util.List;
import java.util.Optional;

/**
 * What an operation had done when it failed.
 *
 * @param operationId the operation's id, empty if the call was refused before it became one
 * @param attempts every attempt so far, skips included, in order of time
 * @param decision the route decision, once there is one
 * @param runId the durable run that the operation drove, by which it can be resumed
 */
public record OperationTrace(
    String operationId,
    List<Attempt> attempts,
    Optional<RouteDecision> decision,
    Optional<String> runId) {
  /** The trace of a call that was refused before it became an operation. */
  public static final OperationTrace NONE =
      new OperationTrace("", List.of(), Optional.empty(), Optional.empty());

  /** Copies the list. */
  public OperationTrace {
    attempts = List.copyOf(attempts);
  }

  /**
   * The same trace, naming the run.
   *
   * @param runId the run that the operation drove
   * @return a copy
   */
  public OperationTrace ofRun(String runId) {
    return new OperationTrace(operationId, attempts, decision, Optional.of(runId));
  }
}
