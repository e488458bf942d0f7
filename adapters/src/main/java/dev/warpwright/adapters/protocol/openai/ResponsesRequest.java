package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.wire.AcceptedIds;
import dev.warpwright.adapters.wire.PendingResults;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.adapters.wire.ToolResultText;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Image;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolResultFormat;
import dev.warpwright.model.ToolSpec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the body of a Responses request. Pure: the same call gives the same bytes.
 *
 * <p>Only documented members are written, and only when they are set. Decisions that the protocol
 * leaves open:
 *
 * <ul>
 *   <li>Nothing is stored at the provider: the whole conversation goes with every call, with {@code
 *       store} false. Options that would add a stored one are refused.
 *   <li>{@code reasoning.encrypted_content} is asked for where reasoning is to be expected; the
 *       service refuses it for models that do not reason.
 *   <li>Tools are marked as not strict: strict ones, the protocol's default, must require every
 *       member of their schema.
 *   <li>Tools, {@code include} and {@code reasoning} add to those of the provider options, so that
 *       hosted tools and a summary can be asked for.
 *   <li>A tool's result is JSON text, see {@link ToolResultText}.
 *   <li>The input of a call that could not be read is replayed as the empty object; its result
 *       tells the model what was wrong.
 *   <li>Text without characters is left out of an answer, and so is an answer of which nothing is
 *       left.
 * </ul>
 */
final class ResponsesRequest {
  private static final AcceptedIds IDS = AcceptedIds.matching("(?s).{1,64}");
  private static final String ENCRYPTED = "reasoning.encrypted_content";

  private final String modelId;
  private final ToolResultFormat format;
  private final ArrayNode input;
  private final PendingResults results = new PendingResults();

  private ResponsesRequest(String modelId, ToolResultFormat format, ArrayNode input) {
    this.modelId = modelId;
    this.format = format;
    this.input = input;
  }

  /**
   * The body of a request for a whole answer, UTF-8.
   *
   * @param reasons whether the model reasons without being asked
   */
  static byte[] body(String modelId, ModelCall call, boolean reasons) {
    return utf8(members(modelId, call, reasons).put("stream", false));
  }

  /** The body of a request for an answer while it comes, UTF-8. */
  static byte[] streamed(String modelId, ModelCall call, boolean reasons) {
    return utf8(members(modelId, call, reasons).put("stream", true));
  }

  private static byte[] utf8(ObjectNode body) {
    return StrictJson.write(body).getBytes(StandardCharsets.UTF_8);
  }

  private static ObjectNode members(String modelId, ModelCall call, boolean reasons) {
    ObjectNode body = RequestRules.providerOptions(call);
    for (String stored : List.of("previous_response_id", "conversation")) {
      if (body.has(stored)) {
        throw RequestRules.refused(
            "Provider options must not hold "
                + stored
                + ": the whole conversation is sent with every call, and nothing is stored.");
      }
    }
    body.put("model", modelId);
    new ResponsesRequest(modelId, call.toolResults(), body.putArray("input"))
        .addAll(call.messages());
    tools(call, body);
    call.temperature()
        .ifPresent(value -> body.put("temperature", RequestRules.decimal("temperature", value)));
    call.maxTokens().ifPresent(limit -> body.put("max_output_tokens", limit));
    call.reasoning()
        .ifPresent(wanted -> object(body, "reasoning").put("effort", OpenAiEffort.of(wanted)));
    if (reasons || call.reasoning().isPresent()) {
      ArrayNode include = array(body, "include");
      if (include.values().stream().noneMatch(one -> one.asString("").equals(ENCRYPTED))) {
        include.add(ENCRYPTED);
      }
    }
    call.output()
        .ifPresent(
            format ->
                OpenAiFormat.writeResponses(format, object(body, "text").putObject("format")));
    return body.put("store", false);
  }

  private static ObjectNode object(ObjectNode body, String member) {
    return body.get(member) instanceof ObjectNode given ? given : body.putObject(member);
  }

  private static ArrayNode array(ObjectNode body, String member) {
    return body.get(member) instanceof ArrayNode given ? given : body.putArray(member);
  }

  private static void tools(ModelCall call, ObjectNode body) {
    if (!RequestRules.offersTools(call)) {
      return;
    }
    ArrayNode tools = array(body, "tools");
    for (ToolSpec tool : call.tools()) {
      ObjectNode written = tools.addObject().put("type", "function").put("name", tool.name());
      written.put("description", tool.description());
      written.set("parameters", StrictJson.read(tool.inputSchema().text()));
      written.put("strict", false);
    }
    switch (call.toolChoice()) {
      case ToolChoice.Auto _ -> {} // the protocol's default
      case ToolChoice.None _ -> body.put("tool_choice", "none");
      case ToolChoice.Required _ -> body.put("tool_choice", "required");
      case ToolChoice.Named(String name) ->
          body.putObject("tool_choice").put("type", "function").put("name", name);
    }
  }

  private void addAll(List<Message> messages) {
    for (Message message : messages) {
      switch (message.role()) {
        case SYSTEM -> addSaid("system", message);
        case USER -> addSaid("user", message);
        case ASSISTANT -> {
          addResults();
          addAnswer(message);
          results.answered(message);
        }
        case TOOL -> results.add(message);
      }
    }
    addResults();
  }

  private ArrayNode addMessage(String role) {
    return input.addObject().put("role", role).putArray("content");
  }

  private void addSaid(String role, Message message) {
    addResults();
    ArrayNode content = addMessage(role);
    for (Part part : message.parts()) {
      switch (part) {
        case Part.Text(String text) ->
            content.addObject().put("type", "input_text").put("text", text);
        case Image image ->
            content
                .addObject()
                .put("type", "input_image")
                .put("image_url", image.url())
                .put("detail", "auto");
        default -> throw new AssertionError("No part of a user or program: " + part);
      }
    }
  }

  private void addAnswer(Message message) {
    List<Part> parts =
        message.parts().stream()
            .filter(part -> !(part instanceof Part.Text(String text) && text.isEmpty()))
            .toList();
    @Nullable ArrayNode content = null;
    for (int i = 0; i < parts.size(); i++) {
      switch (parts.get(i)) {
        case Part.Text(String text) -> {
          content = content == null ? addMessage("assistant") : content;
          content.addObject().put("type", "output_text").put("text", text);
        }
        case ToolCall call -> {
          content = null;
          input
              .addObject()
              .put("type", "function_call")
              .put("call_id", IDS.map(call.id()))
              .put("name", call.name())
              .put("arguments", call.input().text());
        }
        case ProviderState state -> {
          Part next = i + 1 < parts.size() ? parts.get(i + 1) : null;
          List<JsonNode> items = PrivateItems.replay(modelId, state, next);
          content = items.isEmpty() ? content : null;
          input.addAll(items);
        }
        case ToolResult _, Image _ ->
            throw new AssertionError("No part of an answer: " + parts.get(i));
      }
    }
  }

  private void addResults() {
    for (ToolResult result : results.take()) {
      input
          .addObject()
          .put("type", "function_call_output")
          .put("call_id", IDS.map(result.callId()))
          .put("output", ToolResultText.of(result, format));
    }
  }
}
