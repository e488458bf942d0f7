package dev.warpwright.adapters.google;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.FinishReasons;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.FinishReason.Kind;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads a whole generateContent answer, leniently: parts that are not known are passed over, what
 * is absent stays absent. Of several candidates the first counts.
 *
 * <p>A prompt that was blocked has no candidate, and is an answer that a filter cut off. A reason
 * that says that a call went wrong is an error, and no call of such an answer is handed out. An
 * answer with neither a candidate nor a reason breaks the protocol.
 */
final class GeminiResponse {
  private final Failures failures;
  private final String modelId;
  private final CallReader calls;
  private final Answer answer;
  private final List<Part> parts = new ArrayList<>();

  private GeminiResponse(Failures failures, String modelId, ModelCall call, Answer answer) {
    this.failures = failures;
    this.modelId = modelId;
    this.answer = answer;
    this.calls = new CallReader(failures, call, answer, "args");
  }

  static ModelResponse read(Failures failures, String modelId, ModelCall call, Answer answer) {
    return new GeminiResponse(failures, modelId, call, answer).read();
  }

  private ModelResponse read() {
    JsonNode body = answer.json();
    JsonNode candidate = body.path("candidates").path(0);
    String reason = CallReader.text(candidate.path("finishReason"));
    JsonNode given = candidate.path("content").path("parts");
    String blocked = blockReason(body);
    if (reason == null && blocked == null && !given.isArray()) {
      throw failures.withoutContent(answer, "has neither a candidate nor a reason.");
    }
    FinishReason finish =
        reason == null && blocked != null
            ? new FinishReason(Kind.CONTENT_FILTER, blocked)
            : FinishReasons.read(reason);
    for (JsonNode part : given) {
      add(part, finish.kind() != Kind.ERROR);
    }
    Message message = new Message(Role.ASSISTANT, parts);
    return new ModelResponse(
        message,
        finish.kind() == Kind.STOP && !message.toolCalls().isEmpty()
            ? new FinishReason(Kind.TOOL_CALLS, finish.raw())
            : finish,
        GeminiUsage.read(body.path("usageMetadata")),
        failures
            .requestId(answer.headers())
            .or(() -> failures.requestId(body.path("responseId").asString(""))));
  }

  /** Why the prompt was blocked, null if it was not. */
  static @Nullable String blockReason(JsonNode body) {
    return CallReader.text(body.path("promptFeedback").path("blockReason"));
  }

  /** Whether a part holds what the model thinks, and not what it says. */
  static boolean isThought(JsonNode part) {
    return part.path("thought").isBoolean() && part.path("thought").booleanValue();
  }

  /** Whether a part asks for a tool of the program's. */
  static boolean isCall(JsonNode part) {
    return part.path("functionCall").isObject() && !isThought(part);
  }

  private void add(JsonNode part, boolean withCalls) {
    PartState state = PartState.of(part);
    if (isCall(part)) {
      if (withCalls) {
        JsonNode function = part.path("functionCall");
        ToolCall call =
            calls.next(function.path("id"), function.path("name"), function.path("args"));
        state.before(modelId, call).ifPresent(parts::add);
        parts.add(call);
      }
    } else if (!isThought(part) && !part.path("text").asString("").isEmpty()) {
      Part.Text text = new Part.Text(part.path("text").asString(""));
      state.before(modelId, text).ifPresent(parts::add);
      parts.add(text);
    } else if (state.signature() != null
        || part.has("executableCode")
        || part.has("codeExecutionResult")) {
      parts.add(PartState.whole(modelId, part));
    }
  }
}
