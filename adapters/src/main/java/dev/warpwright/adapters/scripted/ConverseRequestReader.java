package dev.warpwright.adapters.scripted;

import static dev.warpwright.adapters.scripted.RequestFields.refuse;
import static dev.warpwright.adapters.scripted.RequestFields.text;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Reads the body of one Converse request and refuses what the real service refuses: unknown
 * members, roles that do not alternate, blank text, blocks that are not one thing, ids and names of
 * other characters, results that do not follow their calls in one message, calls without declared
 * tools, reasoning that is not as it was, and what does not go with a budget for it.
 */
final class ConverseRequestReader {
  private static final Set<String> MEMBERS =
      Set.of(
          "messages",
          "system",
          "inferenceConfig",
          "toolConfig",
          "guardrailConfig",
          "additionalModelRequestFields",
          "promptVariables",
          "additionalModelResponseFieldPaths",
          "requestMetadata",
          "performanceConfig",
          "serviceTier",
          "outputConfig");
  private static final Set<String> INFERENCE =
      Set.of("maxTokens", "temperature", "topP", "stopSequences");
  private static final Set<String> FORMATS = Set.of("png", "jpeg", "gif", "webp");
  private static final Pattern ID = Pattern.compile("[a-zA-Z0-9_-]{1,64}");
  private static final int MIN_BUDGET = 1_024;

  private final List<Message> messages = new ArrayList<>();

  /** Calls of the latest assistant message that have no result yet, by id. */
  private final Map<String, ToolCall> unanswered = new LinkedHashMap<>();

  private boolean toolBlocks;

  /** The member of the first block since a user last said something. */
  private @Nullable String turnBegan;

  private ConverseRequestReader() {}

  static List<Message> read(JsonNode root) throws RefusedException {
    if (!root.isObject()) {
      throw refuse("The body must be a JSON object.", null);
    }
    requireKnown(root, MEMBERS, "");
    requireKnown(root.path("inferenceConfig"), INFERENCE, "inferenceConfig.");
    JsonNode most = root.path("inferenceConfig").path("maxTokens");
    if (!most.isMissingNode() && (!most.isIntegralNumber() || most.asLong() < 1)) {
      throw refuse("A whole number from 1 is needed.", "inferenceConfig.maxTokens");
    }
    ConverseRequestReader reader = new ConverseRequestReader();
    List<Message> messages = reader.messages(root);
    reader.checkTools(root);
    checkOutput(root.path("outputConfig"));
    reader.checkReasoning(root);
    return messages;
  }

  private static void requireKnown(JsonNode node, Set<String> known, String path)
      throws RefusedException {
    for (String member : node.propertyNames()) {
      if (!known.contains(member)) {
        throw refuse("The member is unknown.", path + member);
      }
    }
  }

  private List<Message> messages(JsonNode root) throws RefusedException {
    JsonNode system = root.path("system");
    for (int i = 0; i < system.size(); i++) {
      messages.add(Message.system(words(system.get(i), "system." + i)));
    }
    JsonNode all = root.path("messages");
    if (!all.isArray() || all.isEmpty()) {
      throw refuse("A conversation must have at least one message.", "messages");
    }
    for (int i = 0; i < all.size(); i++) {
      String path = "messages." + i;
      String role = text(all.get(i), "role", path + ".");
      if (!role.equals(i % 2 == 0 ? "user" : "assistant")) {
        throw refuse(
            "A conversation must begin with a user message and alternate between user and"
                + " assistant roles.",
            path);
      }
      JsonNode content = all.get(i).path("content");
      if (!content.isArray() || content.isEmpty()) {
        throw refuse("The content of a message must not be empty.", path + ".content");
      }
      if (i % 2 == 0) {
        addQuestion(content, path + ".content");
      } else {
        addAnswer(content, path + ".content");
      }
    }
    requireAnswered("messages");
    return messages;
  }

  /** The one member that says what a block is. */
  private static String kind(JsonNode block, String path) throws RefusedException {
    if (!block.isObject() || block.size() != 1) {
      throw refuse("A block must have exactly one member.", path);
    }
    return block.propertyNames().iterator().next();
  }

  // --- what users and tools say
  // -------------------------------------------------------------------

