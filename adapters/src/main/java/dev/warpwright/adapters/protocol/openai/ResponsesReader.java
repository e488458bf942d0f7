package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.ErrorObject;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.http.JsonExchange;
import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.FinishReasons;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.FinishReason.Kind;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Role;
import dev.warpwright.model.Usage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads a whole Responses answer, leniently: what is not known is kept or passed over, what is
 * absent stays absent. An answer without a list of items breaks the protocol.
 *
 * @param failures how it fails
 * @param modelId the model that was asked
 * @param call what it was asked
 */
record ResponsesReader(Failures failures, String modelId, ModelCall call)
    implements JsonExchange.Reader<ModelResponse> {

  @Override
  public ModelResponse read(Answer answer) {
    JsonNode body = answer.json();
    JsonNode output = body.path("output");
    if (body.path("status").asString("").equals("failed")) {
      throw failed(failures.event(ErrorObject.NONE, answer.headers()), answer);
    }
    if (!output.isArray()) {
      throw failures.withoutContent(answer, "has no output.");
    }
    CallReader calls = new CallReader(failures, call, answer, "arguments");
    PrivateItems items = new PrivateItems(modelId);
    List<Part> parts = new ArrayList<>();
    boolean refused = false;
    for (JsonNode item : output) {
      List<Part> said = new ArrayList<>();
      switch (item.path("type").asString("")) {
        case "message" -> refused |= addTexts(item.path("content"), said);
        case "function_call" ->
            said.add(calls.next(item.path("call_id"), item.path("name"), item.path("arguments")));
        case ApprovalItems.REQUEST -> {
          parts.add(items.asking(item, ApprovalItems.read(item, failures, answer.headers())));
          continue;
        }
        default -> {
          items.add(item);
          continue;
        }
      }
      if (said.isEmpty()) {
        items.skip();
      } else {
        items.before(said.getFirst()).ifPresent(parts::add);
        parts.addAll(said);
      }
    }
    items.last().ifPresent(parts::add);
    Message message = new Message(Role.ASSISTANT, parts);
    return new ModelResponse(
        message,
        reason(body, refused, message),
        usage(body.path("usage")),
        failures.requestId(answer.headers()));
  }

  /** Reads the counters; the object may be missing or null. */
  static Usage usage(JsonNode usage) {
    return TokenUsage.ofResponses(usage);
  }

  /** Adds what a message says; says whether some of it is a refusal. */
  private static boolean addTexts(JsonNode content, List<Part> parts) {
    if (content.isString() && !content.stringValue().isEmpty()) { // some compatible servers
      parts.add(new Part.Text(content.stringValue()));
    }
    boolean refused = false;
    for (JsonNode part : content) {
      boolean refusal = part.path("type").asString("").equals("refusal");
      String text = part.path(refusal ? "refusal" : "text").asString("");
      if (!text.isEmpty()) {
        parts.add(new Part.Text(text));
      }
      refused |= refusal;
    }
    return refused;
  }

  /**
   * The status, and of an incomplete answer what cut it. One that only asks for approvals has not
   * come to its end.
   */
  private static FinishReason reason(JsonNode body, boolean refused, Message message) {
    @Nullable String status = CallReader.text(body.path("status"));
    @Nullable String why = CallReader.text(body.path("incomplete_details").path("reason"));
    FinishReason reason = FinishReasons.read(why == null ? status : why);
    if (refused) {
      return new FinishReason(Kind.REFUSAL, reason.raw());
    }
    if (reason.kind() != Kind.STOP) {
      return reason;
    }
    if (!message.toolCalls().isEmpty()) {
      return new FinishReason(Kind.TOOL_CALLS, reason.raw());
    }
    return message.approvals().isEmpty() ? reason : new FinishReason(Kind.PAUSED, reason.raw());
  }

  /** A failure must not repeat what the provider's own tools may have done already. */
  @Override
  public ProviderException failed(ProviderException failure, Answer answer) {
    JsonNode output = answer.json().path("output");
    boolean mayHaveActed =
        output.isArray()
            ? HostedTools.mayHaveActed(output)
            : HostedTools.mayHaveActed(call, failure);
    return mayHaveActed || HostedTools.failed(output)
        ? failures.hostedTool(failure, mayHaveActed)
        : failure;
  }
}
