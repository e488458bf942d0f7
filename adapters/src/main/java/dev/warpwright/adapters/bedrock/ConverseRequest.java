package dev.warpwright.adapters.bedrock;

import dev.warpwright.adapters.protocol.anthropic.Thinking;
import dev.warpwright.adapters.wire.AcceptedIds;
import dev.warpwright.adapters.wire.PendingResults;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.adapters.wire.SchemaDialect;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning.Effort;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the body of a Converse request. Pure: the same call gives the same bytes, whether it
 * streams or not; the path says that.
 *
 * <p>Only documented members are written, and only when they are set. What the protocol demands and
 * the vocabulary does not say:
 *
 * <ul>
 *   <li>Roles alternate, so neighbours of one role become one message. Results are part of the user
 *       message that follows their calls, before its text, and all of a turn stand in one.
 *   <li>Blank text is refused by the service in every place, so it is left out, and so is a message
 *       of which nothing is left.
 *   <li>A result is the JSON text of its output, so that no number passes through a {@code double}
 *       on the way; a failure is its plain text. Which it is, {@code status} says.
 *   <li>There is no word for "call no tool": tools are left out. But the service refuses a
 *       conversation with calls or results whose request declares no tool. Then the tools of these
 *       calls are declared with a description that forbids them; the same if the call offers none.
 *   <li>The input of a call that could not be read is replayed as the empty object; its result
 *       tells the model what was wrong.
 *   <li>Claude is asked to reason in its own words, among the fields that Converse hands on; for
 *       other models each family has others, so they are asked by provider options only. If others
 *       began the turn that is going on, a budget is left out, as {@code MessagesRequest} does.
 *   <li>The schema of an output is text here; rules that the service refuses become words in its
 *       descriptions. A call for any JSON object is sent as it is: there is no such mode.
 * </ul>
 */
final class ConverseRequest {
  /** The strictest alphabet of the models behind the service. */
  private static final AcceptedIds IDS = AcceptedIds.matching("[a-zA-Z0-9_-]{1,64}");

  private static final String ADDITIONAL = "additionalModelRequestFields";
  private static final String FORBIDDEN = "Not available any more. Do not call it.";
  private static final Json ANY_OBJECT = Json.parse("{\"type\":\"object\"}");

  private final String modelId;
  private final ModelCall call;
  private final PendingResults results = new PendingResults();
  private final ArrayNode messages = StrictJson.mapper().createArrayNode();

  /** The tools that the conversation has called, as they are declared where none is offered. */
  private final Map<String, ToolSpec> called = new LinkedHashMap<>();

  private ConverseRequest(String modelId, ModelCall call) {
    this.modelId = modelId;
    this.call = call;
  }

  /** The body of a request, UTF-8. */
  static byte[] body(String modelId, ModelCall call) {
    ObjectNode body = new ConverseRequest(modelId, call).write();
    return StrictJson.bytes(body);
  }

  /**
   * Whether a model is one of Anthropic's, as its id says: that of the model, of its inference
   * profile, or the ARN of either. An ARN of a profile of the program's own does not tell.
   */
  static boolean isClaude(String modelId) {
    return modelId.contains("anthropic.claude");
  }

  private ObjectNode write() {
    Thinking thinking = thinking();
    ObjectNode body = RequestRules.providerOptions(call);
    call.messages().forEach(this::add);
    content("user", results());
    if (messages.isEmpty()) {
      throw RequestRules.refused("A call needs at least one message that is not blank.");
    }
    body.set("messages", messages);
    system(body);
    inferenceConfig(body);
    toolConfig(body);
    switch (thinking) {
      case Thinking.Unset _ -> {}
      case Thinking.Disabled _ -> additional(body, "thinking").put("type", "disabled");
      case Thinking.Adaptive(Optional<Effort> effort) -> {
        additional(body, "thinking").put("type", "adaptive");
        effort.ifPresent(
            hard ->
                additional(body, "output_config")
                    .put("effort", hard.name().toLowerCase(Locale.ROOT)));
      }
      case Thinking.Budget(int tokens) ->
          additional(body, "thinking").put("type", "enabled").put("budget_tokens", tokens);
    }
    if (call.output().orElse(null) instanceof OutputFormat.JsonSchema format) {
      ObjectNode schema =
          body.putObject("outputConfig")
              .putObject("textFormat")
              .put("type", "json_schema")
              .putObject("structure")
              .putObject("jsonSchema");
      schema.put("name", format.name());
      format.description().ifPresent(words -> schema.put("description", words));
      schema.put("schema", StrictJson.write(SchemaDialect.WITHOUT_BOUNDS.write(format.schema())));
    }
    return body;
  }

