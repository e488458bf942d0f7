package dev.warpwright.adapters.google;

import dev.warpwright.adapters.wire.PendingResults;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Image;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Reasoning.Effort;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the body of a generateContent request. Pure: the same call gives the same bytes.
 *
 * <p>Only documented members are written, and only when they are set. What the protocol demands and
 * the vocabulary does not say:
 *
 * <ul>
 *   <li>System messages leave the conversation; each that says something is a part of {@code
 *       systemInstruction}.
 *   <li>The results of a turn are one content, in call order, which is how the service matches them
 *       to calls: by name and place. An id is sent only where the service itself gave it: versions
 *       that give none refuse it. A result is an object there: <code>{"output": …}</code>, and of a
 *       failure <code>{"error": "…"}</code>.
 *   <li>A part without text is refused in some places, so it is left out, unless it carries a
 *       signature, and so is a content of which nothing is left.
 *   <li>A signature is replayed on the part that it came with ({@link PartState}).
 *   <li>Behind a result the model decides itself whether it calls more tools: {@code toolConfig} is
 *       left out there, since a model that must call would never end. If it must not call, no tool
 *       is offered.
 *   <li>An effort is sent as a level, a budget as it is; MAX is the highest level.
 *   <li>Schemas are written as {@link GeminiSchema} says.
 * </ul>
 */
