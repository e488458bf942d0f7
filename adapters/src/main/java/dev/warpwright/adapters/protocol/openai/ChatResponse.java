package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.ErrorObject;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.FinishReasons;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import java.net.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads a whole Chat Completions answer, leniently: what is not known is passed over, what is
 * absent stays absent. An answer without a first choice with a message breaks the protocol.
 */
final class ChatResponse {
  private final Failures failures;
  private final ModelCall call;
  private final Answer answer;
  private final JsonNode body;
  private final HttpHeaders headers;

  private ChatResponse(Failures failures, ModelCall call, Answer answer) {
    this.failures = failures;
    this.call = call;
    this.answer = answer;
    this.body = answer.json();
    this.headers = answer.headers();
  }

  static ModelResponse read(Failures failures, ModelCall call, Answer answer) {
    return new ChatResponse(failures, call, answer).read();
  }

  private ModelResponse read() {
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
      throw broken("has a choice without a message.");
    }
    List<Part> parts = new ArrayList<>();
    texts(failures, headers, message.path("content")).forEach(text -> addText(text, parts));
    boolean refused = message.path("refusal").isString();
    if (refused) {
      addText(message.path("refusal").stringValue(), parts);
    }
    parts.addAll(toolCalls(message.path("tool_calls")));
    return new ModelResponse(
        new Message(Role.ASSISTANT, parts),
        finish(CallReader.text(choice.path("finish_reason")), refused),
        TokenUsage.ofChat(body.path("usage")),
        failures.requestId(headers));
  }

  private ProviderException broken(String what) {
    return failures.protocol(what, headers);
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
  static FinishReason finish(@Nullable String raw, boolean refused) {
    FinishReason reason = FinishReasons.read(raw);
    return refused ? new FinishReason(FinishReason.Kind.REFUSAL, reason.raw()) : reason;
  }

  private List<ToolCall> toolCalls(JsonNode calls) {
    CallReader reader = new CallReader(failures, call, answer, "arguments");
    List<ToolCall> read = new ArrayList<>(calls.size());
    for (JsonNode given : calls(failures, headers, calls)) {
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
