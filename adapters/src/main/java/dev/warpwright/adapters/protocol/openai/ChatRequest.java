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
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolResultFormat;
import dev.warpwright.model.ToolSpec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the body of a Chat Completions request. Pure: the same call gives the same bytes.
 *
 * <p>Only documented members are written, and only when they are set. Decisions that the protocol
 * leaves open:
 *
 * <ul>
 *   <li>A tool's result is JSON text, see {@link ToolResultText}.
 *   <li>The input of a call that could not be read is replayed as the empty object: the protocol
 *       wants JSON there, and servers whose prompt templates parse it fail on anything else. The
 *       call's result tells the model what was wrong.
 *   <li>A turn that holds only calls has the content null.
 *   <li>Private state of providers is left out: this protocol has none.
 *   <li>A form of answer is asked for as {@link OpenAiFormat} says.
 * </ul>
 */
final class ChatRequest {
  private static final AcceptedIds IDS = AcceptedIds.matching("(?s).{1,64}");

  private ChatRequest() {}

  /** The body of a request for a whole answer, UTF-8. */
  static byte[] body(String modelId, ModelCall call) {
    return utf8(members(modelId, call).put("stream", false));
  }

  /** The body of a request for an answer while it comes, UTF-8. */
  static byte[] streamed(String modelId, ModelCall call) {
    ObjectNode body = members(modelId, call).put("stream", true);
    ObjectNode options =
        body.get("stream_options") instanceof ObjectNode given
            ? given
            : body.putObject("stream_options");
    options.put("include_usage", true);
    return utf8(body);
  }

  private static byte[] utf8(ObjectNode body) {
    return StrictJson.write(body).getBytes(StandardCharsets.UTF_8);
  }

  private static ObjectNode members(String modelId, ModelCall call) {
    ObjectNode body = RequestRules.providerOptions(call);
    body.put("model", modelId);
    messages(call, body.putArray("messages"));
    tools(call, body);
    call.temperature()
        .ifPresent(value -> body.put("temperature", RequestRules.decimal("temperature", value)));
    String limitName = call.reasoning().isPresent() ? "max_completion_tokens" : "max_tokens";
    call.maxTokens().ifPresent(limit -> body.put(limitName, limit));
    call.reasoning().ifPresent(wanted -> body.put("reasoning_effort", OpenAiEffort.of(wanted)));
    call.output()
        .ifPresent(format -> OpenAiFormat.writeChat(format, body.putObject("response_format")));
    return body;
  }

  private static void tools(ModelCall call, ObjectNode body) {
    if (!RequestRules.offersTools(call)) {
      return; // the protocol refuses a tool choice without tools
    }
    ArrayNode tools = body.putArray("tools");
    for (ToolSpec tool : call.tools()) {
      ObjectNode function = tools.addObject().put("type", "function").putObject("function");
      function.put("name", tool.name());
      function.put("description", tool.description());
      function.set("parameters", StrictJson.read(tool.inputSchema().text()));
    }
    switch (call.toolChoice()) {
      case ToolChoice.Auto _ -> {} // the protocol's default
      case ToolChoice.None _ -> body.put("tool_choice", "none");
      case ToolChoice.Required _ -> body.put("tool_choice", "required");
      case ToolChoice.Named named ->
          body.putObject("tool_choice")
              .put("type", "function")
              .putObject("function")
              .put("name", named.name());
    }
  }

  private static void messages(ModelCall call, ArrayNode out) {
    PendingResults results = new PendingResults();
    for (Message message : call.messages()) {
      if (message.role() != Role.TOOL) {
        results(results, call.toolResults(), out);
      }
      switch (message.role()) {
        case SYSTEM -> text("system", message, out);
        case USER -> user(message, out);
        case ASSISTANT -> {
          assistant(message, out);
          results.answered(message);
        }
        case TOOL -> results.add(message);
      }
    }
    results(results, call.toolResults(), out);
  }

  private static void text(String role, Message message, ArrayNode out) {
    out.addObject().put("role", role).put("content", message.text());
  }

  private static void user(Message message, ArrayNode out) {
    if (message.images().isEmpty()) {
      text("user", message, out);
      return;
    }
    ArrayNode content = out.addObject().put("role", "user").putArray("content");
    for (Part part : message.parts()) {
      switch (part) {
        case Part.Text(String text) -> content.addObject().put("type", "text").put("text", text);
        case Image image ->
            content
                .addObject()
                .put("type", "image_url")
                .putObject("image_url")
                .put("url", image.url());
        default -> throw new AssertionError("No part of a user: " + part);
      }
    }
  }

  private static void assistant(Message message, ArrayNode out) {
    List<ToolCall> calls = message.toolCalls();
    if (calls.isEmpty()) {
      text("assistant", message, out);
      return;
    }
    RequestRules.requireTextBeforeCalls(message);
    ObjectNode turn = out.addObject().put("role", "assistant");
    String text = message.text();
    if (text.isEmpty()) {
      turn.putNull("content");
    } else {
      turn.put("content", text);
    }
    ArrayNode toolCalls = turn.putArray("tool_calls");
    for (ToolCall call : calls) {
      toolCalls
          .addObject()
          .put("id", IDS.map(call.id()))
          .put("type", "function")
          .putObject("function")
          .put("name", call.name())
          .put("arguments", call.input().text());
    }
  }

  private static void results(PendingResults results, ToolResultFormat format, ArrayNode out) {
    for (ToolResult result : results.take()) {
      out.addObject()
          .put("role", "tool")
          .put("tool_call_id", IDS.map(result.callId()))
          .put("content", ToolResultText.of(result, format));
    }
  }
}