final class GeminiRequest {
  private static final Pattern TOOL_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.:-]{0,63}");

  private final String modelId;
  private final ModelCall call;
  private final PendingResults results = new PendingResults();
  private final Set<String> issuedIds = new HashSet<>();
  private final ArrayNode contents = StrictJson.mapper().createArrayNode();

  private GeminiRequest(String modelId, ModelCall call) {
    this.modelId = modelId;
    this.call = call;
  }

  /** The body of a request, UTF-8; whether the answer is streamed, the path says. */
  static byte[] body(String modelId, ModelCall call) {
    return StrictJson.bytes(new GeminiRequest(modelId, call).write());
  }

  private ObjectNode write() {
    ObjectNode body = RequestRules.providerOptions(call);
    call.messages().forEach(this::add);
    addResults();
    if (contents.isEmpty()) {
      throw RequestRules.refused("A call needs at least one message that is not empty.");
    }
    body.set("contents", contents);
    system(body);
    tools(body);
    generationConfig(body);
    return body;
  }

  /** The object of a name that the call's provider options may have begun. */
  private static ObjectNode object(ObjectNode in, String name) {
    if (!in.has(name)) {
      return StrictJson.mapper().createObjectNode();
    }
    if (in.get(name) instanceof ObjectNode begun) {
      return begun;
    }
    throw RequestRules.refused("The provider option " + name + " must be a JSON object.");
  }

  private void system(ObjectNode body) {
    ArrayNode parts = StrictJson.mapper().createArrayNode();
    for (Message message : call.messages()) {
      if (message.role() == Role.SYSTEM && !message.text().isEmpty()) {
        parts.addObject().put("text", message.text());
      }
    }
    if (!parts.isEmpty()) {
      body.putObject("systemInstruction").set("parts", parts);
    }
  }

  // --- the conversation --------------------------------------------------------------------------

  private void add(Message message) {
    if (message.role() != Role.TOOL) {
      addResults();
    }
    switch (message.role()) {
      case SYSTEM -> {} // stands outside the conversation
      case USER -> content("user", userParts(message));
      case ASSISTANT -> {
        content("model", answerParts(message));
        results.answered(message);
      }
      case TOOL -> results.add(message);
    }
  }

  private void content(String role, ArrayNode parts) {
    if (!parts.isEmpty()) {
      contents.addObject().put("role", role).set("parts", parts);
    }
  }

  private void addResults() {
    ArrayNode parts = StrictJson.mapper().createArrayNode();
    for (ToolResult result : results.take()) {
      ObjectNode response = parts.addObject().putObject("functionResponse");
      if (issuedIds.contains(result.callId())) {
        response.put("id", result.callId());
      }
      response.put("name", result.toolName());
      if (result.error()) {
        response.putObject("response").put("error", RequestRules.errorText(result));
      } else {
        response.putObject("response").set("output", StrictJson.read(result.output().text()));
      }
    }
    content("user", parts);
  }

  private static ArrayNode userParts(Message message) {
    ArrayNode parts = StrictJson.mapper().createArrayNode();
    for (Part part : message.parts()) {
      switch (part) {
        case Part.Text(String text) -> {
          if (!text.isEmpty()) {
            parts.addObject().put("text", text);
          }
        }
        case Image image -> add(image, parts.addObject());
        default -> throw new AssertionError("No part of a user: " + part);
      }
    }
    return parts;
  }

  private static void add(Image image, ObjectNode part) {
    if (image.inline()) {
      part.putObject("inlineData").put("mimeType", image.mediaType()).put("data", image.base64());
      return;
    }
    ObjectNode file = part.putObject("fileData");
    String type = mediaType(image.url());
    if (!type.isEmpty()) {
      file.put("mimeType", type);
    }
    file.put("fileUri", image.url());
  }

  /** The media type that the end of a URL's path says; some versions of the API demand one. */
  private static String mediaType(String url) {
    String path = url.split("[?#]", 2)[0].toLowerCase(Locale.ROOT);
    return switch (path.substring(path.lastIndexOf('.') + 1)) {
      case "png" -> "image/png";
      case "jpg", "jpeg" -> "image/jpeg";
      case "webp" -> "image/webp";
      case "gif" -> "image/gif";
      case "heic" -> "image/heic";
      case "heif" -> "image/heif";
      default -> "";
    };
  }

  private ArrayNode answerParts(Message message) {
    ArrayNode parts = StrictJson.mapper().createArrayNode();
    @Nullable Part before = null;
    for (Part part : message.parts()) {
      PartState state = PartState.replay(modelId, before, part);
      switch (part) {
        case Part.Text(String text) -> {
          if (!text.isEmpty()) {
            sign(state, parts.addObject().put("text", text));
          }
        }
        case ToolCall asked -> {
          ObjectNode function = StrictJson.mapper().createObjectNode();
          if (state.issuedId()) {
            issuedIds.add(asked.id());
            function.put("id", asked.id());
          }
          function.put("name", asked.name());
          function.set("args", StrictJson.read(asked.input().text()));
          ObjectNode written = parts.addObject();
          written.set("functionCall", function);
          sign(state, written);
        }
        case ProviderState _ -> PartState.whole(modelId, part).ifPresent(parts::add);
        case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
      }
      before = part;
    }
    return parts;
  }

  private static void sign(PartState state, ObjectNode part) {
    if (state.signature() != null) {
      part.put("thoughtSignature", state.signature());
    }
  }

  // --- tools -------------------------------------------------------------------------------------

  private void tools(ObjectNode body) {
    boolean continues = call.messages().getLast().role() == Role.TOOL;
    boolean offered = RequestRules.offersTools(call);
    if (!offered || (continues && call.toolChoice() instanceof ToolChoice.None)) {
      return;
    }
    if (body.has("tools") && !body.get("tools").isArray()) {
      throw RequestRules.refused("The provider option tools must be a list.");
    }
    ArrayNode tools = body.withArrayProperty("tools"); // those that the provider runs come first
    ArrayNode functions = tools.addObject().putArray("functionDeclarations");
    for (ToolSpec tool : call.tools()) {
      if (!TOOL_NAME.matcher(tool.name()).matches()) {
        throw RequestRules.refused(
            "Gemini takes tools whose names begin with a letter or an underscore, but one is called %s."
                .formatted(tool.name()));
      }
      ObjectNode function = functions.addObject();
      function.put("name", tool.name()).put("description", tool.description());
      GeminiSchema.writeParameters(tool.inputSchema(), function);
    }
    if (!continues) {
      choice(body);
    }
  }

  private void choice(ObjectNode body) {
    switch (call.toolChoice()) {
      case ToolChoice.Auto _ -> {} // the protocol's default
      case ToolChoice.None _ -> calling(body).put("mode", "NONE");
      case ToolChoice.Required _ -> calling(body).put("mode", "ANY");
      case ToolChoice.Named(String name) ->
          calling(body).put("mode", "ANY").putArray("allowedFunctionNames").add(name);
    }
  }

  private static ObjectNode calling(ObjectNode body) {
    ObjectNode config = object(body, "toolConfig");
    body.set("toolConfig", config);
    return config.putObject("functionCallingConfig");
  }

  // --- the rest ----------------------------------------------------------------------------------

  private void generationConfig(ObjectNode body) {
    ObjectNode config = object(body, "generationConfig");
    call.temperature()
        .ifPresent(value -> config.put("temperature", RequestRules.decimal("temperature", value)));
    call.maxTokens().ifPresent(limit -> config.put("maxOutputTokens", limit));
    call.reasoning().ifPresent(wanted -> think(wanted, config));
    call.output().ifPresent(format -> format(format, config));
    if (!config.isEmpty()) {
      body.set("generationConfig", config);
    }
  }

  private static void think(Reasoning wanted, ObjectNode config) {
    ObjectNode thinking = object(config, "thinkingConfig");
    config.set("thinkingConfig", thinking);
    switch (wanted) {
      case Reasoning.ByEffort(Effort effort) when effort == Effort.NONE ->
          thinking.put("thinkingBudget", 0);
      case Reasoning.ByEffort(Effort effort) ->
          thinking.put("thinkingLevel", level(effort)).put("includeThoughts", true);
      case Reasoning.ByBudget(int tokens) ->
          thinking.put("thinkingBudget", tokens).put("includeThoughts", true);
    }
  }

  private static String level(Effort effort) {
    return effort == Effort.MAX ? Effort.HIGH.name() : effort.name();
  }

  private static void format(OutputFormat format, ObjectNode config) {
    config.put("responseMimeType", "application/json");
    if (format instanceof OutputFormat.JsonSchema schema) {
      GeminiSchema.writeResponse(schema.schema(), schema.description(), config);
    }
  }
}
