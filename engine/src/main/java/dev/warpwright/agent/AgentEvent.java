package dev.warpwright.agent;

import dev.warpwright.StreamEvent;
import dev.warpwright.model.ToolCall;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import java.time.Duration;
import java.util.Objects;

/**
 * What a stream of an agent shows, in order: {@link RunStart}; for each step {@link StepStart}, the
 * {@link Output} of the model, what becomes of the tools that it asks for, {@link StepFinish}; at
 * last {@link RunFinish}, before which stands a {@link Failure} if the run failed.
 *
 * <p>What is said to have begun or ended is in the run's log by then. The pieces of an answer are
 * shown before the answer is: of a step that fails, or whose process dies, they may be all that is
 * left, and the step is asked again when the run is resumed.
 *
 * <p>No event shows content in its {@code toString}.
 */
public sealed interface AgentEvent {
  /**
   * The run is driven from here on.
   *
   * @param runId the run
   * @param currentStep the last step that was started before, 0 in a new run
   * @param maxSteps how many steps it may have, those before included
   */
  record RunStart(String runId, int currentStep, int maxSteps) implements AgentEvent {}

  /**
   * A decision that this invocation brought, or the expiry of a request, is in the log.
   *
   * @param decision the decision
   */
  record ApprovalResolved(ApprovalDecided decision) implements AgentEvent {
    /** Shows the request and the decision. */
    @Override
    public String toString() {
      return "ApprovalResolved[" + decision.requestId() + ", " + decision.approve() + "]";
    }
  }

  /**
   * The older part of the conversation has been replaced by a summary.
   *
   * @param beforeStep the step that comes next
   * @param messagesBefore how many messages there were
   * @param messagesAfter how many there are
   */
  record Compaction(int beforeStep, int messagesBefore, int messagesAfter) implements AgentEvent {}

  /**
   * The model is asked.
   *
   * @param step the step, counted from 1 over all invocations of the run
   */
  record StepStart(int step) implements AgentEvent {}

  /**
   * What a {@linkplain dev.warpwright.TextStream text stream} would show: the answer of a step
   * while it comes, then its calls and its end; the result of each call; the end of the whole run,
   * with its tokens over all invocations, if it completes.
   *
   * @param event the event; never a {@link StreamEvent.Failure}
   */
  record Output(StreamEvent event) implements AgentEvent {
    /** Shows the event. */
    @Override
    public String toString() {
      return "Output[" + event + "]";
    }
  }

  /**
   * A call needs a decision before anything of its step runs. The run is handed back when {@link
   * RunFinish} has come: decide then.
   *
   * @param request the request
   */
  record ApprovalRequest(ApprovalRequested request) implements AgentEvent {
    /** Shows the request's id and the tool. */
    @Override
    public String toString() {
      return "ApprovalRequest[" + request.requestId() + ", " + request.tool() + "]";
    }
  }

  /**
   * A tool begins to run.
   *
   * @param step the step that asked for it
   * @param call the call
   * @param attempt 1, or more if an earlier run of the call had no outcome
   */
  record ToolStart(int step, ToolCall call, int attempt) implements AgentEvent {
    /** Shows step, tool and attempt. */
    @Override
    public String toString() {
      return "ToolStart[" + step + ", " + call.name() + ", " + attempt + "]";
    }
  }

  /**
   * The outcome of a call is known. Behind it comes its result, as {@link Output} of a {@link
   * StreamEvent.ToolReturned}.
   *
   * @param step the step that asked for it
   * @param callId the call
   * @param tool the tool that was asked for
   * @param executed whether it has run; false if it was refused
   * @param error whether the result is an error
   * @param duration how long it took; zero if it was refused, or if it was found out afterwards
   *     what had become of it
   */
  record ToolFinish(
      int step, String callId, String tool, boolean executed, boolean error, Duration duration)
      implements AgentEvent {}

  /**
   * A step has ended: its answer asked for no tool, or each call of it has its result.
   *
   * @param step the step
   */
  record StepFinish(int step) implements AgentEvent {}

  /**
   * The run failed, or the invocation did. In the second case {@code cause} is thrown behind the
   * last event.
   *
   * @param cause a {@link dev.warpwright.model.RunFailedException} if the failure is in the log,
   *     else what ended the invocation
   */
  record Failure(Throwable cause) implements AgentEvent {
    /** Refuses null. */
    public Failure {
      Objects.requireNonNull(cause, "cause");
    }

    /** Shows the type only. */
    @Override
    public String toString() {
      return "Failure[" + cause.getClass().getSimpleName() + "]";
    }
  }

  /**
   * The invocation has ended and has handed the run back. It is the last event. There is none if
   * nobody can say how the run stands: it never began, or its store failed, or somebody else drives
   * it now.
   *
   * @param state the run as its log has it
   */
  record RunFinish(RunState state) implements AgentEvent {
    /**
     * How the run stands: ended, or waiting for somebody.
     *
     * @return the status
     */
    public RunStatus status() {
      return state.status();
    }

    /** Shows run and status. */
    @Override
    public String toString() {
      return "RunFinish[" + state.run() + ", " + state.status() + "]";
    }
  }

  /**
   * About how much memory an event takes.
   *
   * @param event the event
   * @return its weight in bytes
   */
  static long weight(AgentEvent event) {
    return switch (event) {
      case Output(StreamEvent shown) -> StreamEvent.weight(shown);
      case ToolStart start -> 64 + 2L * start.call().input().text().length();
      case ApprovalRequest(ApprovalRequested request) ->
          64 + 2L * request.arguments().text().length();
      case RunStart _, ApprovalResolved _, Compaction _, StepStart _ -> 64;
      case ToolFinish _, StepFinish _ -> 64;
      case Failure _, RunFinish _ -> 64;
    };
  }
}
