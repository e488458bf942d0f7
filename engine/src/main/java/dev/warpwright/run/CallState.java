package dev.warpwright.run;

import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ToolStarted;
import java.util.Optional;

/**
 * Where one tool call of the current step stands.
 *
 * @param call the call
 * @param step the step that asked for it
 * @param ordinal its place among the calls of the step, 0-based
 * @param approval the request for a decision, if one was needed
 * @param decision the decision
 * @param started the latest intent to run it
 * @param notExecuted whether it was found out that the latest intent was not carried out
 * @param result its result, once there is one
 */
public record CallState(
    ToolCall call,
    int step,
    int ordinal,
    Optional<ApprovalRequested> approval,
    Optional<ApprovalDecided> decision,
    Optional<ToolStarted> started,
    boolean notExecuted,
    Optional<ToolResult> result) {
  /**
   * A call of which nothing has happened yet.
   *
   * @param call the call
   * @param step the step that asked for it
   * @param ordinal its place among the calls of the step
   * @return the state
   */
  public static CallState fresh(ToolCall call, int step, int ordinal) {
    return new CallState(
        call,
        step,
        ordinal,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        false,
        Optional.empty());
  }

  /**
   * Whether it waits for a decision.
   *
   * @return true if one was asked for and none was made
   */
  public boolean awaitsApproval() {
    return approval.isPresent() && decision.isEmpty() && result.isEmpty();
  }

  /**
   * Whether it was started and nobody knows what became of it.
   *
   * @return true if there is an intent without an outcome
   */
  public boolean isInDoubt() {
    return started.isPresent() && !notExecuted && result.isEmpty();
  }

  /**
   * The number of the next attempt to run it.
   *
   * @return 1 if it was never started
   */
  public int nextAttempt() {
    return started.map(ToolStarted::attempt).orElse(0) + 1;
  }

  CallState asked(ApprovalRequested request) {
    return new CallState(
        call, step, ordinal, Optional.of(request), decision, started, notExecuted, result);
  }

  CallState decided(ApprovalDecided verdict) {
    return new CallState(
        call, step, ordinal, approval, Optional.of(verdict), started, notExecuted, result);
  }

  CallState startedBy(ToolStarted intent) {
    return new CallState(
        call, step, ordinal, approval, decision, Optional.of(intent), false, result);
  }

  CallState foundNotExecuted() {
    return new CallState(call, step, ordinal, approval, decision, started, true, result);
  }

  CallState answered(ToolResult answer) {
    return new CallState(
        call, step, ordinal, approval, decision, started, notExecuted, Optional.of(answer));
  }
}
