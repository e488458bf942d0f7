package dev.warpwright.adapters.protocol.anthropic;

import dev.warpwright.adapters.wire.AcceptedIds;
import dev.warpwright.adapters.wire.PendingResults;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.adapters.wire.SchemaDialect;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Image;
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
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the body of a Messages request. Pure: the same call gives the same bytes.
 *
 * <p>Only documented members are written, and only when they are set. What the protocol demands and
 * the vocabulary does not say:
 *
 * <ul>
 *   <li>System messages leave the conversation and become one text, joined by line feeds.
 *   <li>The results of a turn are the first blocks of one user message, in call order; the text of
 *       a user message that follows stands behind them. A result is the JSON text of its output; a
 *       failure is its plain text with {@code is_error}, without an envelope.
 *   <li>Blank text is refused by the service in every place, so it is left out, and so is a message
 *       of which nothing is left.
 *   <li>The input of a call that could not be read is replayed as the empty object; its result
 *       tells the model what was wrong.
 *   <li>Rules of an output's schema that the service refuses become words in its descriptions. A
 *       call for any JSON object is sent as it is: the protocol has no such mode.
 *   <li>Blocks of thinking stand where they stood. If others began the turn that is going on (a
 *       fallback did, or a history without blocks), a budget for thinking is left out of the
 *       request: the service refuses to begin thinking in the middle of a turn.
 * </ul>
 */
final class MessagesRequest {
  /** The limit of output tokens that is sent when the call sets none; the protocol demands one. */
  static final int DEFAULT_MAX_TOKENS = 1_024;

  /** The same when the model decides itself how much of it is thinking. */
  static final int DEFAULT_MAX_TOKENS_ADAPTIVE = 16_384;

  private static final AcceptedIds IDS = AcceptedIds.matching("[A-Za-z0-9_-]{1,64}");

  private final String modelId;
  private final ModelCall call;
  private final PendingResults results = new PendingResults();
  private final ArrayNode messages = StrictJson.mapper().createArrayNode();

  private MessagesRequest(String modelId, ModelCall call) {
    this.modelId = modelId;
    this.call = call;
  }

  /** The body of a request for a whole answer, UTF-8. */
  static byte[] body(MessagesService service, String modelId, ModelCall call, Thinking thinking) {
    return utf8(new MessagesRequest(modelId, call).write(service, thinking).put("stream", false));
  }

  /** The body of a request for an answer while it comes, UTF-8. */
  static byte[] streamed(
      MessagesService service, String modelId, ModelCall call, Thinking thinking) {
    return utf8(new MessagesRequest(modelId, call).write(service, thinking).put("stream", true));
  }

  private static byte[] utf8(ObjectNode body) {
    return StrictJson.bytes(body);
  }

  private ObjectNode write(MessagesService service, Thinking byDefault) {
    Thinking wanted = call.reasoning().map(Thinking::of).orElse(byDefault);
    Thinking thinking = mayThink(wanted) ? wanted : new Thinking.Unset();
    thinking.requireFitting(call);
    ObjectNode body = RequestRules.providerOptions(call);
    if (service.bodyVersion().isPresent()) {
      body.put("anthropic_version", service.bodyVersion().get());
      body.remove("model");
    } else {
      body.put("model", modelId);
    }
    body.put("max_tokens", call.maxTokens().orElseGet(() -> defaultMaxTokens(thinking)));
    String system = system();
    if (!system.isBlank()) {
      body.put("system", system);
    }
    call.messages().forEach(this::add);
    addResults();
    if (messages.isEmpty()) {
      throw RequestRules.refused("A call needs at least one message that is not blank.");
    }
    body.set("messages", messages);
    tools(body);
    switch (thinking) {
      case Thinking.Unset _ -> {}
      case Thinking.Disabled _ -> body.putObject("thinking").put("type", "disabled");
      case Thinking.Adaptive(Optional<Effort> effort) -> {
        body.putObject("thinking").put("type", "adaptive");
        effort.ifPresent(
            hard ->
                RequestRules.object(body, "output_config")
                    .put("effort", hard.name().toLowerCase(Locale.ROOT)));
      }
      case Thinking.Budget(int tokens) ->
          body.putObject("thinking").put("type", "enabled").put("budget_tokens", tokens);
    }
    if (call.output().orElse(null) instanceof OutputFormat.JsonSchema format) {
      RequestRules.object(body, "output_config")
          .putObject("format")
          .put("type", "json_schema")
          .set(
              "schema",
              SchemaDialect.WITHOUT_BOUNDS.write(format.schema())); // it has no place for a name
    }
    call.temperature()
        .ifPresent(value -> body.put("temperature", RequestRules.decimal("temperature", value)));
    return body;
  }

