package dev.warpwright;

import dev.warpwright.model.Conversation;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolFailedException;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.model.Usage;
import dev.warpwright.task.TaskTrace;
import dev.warpwright.tool.CheckedCall;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolCaller;
import dev.warpwright.tool.ToolEnd;
import dev.warpwright.tool.ToolJournal;
import dev.warpwright.tool.ToolRun;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The loop of a text operation: ask the model, run the tools that it asks for, ask again. */
final class ToolLoop {
  private final Operation operation;
  private final GenerateRequest request;
  private List<ModelStep> steps = List.of();
  private List<ToolResult> toolResults = List.of(); // an ArrayList once there are some
  private Conversation messages;

  ToolLoop(Operation operation, GenerateRequest request) {
    this.operation = operation;
    this.request = request;
    this.messages = Conversation.of(request.messages());
  }

  /** Asks and runs tools until an answer asks for none, or the steps are used up. */
  void run() {
    for (int number = 1; ; number++) {
      ModelStep step = operation.step(number, messages);
      steps = Appended.to(steps, step);
      messages = messages.plus(step.response().message());
      showAnswer(step);
      List<ToolCall> calls = step.response().message().toolCalls();
      if (calls.isEmpty()) {
        return;
      }
      requireToolsAllowed(step.response(), operation.trace());
      List<ToolResult> results = runTools(step, calls);
      results.forEach(result -> operation.show(step.step(), new StreamEvent.ToolReturned(result)));
      addToolResults(results);
      messages = messages.plus(Message.tool(results));
      if (number == request.maxSteps() || asksForApproval(step)) {
        return;
      }
    }
  }

  /** Whether the provider asks for what nobody can decide within the operation. */
  private static boolean asksForApproval(ModelStep step) {
    return !step.response().message().approvals().isEmpty();
  }

  private void addToolResults(List<ToolResult> results) {
    if (toolResults.isEmpty()) {
      toolResults = new ArrayList<>();
    }
    toolResults.addAll(results);
  }

  /** Shows what is known only when the answer is complete, if the operation is a stream. */
  private void showAnswer(ModelStep step) {
    if (operation.isShown()) {
      ModelResponse answer = step.response();
      StreamEvent.ofAnswer(answer.message(), answer.finishReason(), answer.usage())
          .forEach(event -> operation.show(step.step(), event));
    }
  }

  /** Shows the end of the whole operation, if it is a stream. */
  void showEnd() {
    if (operation.isShown()) {
      operation.show(lastStep().step(), new StreamEvent.Finish(finishReason(), usage(), true));
    }
  }

  /**
   * Refuses an answer that asks for tools although it was cut off, filtered or refused.
   *
   * @throws InvalidOutputException if no tool of it may run
   */
  private static void requireToolsAllowed(ModelResponse answer, OperationTrace trace) {
    FinishReason finish = answer.finishReason();
    if (finish.allowsTools()) {
      return;
    }
    throw new InvalidOutputException(
        finish.withoutTools(),
        "The answer asks for tools but ended with %s; no tool was run.".formatted(finish.kind()),
        answer,
        trace);
  }

  /** What the calls of a step come to before anything runs. */
  private record Preflight(Map<Integer, ToolResult> refusals, List<ToolRun> runs) {}

  private Preflight judge(int step, List<ToolCall> calls, ToolCaller caller, OperationTrace trace) {
    Preflight preflight = new Preflight(new HashMap<>(), new ArrayList<>());
    for (int ordinal = 0; ordinal < calls.size(); ordinal++) {
      ToolCall call = calls.get(ordinal);
      switch (request.tools().check(call, caller)) {
        case CheckedCall.Refused(ToolCall refused, String message) ->
            preflight.refusals.put(ordinal, ToolResult.failure(refused, message));
        case CheckedCall.Callable(ToolCall checked, Tool tool, boolean approval) -> {
          tool.requireInputPasses(checked, caller, trace);
          if (approval && !approved(call)) {
            ToolResult denied = ToolResult.failure(call, "The call was not approved.");
            preflight.refusals.put(ordinal, denied);
          } else {
            String key = tool.idempotencyKey(operation.id(), step, ordinal, checked);
            preflight.runs.add(new ToolRun(checked, tool, step, ordinal, key, 1));
          }
        }
      }
    }
    return preflight;
  }