  private static ObjectNode additional(ObjectNode body, String member) {
    return RequestRules.object(RequestRules.object(body, ADDITIONAL), member);
  }

  private Thinking thinking() {
    if (call.reasoning().isEmpty()) {
      return new Thinking.Unset();
    }
    if (!isClaude(modelId)) {
      throw RequestRules.refused(
          "On Bedrock reasoning is set for Claude models only; for others say it as provider"
              + " options, in additionalModelRequestFields.");
    }
    Thinking wanted = Thinking.of(call.reasoning().get());
    wanted.requireFitting(call);
    return wanted instanceof Thinking.Budget && !mayThink() ? new Thinking.Unset() : wanted;
  }

  /** Whether the turn that is going on, if one is, began with a block of reasoning. */
  private boolean mayThink() {
    List<Message> all = call.messages();
    int turn = all.size();
    while (turn > 0 && all.get(turn - 1).role() != Role.USER) {
      turn--;
    }
    return all.subList(turn, all.size()).stream()
        .filter(message -> message.role() == Role.ASSISTANT)
        .map(this::blocks)
        .filter(blocks -> !blocks.isEmpty())
        .findFirst()
        .map(blocks -> blocks.getFirst().has(ReasoningBlocks.MEMBER))
        .orElse(true);
  }

  // --- the conversation
  // ---------------------------------------------------------------------------

  private void add(Message message) {
    switch (message.role()) {
      case SYSTEM -> {} // stands outside the conversation
      case USER -> {
        List<ObjectNode> blocks = results();
        message.parts().forEach(part -> question(part).ifPresent(blocks::add));
        content("user", blocks);
      }
      case ASSISTANT -> {
        content("user", results());
        content("assistant", blocks(message));
        results.answered(message);
        message.toolCalls().forEach(asked -> called(asked.name()));
      }
      case TOOL -> {
        results.add(message);
        message.toolResults().forEach(result -> called(result.toolName()));
      }
    }
  }

  private void called(String tool) {
    called.computeIfAbsent(tool, name -> new ToolSpec(name, FORBIDDEN, ANY_OBJECT));
  }

  /** Adds blocks to the latest message if it is of the same role, else in another one. */
  private void content(String role, List<ObjectNode> blocks) {
    if (blocks.isEmpty()) {
      return;
    }
    JsonNode latest = messages.path(messages.size() - 1);
    if (latest.path("role").asString("").equals(role)
        && latest.path("content") instanceof ArrayNode content) {
      content.addAll(blocks);
    } else {
      messages.addObject().put("role", role).putArray("content").addAll(blocks);
    }
  }

  private static ObjectNode block() {
    return StrictJson.mapper().createObjectNode();
  }

  private static Optional<ObjectNode> question(Part part) {
    return switch (part) {
      case Part.Text(String text) -> text(text);
      case Image image -> Optional.of(image(image));
      default -> throw new AssertionError("No part of a user: " + part);
    };
  }

  private static Optional<ObjectNode> text(String text) {
    return text.isBlank() ? Optional.empty() : Optional.of(block().put("text", text));
  }

