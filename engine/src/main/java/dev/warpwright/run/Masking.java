package dev.warpwright.run;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.FlowEvent.FlowStepFinished;
import dev.warpwright.run.FlowEvent.SignalReceived;
import dev.warpwright.run.FlowEvent.StepError;
import dev.warpwright.run.FlowEvent.StepRetryScheduled;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ContextCompacted;
import dev.warpwright.run.RunEvent.GuardrailChecked;
import dev.warpwright.run.RunEvent.MemoryLoaded;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunCancelled;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunStarted.ForkedFrom;
import dev.warpwright.run.RunEvent.RunStarted.HandedOver;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolStarted;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Takes out of events what people, models, tools and the program said. What is left are kinds,
 * names, ids, digests, numbers and times: enough to see what happened, and when.
 */
final class Masking {
  static final String MASK = "[masked]";

  private static final Json VALUE = Json.of(MASK);
  private static final Image IMAGE = new Image("https://masked.invalid/");

  private Masking() {}

  static RunEvent mask(RunEvent event) {
    return switch (event) {
      case RunStarted e ->
          new RunStarted(
              e.agentId(),
              e.agentVersion(),
              e.fingerprint(),
              e.idempotencyKey().map(Masking::text),
              messages(e.messages()),
              e.maxSteps(),
              e.targets(),
              notes(e.metadata()),
              e.maxStateBytes(),
              e.imported(),
              e.binding(),
              e.input().map(Masking::json),
              e.parent(),
              e.handoff().map(h -> new HandedOver(h.id(), h.fromAgentId(), notes(h.metadata()))),
              e.life(),
              e.forkedFrom().map(Masking::fork));
      case MemoryLoaded e -> new MemoryLoaded(messages(e.messages()));
      case RunEvent.StepStarted e -> e;
      case ContextCompacted e ->
          new ContextCompacted(
              e.recordId(),
              e.beforeStep(),
              e.reasons(),
              e.sourceDigest(),
              e.resultDigest(),
              e.from(),
              e.to(),
              e.messagesBefore(),
              e.messagesAfter(),
              e.tokensBefore(),
              e.tokensAfter(),
              MASK,
              e.usage(),
              attempts(e.attempts()));
      case RunEvent.RouteBound e -> e;
      case ModelResponded e ->
          new ModelResponded(
              e.step(),
              e.target(),
              message(e.message()),
              e.finishReason(),
              e.usage(),
              attempts(e.attempts()));
      case GuardrailChecked e ->
          new GuardrailChecked(
              e.stage(), e.guardrailId(), e.reason().map(Masking::text), notes(e.metadata()));
      case ApprovalRequested e ->
          new ApprovalRequested(
              e.requestId(),
              e.digest(),
              e.step(),
              e.callId(),
              e.tool(),
              e.toolVersion(),
              VALUE,
              e.expiresAt(),
              e.signature(),
              e.child(),
              e.why()
                  .map(
                      why ->
                          new ApprovalRequested.Why(
                              why.reason().map(Masking::text), notes(why.metadata()))),
              e.provider());
      case RunEvent.ApprovalTokenIssued e -> e;
      case ApprovalDecided e ->
          new ApprovalDecided(
              e.requestId(),
              e.approve(),
              e.decidedBy(),
              e.reason().map(Masking::text),
              e.signature());
      case ToolStarted e ->
          new ToolStarted(
              e.step(), e.ordinal(), e.callId(), e.tool(), e.effect(), VALUE, e.key(), e.attempt());
      case ToolFinished e ->
          new ToolFinished(
              e.callId(), e.tool(), e.key(), e.executed(), VALUE, e.error(), e.duration());
      case ToolReconciled e ->
          new ToolReconciled(
              e.callId(),
              e.key(),
              e.verdict(),
              e.output().map(Masking::json),
              e.decidedBy(),
              e.evidence());
      case RunEvent.ChildStarted e -> e;
      case ChildFinished e ->
          new ChildFinished(
              e.callId(),
              e.childRunId(),
              e.status(),
              MASK,
              e.steps(),
              e.toolCalls(),
              e.toolErrors(),
              e.usage(),
              e.cost(),
              e.error(),
              e.duration());
      case RunSuspended e ->
          new RunSuspended(
              e.reason(),
              e.awaited(),
              e.intendedEnd().map(Masking::failure),
              e.intendedTimeout().map(Masking::timeout));
      case RunEvent.RunResumed e -> e;
      case CancelRequested e -> new CancelRequested(e.reason().map(Masking::text));
      case RunCancelled e -> new RunCancelled(e.step(), attempts(e.attempts()));
      case RunTimedOut e -> timeout(e);
      case RunCompleted e ->
          new RunCompleted(
              MASK, e.steps(), e.usage(), e.output().map(Masking::json), e.outputMode());
      case RunFailed e -> failure(e);
      case FlowEvent e -> flow(e);
    };
  }

