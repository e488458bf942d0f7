package dev.warpwright.adapters.ollama;

import dev.warpwright.adapters.wire.PendingResults;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.adapters.wire.SchemaDialect;
import dev.warpwright.adapters.wire.ToolResultText;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Image;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.util.Locale;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the body of a chat request. Pure: the same call gives the same bytes.
 *
 * <p>Only documented members are written, and only when they are set; {@code stream} always, since
 * the server's default is a stream. Decisions that the protocol leaves open:
 *
 * <ul>
 *   <li>Temperature and limit stand in {@code options}, beside what the provider options put there.
 *   <li>There is no tool choice: where no tool may be called, none is offered, and a call that
 *       demands one is refused.
 *   <li>A tool's result is JSON text, see {@link ToolResultText}, with both the name of the tool
 *       and the id of the call: which of the two tells is up to the model's template.
 *   <li>The input of a call that could not be read is replayed as the empty object; its result
 *       tells the model what was wrong.
 *   <li>What a model thought is replayed to it on every turn. The model's own template leaves out
 *       what the model does not want to see again.
 *   <li>A pattern of an output's schema that the server's grammar cannot express becomes words in
 *       the description.
 * </ul>
 */
final class OllamaRequest {
  /** Source: llama.cpp's conversion of JSON Schema to a grammar, with which answers are held. */
  private static final SchemaDialect DIALECT = new SchemaDialect(OllamaRequest::takes, true);

  private final String modelId;
  private final ModelCall call;
  private final PendingResults results = new PendingResults();
  private final ArrayNode messages = StrictJson.mapper().createArrayNode();

  private OllamaRequest(String modelId, ModelCall call) {
    this.modelId = modelId;
    this.call = call;
  }

  private static boolean takes(String keyword, JsonNode value) {
    String text = value.asString("");
    return !keyword.equals("pattern")
        || (text.startsWith("^") && text.endsWith("$") && SchemaDialect.isPlain(text));
  }

  /** The body of a request for a whole answer, UTF-8. */
  static byte[] body(String modelId, ModelCall call) {
    return utf8(new OllamaRequest(modelId, call).write().put("stream", false));
  }

  /** The body of a request for an answer while it comes, UTF-8. */
  static byte[] streamed(String modelId, ModelCall call) {
    return utf8(new OllamaRequest(modelId, call).write().put("stream", true));
  }

  private static byte[] utf8(ObjectNode body) {
    return StrictJson.bytes(body);
  }

  private ObjectNode write() {
    ObjectNode body = RequestRules.providerOptions(call);
    body.put("model", modelId);
    call.messages().forEach(this::add);
    addResults();
    body.set("messages", messages);
    tools(body);
    call.output().ifPresent(format -> body.set("format", format(format)));
    call.reasoning().ifPresent(wanted -> think(wanted, body));
    call.temperature()
        .ifPresent(
            value -> options(body).put("temperature", RequestRules.decimal("temperature", value)));
    call.maxTokens().ifPresent(limit -> options(body).put("num_predict", limit));
    return body;
  }

  /** The member of that name, which provider options may have begun. */
  private static ObjectNode options(ObjectNode body) {
    JsonNode given = body.path("options");
    if (given instanceof ObjectNode options) {
      return options;
    }
    if (!given.isMissingNode()) {
      throw RequestRules.refused(
          "The provider option \"options\" must be a JSON object, such as {\"num_ctx\": 8192}.");
    }
    return body.putObject("options");
  }

  private static JsonNode format(OutputFormat format) {
    return switch (format) {
      case OutputFormat.JsonObject() -> StrictJson.mapper().getNodeFactory().stringNode("json");
      case OutputFormat.JsonSchema schema -> DIALECT.write(schema.schema());
    };
  }

  private static void think(Reasoning wanted, ObjectNode body) {
    switch (wanted) {
      case Reasoning.ByEffort(Reasoning.Effort effort) -> {
        switch (effort) {
          case NONE -> body.put("think", false);
          case MINIMAL ->
              throw RequestRules.refused("This protocol knows no effort between NONE and LOW.");
          case LOW, MEDIUM, HIGH, MAX -> body.put("think", effort.name().toLowerCase(Locale.ROOT));
        }
      }
      case Reasoning.ByBudget _ ->
          throw RequestRules.refused(
              "This protocol takes an effort of reasoning, not a budget of tokens.");
    }
  }

  private void tools(ObjectNode body) {
    if (!RequestRules.offersTools(call)) {
      return;
    }
    switch (call.toolChoice()) {
      case ToolChoice.Auto _ -> {
        ArrayNode tools = body.putArray("tools");
        for (ToolSpec tool : call.tools()) {
          tools.addObject().put("type", "function").set("function", ToolParameters.function(tool));
        }
      }
      case ToolChoice.None _ -> {} // offered none, it calls none
      case ToolChoice.Required _, ToolChoice.Named _ ->
          throw RequestRules.refused(
              "This protocol cannot demand that a tool is called: leave the choice to the model.");
    }
  }

  private void add(Message message) {
    if (message.role() != Role.TOOL) {
      addResults();
    }
    switch (message.role()) {
      case SYSTEM -> text("system", message);
      case USER -> addUser(message);
      case ASSISTANT -> {
        addAnswer(message);
        results.answered(message);
      }
      case TOOL -> results.add(message);
    }
  }

  private ObjectNode text(String role, Message message) {
    return messages.addObject().put("role", role).put("content", message.text());
  }

  private void addUser(Message message) {
    ObjectNode turn = text("user", message);
    if (message.images().isEmpty()) {
      return;
    }
    ArrayNode images = turn.putArray("images");
    for (Image image : message.images()) {
      if (!image.inline()) {
        throw RequestRules.refused(
            "This protocol takes a picture itself, not its URL: fetch it and send its bytes.");
      }
      images.add(image.base64());
    }
  }

  private void addAnswer(Message message) {
    RequestRules.requireTextBeforeCalls(message);
    ObjectNode turn = text("assistant", message);
    String thinking = PrivateThinking.replay(modelId, message);
    if (!thinking.isEmpty()) {
      turn.put("thinking", thinking);
    }
    if (message.toolCalls().isEmpty()) {
      return;
    }
    ArrayNode calls = turn.putArray("tool_calls");
    for (ToolCall asked : message.toolCalls()) {
      ObjectNode function = calls.addObject().put("id", asked.id()).putObject("function");
      function.put("name", asked.name());
      function.set("arguments", StrictJson.read(asked.input().text()));
    }
  }

  private void addResults() {
    for (ToolResult result : results.take()) {
      messages
          .addObject()
          .put("role", "tool")
          .put("tool_name", result.toolName())
          .put("tool_call_id", result.callId())
          .put("content", ToolResultText.of(result, call.toolResults()));
    }
  }
}