  private void addQuestion(JsonNode content, String path) throws RefusedException {
    List<ToolResult> results = new ArrayList<>();
    StringBuilder words = new StringBuilder();
    boolean onlyResults = true;
    for (int i = 0; i < content.size(); i++) {
      JsonNode block = content.get(i);
      String place = path + "." + i;
      switch (kind(block, place)) {
        case "toolResult" -> results.add(result(block.path("toolResult"), place));
        case "text" -> {
          onlyResults = false;
          words.append(words(block, place));
        }
        case "image" -> {
          onlyResults = false; // regexes see words only
          checkImage(block.path("image"), place + ".image");
        }
        default -> throw refuse("The kind of a block is unknown.", place);
      }
    }
    requireAnswered(path);
    if (!results.isEmpty()) {
      messages.add(Message.tool(results));
    }
    if (!onlyResults) {
      messages.add(Message.user(words.toString()));
      turnBegan = null;
    }
  }

  private static void checkImage(JsonNode image, String path) throws RefusedException {
    if (!FORMATS.contains(text(image, "format", path + "."))) {
      throw refuse("The format is unknown.", path + ".format");
    }
    try {
      Base64.getDecoder().decode(text(image.path("source"), "bytes", path + ".source."));
    } catch (IllegalArgumentException e) {
      throw refuse("Bytes in base64 are needed.", path + ".source.bytes");
    }
  }

