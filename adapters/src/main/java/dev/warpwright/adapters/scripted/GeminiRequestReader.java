package dev.warpwright.adapters.scripted;

import static dev.warpwright.adapters.scripted.RequestFields.refuse;
import static dev.warpwright.adapters.scripted.RequestFields.text;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Reads the body of one generateContent request and refuses what the real service refuses: members
 * that it does not know, empty parts, results that are not those of the calls right before them in
 * their order, with an id where the call has one and without where it has none, signatures that are
 * not their part's, and schemas beyond its subset.
 */
final class GeminiRequestReader {
  private static final Set<String> MEMBERS =
      Set.of(
          "contents",
          "systemInstruction",
          "tools",
          "toolConfig",
          "generationConfig",
          "safetySettings",
          "cachedContent",
          "labels");
  private static final Set<String> CONFIG =
      Set.of(
          "temperature",
          "topP",
          "topK",
          "maxOutputTokens",
          "stopSequences",
          "candidateCount",
          "seed",
          "presencePenalty",
          "frequencyPenalty",
          "thinkingConfig",
          "responseMimeType",
          "responseSchema",
          "responseJsonSchema");
  private static final Set<String> SCHEMA =
      Set.of(
          "type",
          "format",
          "title",
          "description",
          "nullable",
          "enum",
          "minItems",
          "maxItems",
          "properties",
          "required",
          "minProperties",
          "maxProperties",
          "minLength",
          "maxLength",
          "pattern",
          "anyOf",
          "items",
          "minimum",
          "maximum",
          "propertyOrdering");
  private static final Set<String> KINDS =
      Set.of("text", "inlineData", "fileData", "functionCall", "functionResponse");
  private static final Set<String> TYPES =
      Set.of("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL");
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.:-]{0,63}");

  /** How the id of a call begins that came without one. */
  private static final String UNNAMED = "unnamed ";

  private final List<Message> messages = new ArrayList<>();

  /** Calls of the content before that have no result yet. */
  private final List<ToolCall> unanswered = new ArrayList<>();

  private GeminiRequestReader() {}

  static ModelRequest read(JsonNode root, String modelId, ResponseForm form)
      throws RefusedException {
    requireKnown(root, MEMBERS, "");
    checkTools(root);
    checkConfig(root.path("generationConfig"));
    return new ModelRequest(
        Conversation.of(modelId, new GeminiRequestReader().conversation(root)), form);
  }

  private static void requireKnown(JsonNode node, Set<String> known, String path)
      throws RefusedException {
    if (!node.isObject()) {
      throw refuse("An object is needed.", path);
    }
    for (String member : node.propertyNames()) {
      if (!known.contains(member)) {
        throw refuse("Unknown name \"" + member + "\": Cannot find field.", path);
      }
    }
  }

  // --- the conversation --------------------------------------------------------------------------

  private List<Message> conversation(JsonNode root) throws RefusedException {
    if (root.has("systemInstruction")) {
      StringBuilder words = new StringBuilder();
      for (JsonNode part : root.path("systemInstruction").path("parts")) {
        words.append(words.isEmpty() ? "" : "\n").append(text(part, "text", "systemInstruction."));
      }
      messages.add(Message.system(words.toString()));
    }
    JsonNode contents = root.path("contents");
    if (!contents.isArray() || contents.isEmpty()) {
      throw refuse("contents is not specified", "contents");
    }
    for (int i = 0; i < contents.size(); i++) {
      String path = "contents[" + i + "]";
      JsonNode parts = contents.get(i).path("parts");
      if (!parts.isArray() || parts.isEmpty()) {
        throw refuse("contents.parts must not be empty.", path);
      }
      switch (text(contents.get(i), "role", path + ".")) {
        case "user" -> addQuestion(parts, path);
        case "model" -> addAnswer(parts, path);
        default -> throw refuse("Please use a valid role: user, model.", path);
      }
    }
    requireAnswered("contents");
    return messages;
  }

  private static String kind(JsonNode part, String path) throws RefusedException {
    List<String> kinds = part.propertyNames().stream().filter(KINDS::contains).toList();
    if (kinds.size() != 1) {
      throw refuse("A part must have exactly one kind of data.", path);
    }
    if (!SignedParts.isGenuine(part)) {
      throw refuse("Thought signature is not valid.", path);
    }
    if (part.path("text").asString("x").isEmpty() && !part.has("thoughtSignature")) {
      throw refuse("A part must not be empty.", path);
    }
    return kinds.getFirst();
  }

  private void addQuestion(JsonNode parts, String path) throws RefusedException {
    List<ToolResult> results = new ArrayList<>();
    StringBuilder words = new StringBuilder();
    for (JsonNode part : parts) {
      switch (kind(part, path)) {
        case "text" -> words.append(text(part, "text", path + "."));
        case "functionResponse" -> results.add(result(part.path("functionResponse"), path));
        case "functionCall" -> throw refuse("A function call is the model's.", path);
        default -> {} // regexes see words only
      }
    }
    requireAnswered(path);
    if (results.isEmpty()) {
      messages.add(Message.user(words.toString()));
    } else if (results.size() == parts.size()) {
      messages.add(Message.tool(results));
    } else {
      throw refuse("Function responses must stand alone.", path);
    }
  }

  private ToolResult result(JsonNode response, String path) throws RefusedException {
    requireKnown(response, Set.of("id", "name", "response"), path);
    if (unanswered.isEmpty()) {
      throw refuse(
          "Please ensure that the number of function response parts is equal to the number of"
              + " function call parts of the function call turn.",
          path);
    }
    ToolCall call = unanswered.removeFirst();
    boolean hasId = !call.id().startsWith(UNNAMED);
    if (!text(response, "name", path + ".").equals(call.name())
        || response.has("id") != hasId
        || (hasId && !text(response, "id", path + ".").equals(call.id()))) {
      throw refuse("The response is not that of the call in its place.", path);
    }
    JsonNode said = response.path("response");
    if (!said.isObject()) {
      throw refuse("The response must be an object.", path);
    }
    return said.has("error")
        ? ToolResult.failure(call, said.path("error").asString(""))
        : ToolResult.success(call, Json.parse(StrictJson.write(said.path("output"))));
  }

  private void requireAnswered(String path) throws RefusedException {
    if (!unanswered.isEmpty()) {
      throw refuse(
          "Please ensure that function response turn comes immediately after a function call turn.",
          path);
    }
  }

  private void addAnswer(JsonNode parts, String path) throws RefusedException {
    requireAnswered(path);
    List<Part> said = new ArrayList<>();
    for (JsonNode part : parts) {
      switch (kind(part, path)) {
        case "text" -> {
          if (!part.path("thought").asBoolean(false)) {
            said.add(new Part.Text(text(part, "text", path + ".")));
          }
        }
        case "functionCall" -> {
          ToolCall call = call(part.path("functionCall"), path);
          unanswered.add(call);
          said.add(call);
        }
        default -> throw refuse("A model says text and function calls.", path);
      }
    }
    messages.add(new Message(Role.ASSISTANT, said));
  }

  private ToolCall call(JsonNode call, String path) throws RefusedException {
    requireKnown(call, Set.of("id", "name", "args"), path);
    if (!call.path("args").isObject()) {
      throw refuse("The args must be an object.", path);
    }
    String id = call.path("id").asString(UNNAMED + unanswered.size());
    return new ToolCall(id, name(call, path), Json.parse(StrictJson.write(call.path("args"))));
  }

  private static String name(JsonNode node, String path) throws RefusedException {
    String name = text(node, "name", path + ".");
    if (!NAME.matcher(name).matches()) {
      throw refuse("Invalid function name.", path);
    }
    return name;
  }

  // --- the rest ----------------------------------------------------------------------------------

  private static void checkTools(JsonNode root) throws RefusedException {
    if (root.has("toolConfig") && !root.has("tools")) {
      throw refuse("Function calling config is set without function declarations.", "toolConfig");
    }
    for (JsonNode tool : root.path("tools")) {
      for (JsonNode function : tool.path("functionDeclarations")) {
        String path = "tools.functionDeclarations";
        name(function, path);
        requireKnown(
            function, Set.of("name", "description", "parameters", "parametersJsonSchema"), path);
        checkSchemas(function, "parameters", "parametersJsonSchema", path);
      }
    }
    JsonNode calling = root.path("toolConfig").path("functionCallingConfig");
    if (!Set.of("AUTO", "ANY", "NONE").contains(calling.path("mode").asString("AUTO"))) {
      throw refuse("Invalid value for the mode.", "toolConfig.functionCallingConfig");
    }
  }

  private static void checkConfig(JsonNode config) throws RefusedException {
    if (config.isMissingNode()) {
      return;
    }
    String path = "generationConfig";
    requireKnown(config, CONFIG, path);
    JsonNode thinking = config.path("thinkingConfig");
    if (thinking.has("thinkingLevel") && thinking.has("thinkingBudget")) {
      throw refuse("You can only set one of thinking_budget and thinking_level.", path);
    }
    boolean schema = config.has("responseSchema") || config.has("responseJsonSchema");
    if (schema && !config.path("responseMimeType").asString("").equals("application/json")) {
      throw refuse("A response schema needs the mime type application/json.", path);
    }
    checkSchemas(config, "responseSchema", "responseJsonSchema", path);
  }

  private static void checkSchemas(JsonNode in, String typed, String json, String path)
      throws RefusedException {
    if (in.has(typed) && in.has(json)) {
      throw refuse("Only one of " + typed + " and " + json + " may be set.", path);
    }
    if (in.has(typed)) {
      checkSchema(in.path(typed), path + "." + typed);
    }
  }

  private static void checkSchema(JsonNode schema, String path) throws RefusedException {
    requireKnown(schema, SCHEMA, path);
    if (!schema.has("anyOf") && !TYPES.contains(schema.path("type").asString(""))) {
      throw refuse("A type is needed.", path);
    }
    if (schema.path("type").asString("").equals("ARRAY") && !schema.has("items")) {
      throw refuse("items: missing field.", path);
    }
    if (schema.path("type").asString("").equals("OBJECT") && schema.path("properties").isEmpty()) {
      throw refuse("properties: should be non-empty for OBJECT type", path);
    }
    for (JsonNode member : schema.path("properties")) {
      checkSchema(member, path + ".properties");
    }
    if (schema.has("items")) {
      checkSchema(schema.path("items"), path + ".items");
    }
    for (JsonNode variant : schema.path("anyOf")) {
      checkSchema(variant, path + ".anyOf");
    }
  }
}
