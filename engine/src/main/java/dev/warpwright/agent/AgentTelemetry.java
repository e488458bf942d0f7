package dev.warpwright.agent;

import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One thing that an invocation of an agent did: telemetry, which may change at any release, and not
 * a part of the log. It names and counts, and holds no prompt, answer, tool data or secret.
 *
 * @param invocationId the invocation, unique in this process
 * @param agentId its agent
 * @param run its run, once that is known
 * @param time when
 * @param event what
 */
public record AgentTelemetry(
    String invocationId, String agentId, Optional<RunKey> run, Instant time, Event event) {
  /**
   * What happened. An invocation begins with {@link InvocationStart} and ends with {@link
   * InvocationFinish}; before that stands one {@link RunFinish}, unless nobody can say how the run
   * stands. What is said to have begun or ended in between is in the run's log by then.
   */
  public sealed interface Event {}

  /** The invocation begins; nothing is checked or stored yet. */
  public record InvocationStart() implements Event {}

  /**
   * The run is driven by this invocation from here on.
   *
   * @param operationId the operation in which it is, as observers of the gateway are told it
   * @param currentStep the last step that was started before, 0 in a new run
   * @param maxSteps how many steps it may have, those before included
   */
  public record RunStart(String operationId, int currentStep, int maxSteps) implements Event {}

  /**
   * What the agent remembers is in the log.
   *
   * @param messages how many messages that is
   */
  public record MemoryLoaded(int messages) implements Event {}

  /**
   * A guardrail triggered; the run fails for good.
   *
   * @param stage what the guardrail looked at
   * @param guardrailId the guardrail
   */
  public record GuardrailTriggered(GuardrailStage stage, String guardrailId) implements Event {}

  /**
   * A decision on an approval is in the log.
   *
   * @param requestId the request
   * @param approved whether the tool may run
   */
  public record ApprovalResolved(String requestId, boolean approved) implements Event {}

  /**
   * The model is asked.
   *
   * @param step the step, counted from 1 over all invocations of the run
   */
  public record StepStart(int step) implements Event {}

  /**
   * A step has ended: its answer asked for no tool, or each call of it has its result.
   *
   * @param step the step
   * @param target who answered
   * @param finishReason why the answer ended
   * @param usage the tokens of the answer
   * @param attempts how many attempts were made for it, skips not counted
   * @param toolCalls how many tool calls it asked for
   */
  public record StepFinish(
      int step,
      Target target,
      FinishReason.Kind finishReason,
      Usage usage,
      int attempts,
      int toolCalls)
      implements Event {}

  /**
   * A tool begins to run.
   *
   * @param step the step that asked for it
   * @param callId the call
   * @param tool the tool
   * @param attempt 1, or more if an earlier run of the call had no outcome
   */
  public record ToolStart(int step, String callId, String tool, int attempt) implements Event {}

  /**
   * The outcome of a call is known.
   *
   * @param step the step that asked for it
   * @param callId the call
   * @param tool the tool that was asked for
   * @param executed whether it has run; false if it was refused
   * @param error whether the result is an error
   * @param duration how long it took; zero if it was refused, or if it was found out afterwards
   *     what had become of it
   */
  public record ToolFinish(
      int step, String callId, String tool, boolean executed, boolean error, Duration duration)
      implements Event {}

  /**
   * A call needs a decision before anything of its step runs.
   *
   * @param requestId the request
   * @param step the step that asked for the call
   * @param callId the call
   * @param tool the tool
   */
  public record ApprovalRequest(String requestId, int step, String callId, String tool)
      implements Event {}

  /**
   * This invocation has added to the log.
   *
   * @param sequence of the first event
   * @param types the types of the events, in order
   */
  public record EventsAppended(long sequence, List<String> types) implements Event {
    /** Copies the list. */
    public EventsAppended {
      types = List.copyOf(types);
    }
  }

  /**
   * How the run stands as the invocation leaves it, which has handed it back.
   *
   * @param status the status, as the log has it
   * @param failure how it failed, if it did
   * @param steps how many steps were started, over all invocations
   * @param usage the tokens of all answers
   * @param cost what all model calls cost; empty if costs are not accounted
   */
  public record RunFinish(
      RunStatus status,
      Optional<FailureKind> failure,
      int steps,
      Usage usage,
      Optional<CostTotal> cost)
      implements Event {}

  /**
   * The invocation has ended.
   *
   * @param thrown the class of what it throws to its caller; empty if it returns a result, of a
   *     failed run too
   * @param kind the kind of failure that is thrown, if it is one of Warpwright's
   */
  public record InvocationFinish(Optional<String> thrown, Optional<FailureKind> kind)
      implements Event {}
}
