package dev.warpwright;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.ToolCall;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Asks a model and looks at what it says, all on the attempt's thread: whatever is wrong with an
 * answer is a failure of the target.
 */
final class Answers {
  /** The most tool calls of one answer. */
  private static final int MAX_TOOL_CALLS = 128;

  /** The most approvals that a provider asks for by one answer. */
  private static final int MAX_APPROVALS = 128;

  private Answers() {}

  /**
   * Asks.
   *
   * @param provider whom, for the private state in the answer
   * @return an answer that can be used, with complete usage
   * @throws ProviderException if the model throws it, or its answer cannot be used
   */
  static ModelResponse ask(String provider, LanguageModel model, ModelCall call)
      throws InterruptedException {
    return usable(provider, call, model.generate(call));
  }

  /**
   * Asks, and shows what comes.
   *
   * @param dispatch whom, and what
   * @param live is told what comes
   * @return an answer that can be used, with complete usage
   * @throws ProviderException if the model throws it, or its answer cannot be used
   */
  static ModelResponse stream(Dispatch dispatch, LiveAnswer live) throws InterruptedException {
    StreamingModel model = (StreamingModel) dispatch.candidate().model(); // else it was skipped
    ModelCall call = dispatch.call();
    ModelResponse response = usable(dispatch.target().provider(), call, model.stream(call, live));
    live.complete(response.message().text());
    return response;
  }

  private static ModelResponse usable(
      String provider, ModelCall call, @Nullable ModelResponse response) {
    if (response == null) {
      throw protocol("The adapter returned no answer.");
    }
    if (response.finishReason().kind() == FinishReason.Kind.ERROR) {
      throw ProviderException.builder(
              ProviderException.Kind.PROVIDER_EVENT, "The provider ended its answer with an error.")
          .requestId(response.requestId().orElse(null))
          .providerMessage(response.finishReason().raw())
          .build();
    }
    requireReasonable(response.message().toolCalls());
    requireReasonableApprovals(response.message().approvals());
    return PrivateState.issuedBy(provider, UsageEstimate.complete(call.messages(), response));
  }

  private static void requireReasonable(List<ToolCall> calls) {
    if (calls.size() > MAX_TOOL_CALLS) {
      throw protocol(
          "The answer asks for %d tool calls, more than the bound of %d."
              .formatted(calls.size(), MAX_TOOL_CALLS));
    }
    if (calls.size() < 2) {
      return;
    }
    Set<String> ids = new HashSet<>();
    for (ToolCall call : calls) {
      if (!ids.add(call.id())) {
        throw protocol("Two tool calls of the answer have the same id.");
      }
    }
  }

  private static void requireReasonableApprovals(List<ProviderState> asking) {
    if (asking.size() > MAX_APPROVALS) {
      throw protocol(
          "The answer asks for %d approvals, more than the bound of %d."
              .formatted(asking.size(), MAX_APPROVALS));
    }
    Set<String> ids = new HashSet<>();
    for (ProviderState state : asking) {
      ProviderApproval asked = state.approval().orElseThrow();
      if (!ids.add(asked.requestId())) {
        throw protocol("Two requests for approval of the answer have the same id.");
      }
      if (asked.answer().isPresent()) {
        throw protocol("A request for approval of the answer has an answer already.");
      }
    }
  }

  private static ProviderException protocol(String message) {
    return ProviderException.builder(ProviderException.Kind.PROTOCOL, message).build();
  }
}
