package dev.warpwright.agent;

import dev.warpwright.ObjectMode;
import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.model.Usage;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.CallState;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.task.TaskTrace;
import dev.warpwright.tool.JsonType;
import java.util.List;
import java.util.Optional;

/**
 * How an invocation of an agent left its run: with an answer, waiting for somebody, failed,
 * cancelled or timed out.
 *
 * @param state the run's state
 * @param log the run's log: {@link Agents#resume(Agent, List, ApprovalDecision...)} goes on from
 *     it, {@link dev.warpwright.run.RunExport} makes text of it
 * @param attempts the provider attempts of this invocation, skips included; none if another
 *     invocation did the work
 * @param toolCalls how many tool runs this invocation began
 * @param driven whether this invocation drove the run, and not another one before or beside it
 * @param tasks the finished tree of what ran in this invocation; empty if it did not drive the run
 * @param outputType what the agent's final answer must be; empty if it is a text
 */
public record AgentResult(
    RunState state,
    List<LoggedEvent> log,
    List<Attempt> attempts,
    int toolCalls,
    boolean driven,
    Optional<TaskTrace> tasks,
    Optional<JsonType<?>> outputType) {
  /** Copies the lists. */
  public AgentResult {
    log = List.copyOf(log);
    attempts = List.copyOf(attempts);
  }

  /** How a run stands that was not driven. */
  static AgentResult asItStands(RunState state, List<LoggedEvent> log) {
    return new AgentResult(state, log, List.of(), 0, false, Optional.empty(), Optional.empty());
  }

  /** The same result with the tree of its operation, once that is closed. */
  AgentResult ran(TaskTrace tree) {
    return new AgentResult(state, log, attempts, toolCalls, driven, Optional.of(tree), outputType);
  }

  /** The same result, known to be one of an agent: so {@link #output} can read it. */
  AgentResult of(Agent agent) {
    return new AgentResult(state, log, attempts, toolCalls, driven, tasks, agent.output());
  }

  /**
   * What the run and its child runs cost so far, over all invocations.
   *
   * @return the total of all model calls, failed ones included; empty if costs are not accounted
   */
  public Optional<CostTotal> cost() {
    return state.totalCost();
  }

  /**
   * The tokens of the run and of its child runs that have ended.
   *
   * @return the usage of all answered steps
   */
  public Usage usage() {
    return state.totalUsage();
  }

  /**
   * The run.
   *
   * @return its key
   */
  public RunKey run() {
    return state.run();
  }

  /**
   * Where the run stands.
   *
   * @return the status
   */
  public RunStatus status() {
    return state.status();
  }

  /**
   * The text of all the model's answers, joined.
   *
   * @return the text, perhaps of an unfinished run
   */
  public String text() {
    return state.text();
  }

  /**
   * The object that the final answer is.
   *
   * @param <T> its type
   * @param type the class that the agent's {@link Agent.Builder#output(Class) output} was set to;
   *     {@link dev.warpwright.model.Json} for one with a schema given by hand
   * @return the object, read from the log
   * @throws RunFailedException if the run has not completed; as {@link #orThrow}
   * @throws InvalidRequestException if the agent's answer is a text, or an object of another type
   */
  public <T> T output(Class<T> type) {
    Json json = orThrow().state().output().orElseThrow(() -> noOutput(type, "is a text"));
    JsonType<?> asked = outputType.orElseThrow(() -> noOutput(type, "is a text"));
    boolean wasHeldToIt = state.outputMode().filter(ObjectMode.NATIVE::equals).isPresent();
    Object output = (wasHeldToIt ? asked.withNullForAbsent() : asked).read(json);
    if (!type.isInstance(output)) {
      throw noOutput(type, "is " + output.getClass().getSimpleName());
    }
    return type.cast(output);
  }

  private static InvalidRequestException noOutput(Class<?> type, String what) {
    return new InvalidRequestException(
        FailureKind.INVALID_REQUEST,
        "The agent's answer must be %s to be read as such, but %s."
            .formatted(type.getSimpleName(), what));
  }

  /**
   * The approvals that the run waits for.
   *
   * @return the requests, those of its child runs included; decide them with {@link
   *     Agents#resume(Agent, RunKey, ApprovalDecision...)}
   */
  public List<ApprovalRequested> pendingApprovals() {
    return state.pendingApprovals();
  }

  /**
   * The tool calls that need a verdict: nobody knows their outcome, and they must not be repeated.
   *
   * @return the calls
   */
  public List<CallState> inDoubt() {
    return state.calls().stream().filter(CallState::needsVerdict).toList();
  }

  /**
   * This result, if the run completed.
   *
   * @return this
   * @throws RunFailedException if it failed or waits for somebody; the message says for whom
   */
  public AgentResult orThrow() {
    return switch (status()) {
      case COMPLETED -> this;
      case FAILED -> throw failure().orElseThrow();
      case WAITING_APPROVAL ->
          throw new RunFailedException(
              FailureKind.UNFINISHED,
              "Run %s waits for %d approvals.".formatted(run(), pendingApprovals().size()),
              run().runId(),
              true);
      case WAITING ->
          throw new RunFailedException(
              FailureKind.UNFINISHED,
              "Run %s waits for a child run that needs a verdict.".formatted(run()),
              run().runId(),
              true);
      case NEEDS_RECONCILIATION ->
          throw new RunFailedException(
              FailureKind.UNKNOWN_OUTCOME,
              "Run %s waits for a verdict on %d tool calls.".formatted(run(), inDoubt().size()),
              run().runId(),
              true);
      case CANCELLED ->
          throw new RunFailedException(
              FailureKind.CANCELLED,
              "Run %s was cancelled.".formatted(run()),
              run().runId(),
              false);
      case CANCEL_REQUESTED ->
          throw new RunFailedException(
              FailureKind.UNFINISHED,
              "Run %s is being cancelled.".formatted(run()),
              run().runId(),
              false);
      case QUEUED ->
          throw new RunFailedException(
              FailureKind.UNFINISHED,
              "Run %s is queued; nobody has begun to drive it.".formatted(run()),
              run().runId(),
              true);
      case TIMED_OUT ->
          throw new RunFailedException(
              FailureKind.DEADLINE,
              "Run %s ran into the timeout of its policy, %s, and has ended."
                  .formatted(run(), state.timeout().orElseThrow().limit()),
              run().runId(),
              false);
      case RUNNING ->
          throw new RunFailedException(
              FailureKind.UNFINISHED,
              "Run %s is being driven elsewhere.".formatted(run()),
              run().runId(),
              true);
    };
  }

  /** The failure, if the run failed. */
  Optional<RunFailedException> failure() {
    return state
        .failure()
        .map(
            failure ->
                new RunFailedException(
                    failure.kind(), failure.message(), run().runId(), failure.resumable()));
  }

  /** Shows run and status. */
  @Override
  public String toString() {
    return "AgentResult[" + run() + ", " + status() + "]";
  }
}
