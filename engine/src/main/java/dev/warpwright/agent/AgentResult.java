package dev.warpwright.agent;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.CallState;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import java.util.List;

/**
 * How an invocation of an agent left its run: with an answer, waiting for somebody, or failed.
 *
 * @param state the run's state
 * @param log the run's log: {@link Agents#resume(Agent, List, ApprovalDecision...)} goes on from
 *     it, {@link dev.warpwright.run.RunExport} makes text of it
 * @param attempts the provider attempts of this invocation, skips included; none if another
 *     invocation did the work
 * @param toolCalls how many tool runs this invocation began
 * @param driven whether this invocation drove the run, and not another one before or beside it
 */
public record AgentResult(
    RunState state, List<LoggedEvent> log, List<Attempt> attempts, int toolCalls, boolean driven) {
  /** Copies the lists. */
  public AgentResult {
    log = List.copyOf(log);
    attempts = List.copyOf(attempts);
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
   * The approvals that the run waits for.
   *
   * @return the requests; decide them with {@link Agents#resume(Agent, RunKey,
   *     ApprovalDecision...)}
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
      case FAILED -> {
        RunFailed failure = state.failure().orElseThrow();
        throw new RunFailedException(
            failure.kind(), failure.message(), run().runId(), failure.resumable());
      }
      case WAITING_APPROVAL ->
          throw new RunFailedException(
              FailureKind.UNFINISHED,
              "Run %s waits for %d approvals.".formatted(run(), pendingApprovals().size()),
              run().runId(),
              true);
      case NEEDS_RECONCILIATION ->
          throw new RunFailedException(
              FailureKind.UNKNOWN_OUTCOME,
              "Run %s waits for a verdict on %d tool calls.".formatted(run(), inDoubt().size()),
              run().runId(),
              true);
      case RUNNING ->
          throw new RunFailedException(
              FailureKind.UNFINISHED,
              "Run %s is being driven elsewhere.".formatted(run()),
              run().runId(),
              true);
    };
  }

  /** Shows run and status. */
  @Override
  public String toString() {
    return "AgentResult[" + run() + ", " + status() + "]";
  }
}
