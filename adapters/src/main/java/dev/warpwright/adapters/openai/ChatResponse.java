package dev.warpwright.adapters.openai;

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
    addText(message.path("content"), parts);
    boolean refused = message.path("refusal").isString();
    if (refused) {
      addText(message.path("refusal"), parts);
    }
    parts.addAll(toolCalls(message.path("tool_calls")));
    FinishReason reason = FinishReasons.read(CallReader.text(choice.path("finish_reason")));
    return new ModelResponse(
        new Message(Role.ASSISTANT, parts),
        refused ? new FinishReason(FinishReason.Kind.REFUSAL, reason.raw()) : reason,
        TokenUsage.read(body.path("usage"), "prompt", "completion"),
        failures.requestId(headers));
  }

  private ProviderException broken(String what) {
    return failures.protocol(what, headers);
  }

  private void addText(JsonNode content, List<Part> parts) {
    if (content.isArray()) {
      content.forEach(part -> addText(part.path("text"), parts));
    } else if (content.isString()) {
      if (!content.stringValue().isEmpty()) {
        parts.add(new Part.Text(content.stringValue()));
      }
    } else if (!content.isNull() && !content.isMissingNode()) {
      throw broken("has a message whose content is neither text nor a list of parts.");
    }
  }

  private List<ToolCall> toolCalls(JsonNode calls) {
    if (calls.isNull() || calls.isMissingNode()) {
      return List.of();
    }
    if (!calls.isArray()) {
      throw broken("has tool calls that are no list.");
    }
    CallReader reader = new CallReader(failures, call, answer, "arguments");
    List<ToolCall> read = new ArrayList<>(calls.size());
    for (JsonNode given : calls) {
      JsonNode function = given.path("function");
      read.add(reader.next(given.path("id"), function.path("name"), function.path("arguments")));
    }
    return read;
  }
}
