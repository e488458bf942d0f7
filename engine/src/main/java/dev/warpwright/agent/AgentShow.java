package dev.warpwright.agent;

import dev.warpwright.Operation;
import dev.warpwright.StreamEvent;
import dev.warpwright.StreamEvent.Finish;
import dev.warpwright.StreamEvent.ToolReturned;
import dev.warpwright.agent.AgentEvent.ApprovalRequest;
import dev.warpwright.agent.AgentEvent.ApprovalResolved;
import dev.warpwright.agent.AgentEvent.Output;
import dev.warpwright.agent.AgentEvent.RunStart;
import dev.warpwright.agent.AgentEvent.StepFinish;
import dev.warpwright.agent.AgentEvent.StepStart;
import dev.warpwright.agent.AgentEvent.ToolFinish;
import dev.warpwright.agent.AgentEvent.ToolStart;
import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.ContextCompacted;
import dev.warpwright.run.RunEvent.GuardrailChecked;
import dev.warpwright.run.RunEvent.MemoryLoaded;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.task.Feed;
import dev.warpwright.tool.ToolRun;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Shows what a driver does: all of it to the reader of a stream, what holds no content to the
 * program's observer. A run may have either, both or nobody.
 *
 * <p>Nearly all is read off the log: what has been written since it was looked at last. So nothing
 * is said that is not durable, and the driver goes the same way whether it is watched or not. A
 * slow reader is waited for, but never stops the driver: when the operation has come to its end and
 * there is no room, the reader sees no more, and the driver finds the end out by itself.
 *
 * <p>Confined to the driver's thread.
 */
final class AgentShow {
  private final Operation operation;
  private final Hooks hooks;
  private final Feed.@Nullable Writer<AgentEvent> reader;
  private final Consumer<RunState> onLeft;
  private final boolean watched;
  private long seen; // sequence of the last event that was looked at
  private int step; // the last one that was begun
  private @Nullable ModelResponded answer; // of a step that has not been said to have ended
  private boolean over; // there was no room at the end of the operation

  private AgentShow(
      Operation operation,
      Hooks hooks,
      Feed.@Nullable Writer<AgentEvent> reader,
      Consumer<RunState> onLeft) {
    this.operation = operation;
    this.hooks = hooks;
    this.reader = reader;
    this.onLeft = onLeft;
    this.watched = reader != null || hooks.areObserved();
  }

  /** Of a blocking run. */
  static AgentShow blocking(Operation operation, Hooks hooks) {
    return new AgentShow(operation, hooks, null, state -> {});
  }

  /**
   * Of a stream.
   *
   * @param reader writes to the stream's reader
   * @param onLeft is told how the run stands when its driver has left it
   */
  static AgentShow to(
      Operation operation, Hooks hooks, Feed.Writer<AgentEvent> reader, Consumer<RunState> onLeft) {
    return new AgentShow(operation, hooks, reader, onLeft);
  }

  /**
   * Called with the log before this invocation adds to it.
   *
   * @param before the sequence of the last event that it has not added
   */
  void begins(RunLog log, long before) {
    RunState state = log.state();
    hooks.runIs(state.run());
    seen = before;
    step = state.step();
    boolean asked = state.nextStep() > step && !state.providerApprovals().isEmpty();
    if (watched && (asked || !state.calls().isEmpty())) {
      answer = lastAnswer(log.events());
    }
  }

  private static ModelResponded lastAnswer(List<LoggedEvent> log) {
    return log.reversed().stream()
        .map(LoggedEvent::event)
        .filter(ModelResponded.class::isInstance)
        .map(ModelResponded.class::cast)
        .findFirst()
        .orElseThrow();
  }

  /** Called when the run begins to be driven, after what was written for that. */
  void starts(RunLog log, int maxSteps) {
    if (watched) {
      RunState state = log.state();
      RunStart start = new RunStart(state.run().runId(), state.step(), maxSteps);
      hooks.runStarts(operation.id(), start);
      show(start);
    }
    written(log);
  }

