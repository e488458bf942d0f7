package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.ErrorObject;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.http.JsonExchange;
import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.FinishReasons;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import java.net.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads a whole Chat Completions answer, leniently: what is not known is passed over, what is
 * absent stays absent. An answer without a first choice with a message breaks the protocol.
 *
 * @param failures how it fails
 * @param dialect how the vendor speaks
 * @param modelId the model that was asked
 * @param call what it was asked
 */
record ChatResponse(Failures failures, ChatDialect dialect, String modelId, ModelCall call)
    implements JsonExchange.Reader<ModelResponse> {

  @Override
  public ModelResponse read(Answer answer) {
    HttpHeaders headers = answer.headers();
    JsonNode body = answer.json();
    JsonNode choice = body.path("choices").path(0);
    if (choice.isMissingNode()) {
      throw failures.withoutContent(answer, "has no choices.");
    }
    Optional<ErrorObject> error = ErrorObject.in(choice);
    if (error.isPresent()) {
      throw failures.event(error.get(), headers);
    }
    JsonNode message = choice.path("message");
    if (!message.isObject()) {
      throw failures.protocol("has a choice without a message.", headers);
    }
    List<Part> parts = new ArrayList<>();
    dialect.privateReasoning().read(modelId, message).ifPresent(parts::add);
    texts(failures, headers, message.path("content")).forEach(text -> addText(text, parts));
    boolean refused = message.path("refusal").isString();
    if (refused) {
      addText(message.path("refusal").stringValue(), parts);
    }
    parts.addAll(toolCalls(message.path("tool_calls"), answer));
    JsonNode usage = body.path("usage").isObject() ? body.path("usage") : choice.path("usage");
    return new ModelResponse(
        new Message(Role.ASSISTANT, parts),
        finish(reason(choice), raw(choice), refused),
        usage(usage),
        failures.requestId(headers));
  }

  /** Reads the counters; the object may be missing or null. */
  Usage usage(JsonNode usage) {
    return TokenUsage.ofChat(usage, dialect.has(Quirk.REASONING_BESIDE_OUTPUT));
  }

  /** The finish signal of a choice, if it has come. */
  static @Nullable String reason(JsonNode choice) {
    return CallReader.text(choice.path("finish_reason"));
  }

  /** The word of whoever made the answer, where a vendor in between translates it. */
  static @Nullable String raw(JsonNode choice) {
    return CallReader.text(choice.path("native_finish_reason"));
  }

  private static void addText(String text, List<Part> parts) {
    if (!text.isEmpty()) {
      parts.add(new Part.Text(text));
    }
  }

  /** The texts of a content, which may be a list of parts; those that are no text are left out. */
  static List<String> texts(Failures failures, HttpHeaders headers, JsonNode content) {
    if (content.isString()) {
      return List.of(content.stringValue());
    }
    if (content.isNull() || content.isMissingNode()) {
      return List.of();
    }
    if (!content.isArray()) {
      throw failures.protocol(
          "has a message whose content is neither text nor a list of parts.", headers);
    }
    List<String> texts = new ArrayList<>();
    content.forEach(part -> texts.addAll(texts(failures, headers, part.path("text"))));
    return texts;
  }

  /** The finish; a refusal is one whatever the reason says. */
  static FinishReason finish(@Nullable String reason, @Nullable String raw, boolean refused) {
    FinishReason read = FinishReasons.read(reason);
    return new FinishReason(
        refused ? FinishReason.Kind.REFUSAL : read.kind(), raw == null ? read.raw() : raw);
  }

  private List<ToolCall> toolCalls(JsonNode calls, Answer answer) {
    CallReader reader = new CallReader(failures, call, answer, "arguments");
    List<ToolCall> read = new ArrayList<>(calls.size());
    for (JsonNode given : calls(failures, answer.headers(), calls)) {
      JsonNode function = given.path("function");
      read.add(reader.next(given.path("id"), function.path("name"), function.path("arguments")));
    }
    return read;
  }

  /** The list of calls or of their fragments, which may be missing or null. */
  static JsonNode calls(Failures failures, HttpHeaders headers, JsonNode calls) {
    if (!calls.isArray() && !calls.isNull() && !calls.isMissingNode()) {
      throw failures.protocol("has tool calls that are no list.", headers);
    }
    return calls;
  }
}
