package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.wire.AcceptedIds;
import dev.warpwright.adapters.wire.PendingResults;
import dev.warpwright.adapters.wire.ToolResultText;
import dev.warpwright.model.Image;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolResultFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/** Writes the conversation of one Responses request. Used once. */
final class ResponsesInput {
  private static final AcceptedIds IDS = AcceptedIds.matching("(?s).{1,64}");

  private final String modelId;
  private final ToolResultFormat format;
  private final ArrayNode input;
  private final PendingResults results = new PendingResults();

  ResponsesInput(String modelId, ToolResultFormat format, ArrayNode input) {
    this.modelId = modelId;
    this.format = format;
    this.input = input;
  }

  /** Writes the messages of a call. */
  void addAll(List<Message> messages) {
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