  private static FlowEvent flow(FlowEvent event) {
    return switch (event) {
      case FlowStepFinished e ->
          new FlowStepFinished(
              e.position(),
              e.name(),
              e.attempt(),
              e.value().map(Masking::json),
              e.error().map(Masking::error),
              e.duration());
      case StepRetryScheduled e ->
          new StepRetryScheduled(e.position(), e.name(), e.attempt(), error(e.error()), e.dueAt());
      case SignalReceived e -> new SignalReceived(e.position(), e.signalId(), VALUE);
      case FlowEvent.FlowStepStarted e -> e;
      case FlowEvent.TimerScheduled e -> e;
      case FlowEvent.TimerFired e -> e;
      case FlowEvent.SignalAwaited e -> e;
      case FlowEvent.SignalTimedOut e -> e;
      case FlowEvent.ParallelStarted e -> e;
      case FlowEvent.ParallelFinished e -> e;
      case FlowEvent.VersionMarked e -> e;
      case FlowEvent.Observed e -> e;
    };
  }

  private static String text(String said) {
    return MASK;
  }

  private static Json json(Json said) {
    return VALUE;
  }

  private static Map<String, String> notes(Map<String, String> notes) {
    return notes.keySet().stream().collect(Collectors.toMap(name -> name, name -> MASK));
  }

  private static StepError error(StepError error) {
    return new StepError(error.kind(), error.type(), MASK);
  }

  private static RunFailed failure(RunFailed e) {
    return new RunFailed(
        e.kind(), MASK, e.resumable(), e.step(), attempts(e.attempts()), e.position());
  }

  private static RunTimedOut timeout(RunTimedOut e) {
    return new RunTimedOut(e.limit(), e.step(), attempts(e.attempts()));
  }

  private static ForkedFrom fork(ForkedFrom fork) {
    return new ForkedFrom(
        fork.runId(),
        fork.sequence(),
        fork.time(),
        fork.replaced().map(Masking::message),
        fork.added().map(Masking::message),
        fork.earlier().map(Masking::fork));
  }

  private static List<Message> messages(List<Message> messages) {
    return messages.stream().map(Masking::message).toList();
  }

  private static Message message(Message message) {
    return new Message(message.role(), message.parts().stream().map(Masking::part).toList());
  }

  private static Part part(Part part) {
    return switch (part) {
      case Part.Text text -> new Part.Text(MASK);
      case Image image -> IMAGE;
      case ToolCall call ->
          new ToolCall(
              call.id(), call.name(), Json.EMPTY_OBJECT, call.malformed().map(Masking::text));
      case ToolResult result ->
          new ToolResult(result.callId(), result.toolName(), VALUE, result.error());
      case ProviderState state ->
          new ProviderState(
              state.provider(),
              state.protocol(),
              state.modelId(),
              VALUE,
              state.approval().map(Masking::approval));
    };
  }

  private static ProviderApproval approval(ProviderApproval asked) {
    return new ProviderApproval(
        asked.requestId(),
        asked.server(),
        asked.tool(),
        VALUE,
        asked
            .answer()
            .map(
                given ->
                    new ProviderApproval.Answer(
                        given.approved(), given.reason().map(Masking::text))));
  }

  /** Without the words of providers, which may quote what they were asked. */
  private static List<Attempt> attempts(List<Attempt> attempts) {
    return attempts.stream().map(Masking::attempt).toList();
  }

  private static Attempt attempt(Attempt a) {
    return new Attempt(
        a.step(),
        a.target(),
        a.reasonCode(),
        a.retry(),
        a.targetRank(),
        a.latency(),
        a.timeToFirstText(),
        a.message().isEmpty() ? "" : MASK,
        a.failure(),
        a.status(),
        a.requestId(),
        a.usage(),
        a.cost(),
        a.cacheHit());
  }
}