  /** Called after each append. */
  void written(RunLog log) {
    if (!watched) {
      return;
    }
    List<LoggedEvent> fresh = log.since(seen);
    seen = log.state().sequence();
    hooks.appended(fresh);
    for (LoggedEvent logged : fresh) {
      show(logged.event(), log.state());
    }
    if (answer != null
        && log.state().calls().isEmpty()
        && log.state().openApprovals().isEmpty()
        && log.state().status() != RunStatus.CANCELLED) {
      stepFinished(answer);
    }
    hooks.requireNoFatalFailure();
  }

  private void show(RunEvent event, RunState state) {
    switch (event) {
      case ApprovalDecided decision -> show(new ApprovalResolved(decision));
      case GuardrailChecked triggered ->
          hooks.guardrailTriggered(triggered.stage(), triggered.guardrailId());
      case MemoryLoaded memory -> hooks.memoryLoaded(memory.messages().size());
      case ContextCompacted compacted ->
          show(
              new AgentEvent.Compaction(
                  compacted.beforeStep(), compacted.messagesBefore(), compacted.messagesAfter()));
      case StepStarted start -> {
        if (answer != null) {
          stepFinished(answer);
        }
        step = start.step();
        show(new StepStart(step));
      }
      case ModelResponded given -> {
        answer = given;
        StreamEvent.ofAnswer(given.message(), given.finishReason(), given.usage())
            .forEach(shown -> show(new Output(shown)));
      }
      case ApprovalRequested request -> show(new ApprovalRequest(request));
      case ChildStarted begun -> show(new ToolStart(step, asked(begun.callId()), 1));
      case ChildFinished end ->
          finished(
              new ToolResult(end.callId(), asked(end.callId()).name(), end.output(), end.failed()),
              true,
              end.duration());
      case ToolFinished end ->
          finished(
              new ToolResult(end.callId(), end.tool(), end.output(), end.error()),
              end.executed(),
              end.duration());
      case ToolReconciled verdict when verdict.verdict() != Verdict.NOT_EXECUTED ->
          finished(found(verdict), true, Duration.ZERO);
      case RunCompleted end -> {
        stepFinished(Objects.requireNonNull(answer));
        show(new Output(new Finish(state.finishReason().orElseThrow(), end.usage(), true)));
      }
      default -> {} // a reader sees these otherwise, or not at all
    }
  }

  private void finished(ToolResult result, boolean executed, Duration duration) {
    show(
        new ToolFinish(
            step, result.callId(), result.toolName(), executed, result.error(), duration));
    show(new Output(new ToolReturned(result)));
  }

  private ToolResult found(ToolReconciled verdict) {
    String tool = asked(verdict.callId()).name();
    Json output = verdict.output().orElse(Json.of(null));
    return new ToolResult(verdict.callId(), tool, output, verdict.verdict() == Verdict.FAILED);
  }

  private ToolCall asked(String callId) {
    return Objects.requireNonNull(answer).message().toolCalls().stream()
        .filter(call -> call.id().equals(callId))
        .findFirst()
        .orElseThrow();
  }

  private void stepFinished(ModelResponded given) {
    answer = null;
    hooks.stepFinishes(step, given);
    show(new StepFinish(step));
  }

  /** Called before tools begin, when their intents are written. */
  void starting(List<ToolRun> runs) {
    for (ToolRun run : runs) {
      show(new ToolStart(run.step(), run.call(), run.attempt()));
    }
  }

  /** Called when the driver leaves the run, however that came. */
  void left(RunLog log) {
    if (!log.hasFailed()) {
      hooks.left(log.state());
      onLeft.accept(log.state());
    }
  }

  private void show(AgentEvent event) {
    hooks.shown(event);
    if (reader != null && !over) {
      over = !operation.show(reader, event);
    }
  }
}
