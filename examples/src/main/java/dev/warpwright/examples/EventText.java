package dev.warpwright.examples;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.run.FlowEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ApprovalTokenIssued;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.ContextCompacted;
import dev.warpwright.run.RunEvent.GuardrailChecked;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RouteBound;
import dev.warpwright.run.RunEvent.RunCancelled;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolStarted;
import java.util.List;

/** Events in words for people. */
final class EventText {
  private EventText() {}

  static String of(RunEvent event) {
    return switch (event) {
      case RunStarted started -> started(started);
      case StepStarted step ->
          "Step %d: asks the model, %d messages".formatted(step.step(), step.messageCount());
      case RunEvent.MemoryLoaded memory ->
          "Remembers %d messages".formatted(memory.messages().size());
      case RouteBound bound -> "Step %d goes to %s".formatted(bound.step(), bound.target());
      case ModelResponded answer -> answered(answer);
      case ApprovalRequested asked ->
          "Needs an approval: %s %s%s%n%s"
              .formatted(
                  tool(asked),
                  asked.arguments().text(),
                  asked.why().flatMap(why -> why.reason()).map(why -> ": " + why).orElse(""),
                  asked.requestId());
      case GuardrailChecked stopped ->
          "Guardrail %s triggered at %s%s"
              .formatted(
                  stopped.guardrailId(),
                  stopped.stage(),
                  stopped.reason().map(reason -> ": " + reason).orElse(""));
      case ApprovalTokenIssued token -> "A token was issued for " + token.requestId();
      case ApprovalDecided decided -> decided(decided);
      case ToolStarted tool ->
          "%s begins (%s, attempt %d): %s"
              .formatted(tool.tool(), tool.effect(), tool.attempt(), tool.arguments().text());
      case ToolFinished tool -> finished(tool);
      case ToolReconciled found ->
          "%s %s, says the %s%s%s"
              .formatted(
                  found.callId(),
                  found.verdict(),
                  found.decidedBy(),
                  found.output().map(output -> ": " + output.text()).orElse(""),
                  found.evidence().map(digest -> "\nevidence " + digest).orElse(""));
      case RunSuspended suspended ->
          "Waits for %s of %d calls"
              .formatted(
                  suspended.reason() == RunSuspended.Reason.APPROVAL ? "approval" : "the outcome",
                  suspended.awaited().size())
              .concat(suspended.intendedEnd().map(end -> "\n" + of(end)).orElse(""))
              .concat(suspended.intendedTimeout().map(end -> "\n" + of(end)).orElse(""));
      case CancelRequested asked ->
          "Asked to cancel" + asked.reason().map(reason -> ": " + reason).orElse("");
      case RunCancelled cancelled ->
          "Cancelled in step %d%s".formatted(cancelled.step(), attempts(cancelled.attempts()));
      case ContextCompacted compacted ->
          "Summed up %d of %d messages: %s"
              .formatted(
                  compacted.to() - compacted.from(),
                  compacted.messagesBefore(),
                  compacted.summary());
      case RunTimedOut late ->
          "Timed out after %s in step %d%s"
              .formatted(late.limit(), late.step(), attempts(late.attempts()));
      case FlowEvent step -> flow(step);
      case ChildStarted child -> "Child run %s begins".formatted(child.childRunId());
      case ChildFinished child ->
          "Child run %s is %s".formatted(child.childRunId(), child.status());
      case RunResumed resumed -> "Goes on: " + resumed.cause();
      case RunCompleted completed ->
          "Completed in %d steps: %s".formatted(completed.steps(), completed.text());
      case RunFailed failed ->
          "Failed in step %d (%s, %s): %s%s"
              .formatted(
                  failed.step(),
                  failed.kind(),
                  failed.resumable() ? "can go on" : "for good",
                  failed.message(),
                  attempts(failed.attempts()));
    };
  }

  /** The tool that is to be approved and, if a provider runs it, where it is. */
  static String tool(ApprovalRequested asked) {
    return asked.tool()
        + asked
            .provider()
            .map(
                by ->
                    " (run by %s%s)"
                        .formatted(by.id(), by.server().map(at -> ", server " + at).orElse("")))
            .orElse("");
  }

  /** A flow's event by its type, in words, and its place in the flow. */
  private static String flow(FlowEvent step) {
    String words = step.getClass().getSimpleName().replaceAll("(?<=[a-z])(?=[A-Z])", " ");
    return words + " at " + step.position();
  }

  private static String started(RunStarted started) {
    StringBuilder text =
        new StringBuilder(
            "Started: agent %s, key %s, targets %s"
                .formatted(
                    started.agentId(), started.idempotencyKey().orElse("none"), started.targets()));
    for (Message message : started.messages()) {
      if (message.role() == Role.USER) {
        text.append('\n').append(message.text());
      }
    }
    return text.toString();
  }

  private static String answered(ModelResponded answer) {
    StringBuilder text = new StringBuilder("%s answers".formatted(answer.target()));
    if (!answer.message().text().isEmpty()) {
      text.append(": ").append(answer.message().text());
    }
    for (ToolCall call : answer.message().toolCalls()) {
      text.append("\ncalls ").append(call.name()).append(' ').append(call.input().text());
    }
    List<Attempt> failures = answer.attempts().stream().filter(attempt -> !attempt.ok()).toList();
    return text.append(attempts(failures)).toString();
  }

  private static String decided(ApprovalDecided decided) {
    return "%s%s%s%n%s"
        .formatted(
            decided.approve() ? "Approved" : "Denied",
            decided.decidedBy().map(who -> " by " + who).orElse(""),
            decided.reason().map(reason -> ": " + reason).orElse(""),
            decided.requestId());
  }

  private static String finished(ToolFinished tool) {
    Json output = tool.output();
    if (!tool.executed()) {
      return "%s was not run: %s".formatted(tool.tool(), output.text());
    }
    return "%s %s after %d ms: %s"
        .formatted(
            tool.tool(),
            tool.error() ? "failed" : "ended",
            tool.duration().toMillis(),
            output.text());
  }

  private static String attempts(List<Attempt> attempts) {
    StringBuilder text = new StringBuilder();
    for (Attempt attempt : attempts) {
      text.append(
          "\nattempt on %s: %s %s (%d ms)"
              .formatted(
                  attempt.target(),
                  attempt.reasonCode(),
                  attempt.message(),
                  attempt.latency().toMillis()));
    }
    return text.toString();
  }
}