  private List<ToolResult> runTools(ModelStep step, List<ToolCall> calls) {
    ToolCaller caller = new ToolCaller(operation.id(), request.metadata());
    OperationTrace trace = operation.trace();
    Preflight preflight =
        operation.judge(
            step.step(),
            request.tools().honourInterrupts()
                && request.toolExecution().approvalPolicy().isEmpty(),
            () -> judge(step.step(), calls, caller, trace));
    List<ToolRun> runs = preflight.runs();
    List<ToolEnd> ends = operation.tools(step, caller, ToolJournal.NONE).run(runs);
    requireNoneUnknown(step, runs, ends);
    requireNoGuardrail(ends);
    ToolResult[] results = new ToolResult[calls.size()];
    preflight.refusals().forEach((ordinal, refusal) -> results[ordinal] = refusal);
    for (int i = 0; i < runs.size(); i++) {
      results[runs.get(i).ordinal()] = result(step, runs.get(i), ends.get(i));
    }
    return List.of(results);
  }

  private boolean approved(ToolCall call) {
    return request.toolExecution().approvalPolicy().map(policy -> policy.test(call)).orElse(false);
  }

  /** What nobody knows comes before every other way in which the batch may have ended. */
  private void requireNoneUnknown(ModelStep step, List<ToolRun> runs, List<ToolEnd> ends) {
    for (int i = 0; i < runs.size(); i++) {
      if (ends.get(i) instanceof ToolEnd.Unknown) {
        throw new UnknownOutcomeException(
            "Tool \"%s\" may or may not have acted; it is not repeated, and there is no run that"
                    .formatted(runs.get(i).tool().name())
                + " could wait for a decision. Run it in an agent with a store.",
            operation.end(step.step()).orElse(null),
            operation.trace());
      }
    }
  }

  private void requireNoGuardrail(List<ToolEnd> ends) {
    for (ToolEnd end : ends) {
      if (end instanceof ToolEnd.Known known && known.guardrail().isPresent()) {
        throw known.guardrail().get().at(operation.trace());
      }
    }
  }

  private ToolResult result(ModelStep step, ToolRun run, ToolEnd end) {
    if (!(end instanceof ToolEnd.Known known)) {
      throw operation
          .end(step.step())
          .orElseThrow(() -> new IllegalStateException("Cut off without a reason."));
    }
    if (known.error() && request.toolExecution().stopOnError()) {
      throw new ToolFailedException(
          "Tool \"%s\" failed and the request stops on errors.".formatted(run.tool().name()),
          operation.trace());
    }
    return known.result(run.call());
  }

  ModelStep lastStep() {
    return steps.getLast();
  }

  private FinishReason finishReason() {
    ModelResponse last = lastStep().response();
    if (asksForApproval(lastStep()) && last.finishReason().allowsTools()) {
      return new FinishReason(FinishReason.Kind.PAUSED, last.finishReason().raw());
    }
    return last.message().toolCalls().isEmpty()
        ? last.finishReason()
        : new FinishReason(FinishReason.Kind.TOOL_CALLS, last.finishReason().raw());
  }

  private Usage usage() {
    Usage usage = Usage.ABSENT;
    for (ModelStep step : steps) {
      usage = usage.plus(step.response().usage());
    }
    return usage;
  }

  /** The result, after the operation has been closed. */
  GenerateResult result() {
    ModelStep last = lastStep();
    TaskTrace tasks = operation.tasks();
    return new GenerateResult(
        last.response().message().text(),
        finishReason(),
        last.target(),
        tasks.duration(),
        operation.attempts(),
        usage(),
        last.decision(),
        steps,
        messages,
        toolResults,
        tasks);
  }
}
