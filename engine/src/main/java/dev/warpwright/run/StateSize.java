package dev.warpwright.run;

import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ApprovalTokenIssued;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.ContextCompacted;
import dev.warpwright.run.RunEvent.GuardrailChecked;
import dev.warpwright.run.RunEvent.MemoryLoaded;
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
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * By how much an event makes a run's state larger: the UTF-8 bytes of the texts that the state
 * keeps of it.
 *
 * <p>A call counts {@link #CALL_BYTES} for its result as soon as the model asks for it, so that a
 * short result, such as an error, always fits. What ends a run or says that it waits counts
 * nothing, so that a run can always end.
 */
final class StateSize {
  static final int CALL_BYTES = 256;

  private StateSize() {}

  static long of(RunEvent event) {
    return switch (event) {
      case RunStarted started ->
          started.messages().stream().mapToLong(StateSize::of).sum()
              + of(started.metadata())
              + started.input().map(StateSize::of).orElse(0L)
              + started.forkedFrom().map(StateSize::of).orElse(0L);
      case MemoryLoaded memory -> memory.messages().stream().mapToLong(StateSize::of).sum();
      case ModelResponded answer -> of(answer.message());
      case ApprovalRequested asked ->
          of(asked.requestId())
              + of(asked.arguments())
              + asked.why().map(why -> of(why.reason()) + of(why.metadata())).orElse(0L);
      case ApprovalTokenIssued token ->
          of(token.requestId()) + of(token.fingerprint()) + of(token.tokenHash());
      case ApprovalDecided decided -> of(decided.reason()) + of(decided.decidedBy());
      case ToolFinished finished -> beyondReserve(of(finished.output()));
      case ToolReconciled found -> beyondReserve(found.output().map(StateSize::of).orElse(0L));
      case ChildFinished finished -> beyondReserve(of(finished.text()));
      case ChildStarted none -> 0;
      case ContextCompacted compacted -> of(ContextCompacted.message(compacted.summary()));
      case GuardrailChecked none -> 0;
      case StepStarted none -> 0;
      case RouteBound none -> 0;
      case ToolStarted none -> 0;
      case RunSuspended none -> 0;
      case RunResumed none -> 0;
      case CancelRequested none -> 0;
      case RunCancelled none -> 0;
      case RunTimedOut none -> 0;
      case RunCompleted none -> 0;
      case RunFailed none -> 0;
      case FlowEvent call -> of(call);
    };
  }

  /** A recorded call takes some room whatever it is. */
  private static long of(FlowEvent event) {
    return switch (event) {
      case FlowEvent.FlowStepFinished end -> CALL_BYTES + end.value().map(StateSize::of).orElse(0L);
      case FlowEvent.SignalReceived signal -> of(signal.value());
      case FlowEvent.TimerScheduled timer -> CALL_BYTES;
      case FlowEvent.SignalAwaited signal -> CALL_BYTES;
      case FlowEvent.ParallelStarted parallel -> CALL_BYTES;
      case FlowEvent.VersionMarked mark -> CALL_BYTES;
      case FlowEvent.Observed observed -> CALL_BYTES;
      case FlowEvent.StepRetryScheduled failure -> CALL_BYTES;
      case FlowEvent.FlowStepStarted none -> 0;
      case FlowEvent.TimerFired none -> 0;
      case FlowEvent.SignalTimedOut none -> 0;
      case FlowEvent.ParallelFinished none -> 0;
    };
  }

  /** By how much a state becomes smaller without these messages, at least. */
  static long freedBy(List<Message> removed) {
    return removed.stream()
        .flatMap(message -> message.parts().stream())
        .mapToLong(
            part ->
                part instanceof ToolResult result ? beyondReserve(of(result.output())) : of(part))
        .sum();
  }

  private static long beyondReserve(long bytes) {
    return Math.max(0, bytes - CALL_BYTES);
  }

  private static long of(RunStarted.ForkedFrom fork) {
    return fork.all()
        .flatMap(each -> Stream.concat(each.replaced().stream(), each.added().stream()))
        .mapToLong(StateSize::of)
        .sum();
  }

  private static long of(Message message) {
    long bytes = 0;
    for (Part part : message.parts()) {
      bytes += of(part);
    }
    return bytes;
  }

  private static long of(Part part) {
    return switch (part) {
      case Part.Text(String text) -> of(text);
      case Image image -> of(image.url());
      case ToolCall call ->
          CALL_BYTES + of(call.id()) + of(call.name()) + of(call.input()) + of(call.malformed());
      case ToolResult result -> of(result.output());
      case ProviderState state -> of(state.data()) + state.approval().map(StateSize::of).orElse(0L);
    };
  }

  private static long of(ProviderApproval asked) {
    return CALL_BYTES
        + of(asked.requestId())
        + of(asked.server())
        + of(asked.tool())
        + of(asked.arguments());
  }

  private static long of(Map<String, String> notes) {
    return notes.entrySet().stream().mapToLong(e -> of(e.getKey()) + of(e.getValue())).sum();
  }

  private static long of(Optional<String> text) {
    return text.map(StateSize::of).orElse(0L);
  }

  private static long of(Json json) {
    return of(json.text());
  }

  /** The length in UTF-8; an unpaired surrogate becomes U+FFFD, which has three bytes. */
  private static long of(String text) {
    long bytes = text.length();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        bytes += c >= 0x800 && !isPaired(text, i) ? 2 : 1;
      }
    }
    return bytes;
  }

  /** Each half of a pair counts two of its four bytes. */
  private static boolean isPaired(String text, int i) {
    char c = text.charAt(i);
    return Character.isHighSurrogate(c)
        ? i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))
        : Character.isLowSurrogate(c) && i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
  }
}
