package dev.warpwright.run;

import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.tool.EffectClass;
import java.util.ArrayList;
import java.util.List;
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
 * @param suspended whether the run was suspended over the unknown outcome of the latest intent
 * @param child the child run that answers it, once it has begun
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
    boolean suspended,
    Optional<ChildStarted> child,
    Optional<ToolResult> result) {
  /**
   * A call of which nothing has happened yet.
   *
   * @param call the call
   * @param step the step that asked for it
   * @param ordinal its place among the calls of the step
   * @return the state
   */
  static CallState fresh(ToolCall call, int step, int ordinal) {
    return new CallState(
        call,
        step,
        ordinal,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        false,
        false,
        Optional.empty(),
        Optional.empty());
  }

  /**
   * The calls of an answer of which nothing has happened yet.
   *
   * @param asked what the answer asks for
   * @param step the step
   * @return the states, in the same order
   */
  public static List<CallState> fresh(List<ToolCall> asked, int step) {
    List<CallState> open = new ArrayList<>(asked.size());
    for (ToolCall call : asked) {
      open.add(fresh(call, step, open.size()));
    }
    return open;
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
   * Whether it was decided that it may not run.
   *
   * @return true after a refusal
   */
  public boolean isDenied() {
    return decision.isPresent() && !decision.get().approve();
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
   * Whether it is in doubt and may not simply be run again, so that the run can neither go on nor
   * end before somebody says what became of it.
   *
   * @return true for a ONCE tool in doubt, and for any tool over which the run was suspended
   */
  public boolean needsVerdict() {
    return isInDoubt() && (suspended || started.get().effect() == EffectClass.ONCE);
  }

  /**
   * The number of the next attempt to run it.
   *
   * @return 1 if it was never started
   */
  public int nextAttempt() {
    return started.map(ToolStarted::attempt).orElse(0) + 1;
  }

  /** Whether this intent is one for this call that may be carried out now. */
  boolean allows(ToolStarted intent) {
    return intent.step() == step
        && intent.ordinal() == ordinal
        && intent.callId().equals(call.id())
        && intent.tool().equals(call.name())
        && intent.attempt() == nextAttempt()
        && started.map(before -> before.key().equals(intent.key())).orElse(true)
        && child.isEmpty()
        && result.isEmpty()
        && !awaitsApproval()
        && !isDenied()
        && !needsVerdict();
  }

  /** Whether a child run may begin to answer it now. */
  boolean allows(ChildStarted begun) {
    return begun.callId().equals(call.id())
        && started.isEmpty()
        && child.isEmpty()
        && result.isEmpty()
        && !awaitsApproval()
        && !isDenied();
  }

  /**
   * Whether a child run answers it and has not ended.
   *
   * @param runId a child run
   * @return true if it waits for that one
   */
  public boolean awaitsChild(String runId) {
    return awaitsChild() && child.get().childRunId().equals(runId);
  }

  /**
   * Whether a child run answers it and has not ended.
   *
   * @return true if it waits for one
   */
  public boolean awaitsChild() {
    return child.isPresent() && result.isEmpty();
  }

  /**
   * Whether this is the call of that id, and in doubt under that key.
   *
   * @param callId a call
   * @param key the idempotency key that its tool was given
   * @return true if its outcome may become known now
   */
  public boolean isInDoubt(String callId, String key) {
    return isInDoubt() && call.id().equals(callId) && started.get().key().equals(key);
  }

  /** Whether it can be answered without being run. */
  boolean canBeRefused(String callId) {
    return call.id().equals(callId) && result.isEmpty() && !isInDoubt() && child.isEmpty();
  }

  CallState asked(ApprovalRequested request) {
    return with(Optional.of(request), decision, started, notExecuted, suspended);
  }

  CallState decided(ApprovalDecided verdict) {
    return with(approval, Optional.of(verdict), started, notExecuted, suspended);
  }

  CallState startedBy(ToolStarted intent) {
    return with(approval, decision, Optional.of(intent), false, false);
  }

  CallState foundNotExecuted() {
    return with(approval, decision, started, true, false);
  }

  CallState suspendedOver() {
    return with(approval, decision, started, notExecuted, true);
  }

  CallState answeredBy(ChildStarted begun) {
    return new CallState(
        call,
        step,
        ordinal,
        approval,
        decision,
        started,
        notExecuted,
        suspended,
        Optional.of(begun),
        result);
  }

  CallState answered(ToolResult answer) {
    return new CallState(
        call,
        step,
        ordinal,
        approval,
        decision,
        started,
        notExecuted,
        false,
        child,
        Optional.of(answer));
  }

  private CallState with(
      Optional<ApprovalRequested> newApproval,
      Optional<ApprovalDecided> newDecision,
      Optional<ToolStarted> newStarted,
      boolean newNotExecuted,
      boolean newSuspended) {
    return new CallState(
        call,
        step,
        ordinal,
        newApproval,
        newDecision,
        newStarted,
        newNotExecuted,
        newSuspended,
        child,
        result);
  }
}