  private static ObjectNode image(Image image) {
    if (!image.inline()) {
      throw RequestRules.refused(
          "Bedrock fetches no images; pass the picture itself, with Image.of(mediaType, bytes).");
    }
    String format =
        switch (image.mediaType()) {
          case "image/png" -> "png";
          case "image/jpeg", "image/jpg" -> "jpeg";
          case "image/gif" -> "gif";
          case "image/webp" -> "webp";
          default ->
              throw RequestRules.refused(
                  "Bedrock takes images as png, jpeg, gif and webp, but not as "
                      + image.mediaType()
                      + ".");
        };
    ObjectNode block = block();
    block.putObject("image").put("format", format).putObject("source").put("bytes", image.base64());
    return block;
  }

  /** The results that were gathered. */
  private List<ObjectNode> results() {
    List<ObjectNode> blocks = new ArrayList<>();
    for (ToolResult result : results.take()) {
      ObjectNode block = block();
      ObjectNode written = block.putObject("toolResult");
      written.put("toolUseId", IDS.map(result.callId()));
      String words = result.error() ? RequestRules.errorText(result) : result.output().text();
      written
          .putArray("content")
          .addObject()
          .put("text", words.isBlank() ? "The tool failed." : words);
      written.put("status", result.error() ? "error" : "success");
      blocks.add(block);
    }
    return blocks;
  }

  private List<ObjectNode> blocks(Message answer) {
    List<ObjectNode> blocks = new ArrayList<>();
    for (Part part : answer.parts()) {
      switch (part) {
        case Part.Text(String text) -> text(text).ifPresent(blocks::add);
        case ToolCall asked -> {
          ObjectNode block = block();
          ObjectNode use = block.putObject("toolUse").put("toolUseId", IDS.map(asked.id()));
          use.put("name", asked.name());
          use.set("input", StrictJson.read(asked.input().text()));
          blocks.add(block);
        }
        case ProviderState state -> ReasoningBlocks.replay(modelId, state).ifPresent(blocks::add);
        case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
      }
    }
    return blocks;
  }

  // --- the rest
  // -----------------------------------------------------------------------------------

  private void system(ObjectNode body) {
    List<ObjectNode> texts =
        call.messages().stream()
            .filter(message -> message.role() == Role.SYSTEM)
            .map(message -> text(message.text()))
            .flatMap(Optional::stream)
            .toList();
    if (!texts.isEmpty()) {
      body.putArray("system").addAll(texts);
    }
  }

  private void inferenceConfig(ObjectNode body) {
    if (call.maxTokens().isPresent()) {
      RequestRules.object(body, "inferenceConfig").put("maxTokens", call.maxTokens().getAsInt());
    }
    if (call.temperature().isPresent()) {
      RequestRules.object(body, "inferenceConfig")
          .put(
              "temperature", RequestRules.decimal("temperature", call.temperature().getAsDouble()));
    }
  }

  private void toolConfig(ObjectNode body) {
    boolean offered = RequestRules.offersTools(call) && !call.toolChoice().equals(ToolChoice.NONE);
    if (!offered && called.isEmpty()) {
      return;
    }
    ObjectNode config = body.putObject("toolConfig");
    ArrayNode tools = config.putArray("tools");
    (offered ? call.tools() : called.values()).forEach(tool -> tools.add(toolSpec(tool)));
    switch (call.toolChoice()) {
      case ToolChoice.Auto _, ToolChoice.None _ -> {} // auto is the protocol's default
      case ToolChoice.Required _ -> config.putObject("toolChoice").putObject("any");
      case ToolChoice.Named(String name) ->
          config.putObject("toolChoice").putObject("tool").put("name", name);
    }
  }

  private static ObjectNode toolSpec(ToolSpec tool) {
    ObjectNode block = block();
    ObjectNode written = block.putObject("toolSpec").put("name", tool.name());
    if (!tool.description().isBlank()) {
      written.put("description", tool.description());
    }
    written.putObject("inputSchema").set("json", StrictJson.read(tool.inputSchema().text()));
    return block;
  }
}
