package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.wire.AcceptedIds;
import dev.warpwright.adapters.wire.PendingResults;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.adapters.wire.ToolResultText;
import dev.warpwright.model.Image;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolResultFormat;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Writes the conversation of one Chat Completions request. Used once. */
final class ChatMessages {
  private static final AcceptedIds IDS = AcceptedIds.matching("(?s).{1,64}");

  private final ChatDialect dialect;
  private final String modelId;
  private final ToolResultFormat format;
  private final Optional<String> schema;
  private final ArrayNode out;
  private final PendingResults results = new PendingResults();

  ChatMessages(ChatDialect dialect, String modelId, ModelCall call, ArrayNode out) {
    this.dialect = dialect;
    this.modelId = modelId;
    this.format = call.toolResults();
    this.schema = call.output().flatMap(this::told);
    this.out = out;
  }

  /** What a model must be told of the form of its answer. */
  private Optional<String> told(OutputFormat output) {
    return dialect.has(Quirk.SCHEMA_IN_MESSAGE)
            && output instanceof OutputFormat.JsonSchema(var name, var words, var wanted)
        ? Optional.of(
            "Answer with one JSON object, named %s, and nothing else.%s It matches this JSON Schema: %s"
                .formatted(name, words.map(text -> " " + text).orElse(""), wanted.text()))
        : Optional.empty();
  }

  /** Writes the messages of a call. */
  void write(ModelCall call) {
    boolean schemaIsTold = schema.isEmpty();
    for (Message message : call.messages()) {
      if (message.role() != Role.TOOL) {
        results();
      }
      if (!schemaIsTold && message.role() != Role.SYSTEM) {
        schemaIsTold = true;
        system(schema.get());
      }
      switch (message.role()) {
        case SYSTEM -> system(message.text());
        case USER -> user(message);
        case ASSISTANT -> {
          assistant(message);
          results.answered(message);
        }
        case TOOL -> results.add(message);
      }
    }
    results();
    if (!schemaIsTold) {
      system(schema.get());
    }
  }

  private void system(String text) {
    out.addObject().put("role", "system").put("content", text);
  }

  private void user(Message message) {
    if (message.images().isEmpty()) {
      out.addObject().put("role", "user").put("content", message.text());
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

  private void assistant(Message message) {
    List<ToolCall> calls = message.toolCalls();
    ObjectNode turn = out.addObject().put("role", "assistant");
    String text = message.text();
    if (text.isEmpty() && !calls.isEmpty() && !dialect.has(Quirk.EMPTY_TEXT_BESIDE_CALLS)) {
      turn.putNull("content");
    } else {
      turn.put("content", text);
    }
    dialect.privateReasoning().replay(modelId, message, turn);
    if (calls.isEmpty()) {
      return;
    }
    RequestRules.requireTextBeforeCalls(message);
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

  private void results() {
    for (ToolResult result : results.take()) {
      out.addObject()
          .put("role", "tool")
          .put("tool_call_id", IDS.map(result.callId()))
          .put("content", ToolResultText.of(result, format));
    }
  }
}
