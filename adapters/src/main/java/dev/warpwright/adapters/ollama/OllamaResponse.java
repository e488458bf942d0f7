package dev.warpwright.adapters.ollama;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.Counters;
import dev.warpwright.adapters.wire.FinishReasons;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.FinishReason.Kind;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import java.net.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads a whole answer, leniently: what is not known is passed over, what is absent stays absent.
 * An answer without a message breaks the protocol, and so does one that says that it is not done.
 */
final class OllamaResponse {
  private OllamaResponse() {}

  static ModelResponse read(Failures failures, String modelId, ModelCall call, Answer answer) {
    JsonNode body = answer.json();
    JsonNode message = body.path("message");
    if (!message.isObject()) {
      throw failures.withoutContent(answer, "has no message.");
    }
    if (!body.path("done").asBoolean(true)) {
      throw failures.protocol("ended without saying that it is finished.", answer.headers());
    }
    List<Part> parts = new ArrayList<>();
    String thinking = message.path("thinking").asString("");
    if (!thinking.isEmpty()) {
      parts.add(PrivateThinking.keep(modelId, thinking));
    }
    String text = message.path("content").asString("");
    if (!text.isEmpty()) {
      parts.add(new Part.Text(text));
    }
    List<ToolCall> calls = calls(failures, call, answer, message);
    parts.addAll(calls);
    return new ModelResponse(
        new Message(Role.ASSISTANT, parts),
        finish(CallReader.text(body.path("done_reason")), !calls.isEmpty()),
        usage(body),
        failures.requestId(answer.headers()));
  }

  private static List<ToolCall> calls(
      Failures failures, ModelCall call, Answer answer, JsonNode message) {
    CallReader reader = new CallReader(failures, call, answer, "arguments");
    List<ToolCall> calls = new ArrayList<>();
    for (JsonNode given : calls(failures, answer.headers(), message)) {
      JsonNode function = given.path("function");
      calls.add(reader.next(given.path("id"), function.path("name"), function.path("arguments")));
    }
    return calls;
  }

  /** The calls of a message, each of them whole; none if they are missing or null. */
  static JsonNode calls(Failures failures, HttpHeaders headers, JsonNode message) {
    JsonNode calls = message.path("tool_calls");
    if (!calls.isArray() && !calls.isNull() && !calls.isMissingNode()) {
      throw failures.protocol("has tool calls that are no list.", headers);
    }
    return calls;
  }

  /** The server has no word of its own for calls; a missing one means that all is well. */
  private static FinishReason finish(@Nullable String raw, boolean calls) {
    FinishReason reason = raw == null ? new FinishReason(Kind.STOP, "") : FinishReasons.read(raw);
    return calls && reason.kind() == Kind.STOP
        ? new FinishReason(Kind.TOOL_CALLS, reason.raw())
        : reason;
  }

  /** The counters stand beside the message of a finished answer; a zero is left out there. */
  static Usage usage(JsonNode body) {
    TokenCount input = Counters.read(body.path("prompt_eval_count"));
    TokenCount output = Counters.read(body.path("eval_count"));
    return new Usage(
        input,
        TokenCount.ABSENT,
        TokenCount.ABSENT,
        output,
        TokenCount.ABSENT,
        input.isPresent() && output.isPresent() ? Counters.sum(input, output) : TokenCount.ABSENT,
        Optional.empty());
  }
}