  private ToolResult result(JsonNode block, String path) throws RefusedException {
    toolBlocks = true;
    @Nullable ToolCall call = unanswered.remove(text(block, "toolUseId", path + "."));
    if (call == null) {
      throw refuse(
          "The number of toolResult blocks exceeds the number of toolUse blocks of previous turn.",
          path + ".toolUseId");
    }
    JsonNode content = block.path("content");
    if (!content.isArray() || content.isEmpty()) {
      throw refuse("A result must have content.", path + ".content");
    }
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < content.size(); i++) {
      JsonNode piece = content.get(i);
      String place = path + ".content." + i;
      switch (kind(piece, place)) {
        case "text" -> all.append(words(piece, place));
        case "json" -> all.append(json(piece.path("json"), place));
        default -> throw refuse("The kind of a block is unknown.", place);
      }
    }
    return switch (block.path("status").asString("success")) {
      case "success" -> ToolResult.success(call, plain(all.toString()));
      case "error" -> ToolResult.failure(call, all.toString());
      default -> throw refuse("The status must be success or error.", path + ".status");
    };
  }

  private static String json(JsonNode value, String path) throws RefusedException {
    if (!value.isObject()) {
      throw refuse("Provide a json object for the field.", path + ".json");
    }
    return StrictJson.write(value);
  }

  /** JSON as what it is, anything else as a text. */
  private static Json plain(String content) {
    try {
      return Json.parse(content);
    } catch (InvalidRequestException e) {
      return Json.of(content);
    }
  }

  private void requireAnswered(String path) throws RefusedException {
    if (!unanswered.isEmpty()) {
      throw refuse("Expected toolResult blocks for the toolUse blocks of the previous turn.", path);
    }
  }

  // --- what the model said
  // ------------------------------------------------------------------------

  private void addAnswer(JsonNode content, String path) throws RefusedException {
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < content.size(); i++) {
      JsonNode block = content.get(i);
      String place = path + "." + i;
      String kind = kind(block, place);
      switch (kind) {
        case "text" -> parts.add(new Part.Text(words(block, place)));
        case "toolUse" -> parts.add(call(block.path("toolUse"), place + ".toolUse"));
        case "reasoningContent" -> checkGenuine(block.path("reasoningContent"), place);
        default -> throw refuse("The kind of a block is unknown.", place);
      }
      turnBegan = turnBegan == null ? kind : turnBegan;
    }
    messages.add(new Message(Role.ASSISTANT, parts));
  }

  private static void checkGenuine(JsonNode reasoning, String path) throws RefusedException {
    if (kind(reasoning, path).equals("redactedContent")) {
      return;
    }
    JsonNode words = reasoning.path("reasoningText");
    var block = StrictJson.mapper().createObjectNode();
    block.put("thinking", text(words, "text", path + "."));
    block.put("signature", text(words, "signature", path + "."));
    if (!SignedThinking.isGenuine(block)) {
      throw refuse("Invalid `signature` in `thinking` block", path);
    }
  }

  private ToolCall call(JsonNode use, String path) throws RefusedException {
    toolBlocks = true;
    String id = text(use, "toolUseId", path + ".");
    if (!ID.matcher(id).matches()) {
      throw refuse("The id must match " + ID + ".", path + ".toolUseId");
    }
    String name = RequestFields.name(use, path);
    if (!use.path("input").isObject()) {
      throw refuse("Provide a json object for the field.", path + ".input");
    }
    ToolCall call = new ToolCall(id, name, Json.parse(StrictJson.write(use.path("input"))));
    if (unanswered.put(id, call) != null) {
      throw refuse("Ids must be unique.", path + ".toolUseId");
    }
    return call;
  }

  // --- the rest
  // -----------------------------------------------------------------------------------

  private static String words(JsonNode block, String path) throws RefusedException {
    String text = text(block, "text", path + ".");
    if (text.isBlank()) {
      throw refuse("The text field in the ContentBlock object is blank.", path);
    }
    return text;
  }

  private void checkTools(JsonNode root) throws RefusedException {
    JsonNode config = root.path("toolConfig");
    if (config.isMissingNode()) {
      if (toolBlocks) {
        throw refuse(
            "The toolConfig field must be defined when using toolUse and toolResult content"
                + " blocks.",
            null);
      }
      return;
    }
    JsonNode tools = config.path("tools");
    if (!tools.isArray() || tools.isEmpty()) {
      throw refuse("At least one tool is needed.", "toolConfig.tools");
    }
    for (int i = 0; i < tools.size(); i++) {
      String path = "toolConfig.tools." + i;
      JsonNode tool = tools.get(i).path("toolSpec");
      RequestFields.name(tool, path);
      if (tool.has("description") && tool.path("description").asString("").isBlank()) {
        throw refuse("A description must not be blank.", path + ".description");
      }
      JsonNode schema = tool.path("inputSchema").path("json");
      if (!schema.path("type").asString("").equals("object")) {
        throw refuse("A schema of the type object is needed.", path + ".inputSchema.json");
      }
    }
    if (config.has("toolChoice")) {
      switch (kind(config.path("toolChoice"), "toolConfig.toolChoice")) {
        case "auto", "any" -> {}
        case "tool" ->
            RequestFields.name(
                config.path("toolChoice").path("tool"), "toolConfig.toolChoice.tool");
        default -> throw refuse("The choice is unknown.", "toolConfig.toolChoice");
      }
    }
  }

  private static void checkOutput(JsonNode config) throws RefusedException {
    JsonNode format = config.path("textFormat");
    if (format.isMissingNode()) {
      return;
    }
    if (!text(format, "type", "outputConfig.textFormat.").equals("json_schema")) {
      throw refuse("The type must be json_schema.", "outputConfig.textFormat.type");
    }
    String path = "outputConfig.textFormat.structure.jsonSchema.";
    String schema = text(format.path("structure").path("jsonSchema"), "schema", path);
    try {
      OutputRules.MESSAGES.check(StrictJson.readDocument(schema), path + "schema");
    } catch (JacksonException e) {
      throw refuse("The schema is no JSON.", path + "schema");
    }
  }

  private void checkReasoning(JsonNode root) throws RefusedException {
    String member = "additionalModelRequestFields.thinking";
    JsonNode thinking = root.path("additionalModelRequestFields").path("thinking");
    if (thinking.isMissingNode()) {
      return;
    }
    switch (text(thinking, "type", member + ".")) {
      case "adaptive", "disabled" -> {}
      case "enabled" -> checkBudget(root, thinking.path("budget_tokens"), member);
      default -> throw refuse("The type is unknown.", member + ".type");
    }
  }

  private void checkBudget(JsonNode root, JsonNode budget, String path) throws RefusedException {
    if (!budget.isIntegralNumber() || budget.asLong() < MIN_BUDGET) {
      throw refuse("The budget must be at least " + MIN_BUDGET + ".", path + ".budget_tokens");
    }
    JsonNode inference = root.path("inferenceConfig");
    if (inference.has("maxTokens") && budget.asLong() >= inference.path("maxTokens").asLong()) {
      throw refuse("`max_tokens` must be greater than `thinking.budget_tokens`.", path);
    }
    if (inference.has("temperature")) {
      throw refuse("`temperature` may only be set to 1 when thinking is enabled.", path);
    }
    JsonNode choice = root.path("toolConfig").path("toolChoice");
    if (choice.has("any") || choice.has("tool")) {
      throw refuse("Thinking may not be enabled when tool_choice forces tool use.", path);
    }
    if (turnBegan != null && !turnBegan.equals("reasoningContent")) {
      throw refuse(
          "A final assistant message must start with a thinking block when thinking is enabled.",
          "messages");
    }
  }
}