  /** Whether the turn that is going on, if one is, began with a block of thinking. */
  private boolean mayThink(Thinking wanted) {
    if (!(wanted instanceof Thinking.Budget)) {
      return true;
    }
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
        .map(blocks -> blocks.get(0).path("type").asString("").endsWith("thinking"))
        .orElse(true);
  }

  private static int defaultMaxTokens(Thinking thinking) {
    return switch (thinking) {
      case Thinking.Unset _, Thinking.Disabled _ -> DEFAULT_MAX_TOKENS;
      case Thinking.Adaptive _ -> DEFAULT_MAX_TOKENS_ADAPTIVE;
      case Thinking.Budget(int tokens) -> tokens + DEFAULT_MAX_TOKENS;
    };
  }

  private String system() {
    return call.messages().stream()
        .filter(message -> message.role() == Role.SYSTEM)
        .map(Message::text)
        .collect(Collectors.joining("\n"));
  }

  private void add(Message message) {
    switch (message.role()) {
      case SYSTEM -> {} // stands outside the conversation
      case USER -> addUser(message);
      case ASSISTANT -> {
        addResults();
        addAnswer(message);
        results.answered(message);
      }
      case TOOL -> results.add(message);
    }
  }

  /** The results that were gathered and what the user says behind them, as one message. */
  private void addUser(Message message) {
    List<ToolResult> taken = results.take();
    if (taken.isEmpty() && message.images().isEmpty()) {
      if (!message.text().isBlank()) {
        messages.addObject().put("role", "user").put("content", message.text());
      }
      return;
    }
    ArrayNode content = messages.addObject().put("role", "user").putArray("content");
    addBlocks(taken, content);
    for (Part part : message.parts()) {
      switch (part) {
        case Part.Text(String text) when text.isBlank() -> {}
        case Part.Text(String text) -> content.add(block("text").put("text", text));
        case Image image -> content.add(block("image").set("source", source(image)));
        default -> throw new AssertionError("No part of a user: " + part);
      }
    }
  }

  private static ObjectNode source(Image image) {
    return image.inline()
        ? block("base64").put("media_type", image.mediaType()).put("data", image.base64())
        : block("url").put("url", image.url());
  }

  private void addResults() {
    List<ToolResult> taken = results.take();
    if (!taken.isEmpty()) {
      addBlocks(taken, messages.addObject().put("role", "user").putArray("content"));
    }
  }

  private static void addBlocks(List<ToolResult> results, ArrayNode content) {
    for (ToolResult result : results) {
      ObjectNode block = content.addObject().put("type", "tool_result");
      block.put("tool_use_id", IDS.map(result.callId()));
      if (result.error()) {
        String why = RequestRules.errorText(result);
        block.put("content", why.isBlank() ? "The tool failed." : why).put("is_error", true);
      } else {
        block.put("content", result.output().text());
      }
    }
  }

  private void addAnswer(Message message) {
    if (message.parts().stream().allMatch(Part.Text.class::isInstance)) {
      if (!message.text().isBlank()) {
        messages.addObject().put("role", "assistant").put("content", message.text());
      }
      return;
    }
    List<ObjectNode> blocks = blocks(message);
    if (!blocks.isEmpty()) {
      messages.addObject().put("role", "assistant").putArray("content").addAll(blocks);
    }
  }

  private List<ObjectNode> blocks(Message message) {
    List<ObjectNode> blocks = new ArrayList<>();
    for (Part part : message.parts()) {
      switch (part) {
        case Part.Text(String text) -> {
          if (!text.isBlank()) {
            blocks.add(block("text").put("text", text));
          }
        }
        case ToolCall asked -> {
          ObjectNode block = block("tool_use").put("id", IDS.map(asked.id()));
          block.put("name", asked.name());
          block.set("input", StrictJson.read(asked.input().text()));
          blocks.add(block);
        }
        case ProviderState state -> ThinkingBlocks.replay(modelId, state).ifPresent(blocks::add);
        case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
      }
    }
    return blocks;
  }

  private static ObjectNode block(String type) {
    return StrictJson.mapper().createObjectNode().put("type", type);
  }

  private void tools(ObjectNode body) {
    if (!RequestRules.offersTools(call)) {
      return;
    }
    ArrayNode tools = body.putArray("tools");
    for (ToolSpec tool : call.tools()) {
      ObjectNode written = tools.addObject();
      written.put("name", tool.name());
      written.put("description", tool.description());
      written.set("input_schema", StrictJson.read(tool.inputSchema().text()));
    }
    switch (call.toolChoice()) {
      case ToolChoice.Auto _ -> {} // the protocol's default
      case ToolChoice.None _ -> body.putObject("tool_choice").put("type", "none");
      case ToolChoice.Required _ -> body.putObject("tool_choice").put("type", "any");
      case ToolChoice.Named(String name) ->
          body.putObject("tool_choice").put("type", "tool").put("name", name);
    }
  }
}
