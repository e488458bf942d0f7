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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads the body of one Messages request and refuses what the real service refuses: unknown
 * members, blank text, ids and names of other characters, results that do not follow their calls in
 * one message, blocks of thinking that are not as they were, and what does not go with a budget for
 * thinking.
 */
final class MessagesRequestReader {
  private static final Set<String> MEMBERS =
      Set.of(
          "model",
          "max_tokens",
          "system",
          "messages",
          "tools",
          "tool_choice",
          "thinking",
          "output_config",
          "temperature",
          "top_p",
          "top_k",
          "stop_sequences",
          "metadata",
          "service_tier",
          "stream");
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]+");
  private static final int MIN_BUDGET = 1_024;

  private final List<Message> messages = new ArrayList<>();

  /** Calls of the latest assistant message that have no result yet, by id. */
  private final Map<String, ToolCall> unanswered = new LinkedHashMap<>();

  /** The type of the first block since a user last said something. */
  private @Nullable String turnBegan;

  private MessagesRequestReader() {}

  static ModelRequest read(JsonNode root) throws RefusedException {
    if (!root.isObject()) {
      throw refuse("The body must be a JSON object.", null);
    }
    for (String member : root.propertyNames()) {
      if (!MEMBERS.contains(member)) {
        throw refuse("Extra inputs are not permitted", member);
      }
    }
    ResponseForm form = ResponseForm.read(root, Set.of());
    String model = text(root, "model", "");
    if (!root.path("max_tokens").isIntegralNumber() || root.path("max_tokens").asLong() < 1) {
      throw refuse("A whole number from 1 is needed.", "max_tokens");
    }
    checkTools(root);
    checkOutput(root.path("output_config"));
    return new ModelRequest(
        Conversation.of(model, new MessagesRequestReader().messages(root)), form);
  }

  private List<Message> messages(JsonNode root) throws RefusedException {
    if (root.has("system")) {
      messages.add(Message.system(words(root.path("system"), "system")));
    }
    JsonNode all = root.path("messages");
    if (!all.isArray() || all.isEmpty()) {
      throw refuse("at least one message is required", "messages");
    }
    if (!all.get(0).path("role").asString("").equals("user")) {
      throw refuse("first message must use the \"user\" role", "messages");
    }
    for (int i = 0; i < all.size(); i++) {
      String path = "messages." + i;
      switch (text(all.get(i), "role", path + ".")) {
        case "user" -> addQuestion(all.get(i).path("content"), path + ".content");
        case "assistant" -> addAnswer(all.get(i).path("content"), path + ".content");
        default -> throw refuse("The role must be user or assistant.", path + ".role");
      }
    }
    requireAnswered("messages");
    checkThinking(root);
    return messages;
  }

  // --- what users and tools say
  // -------------------------------------------------------------------

  private void addQuestion(JsonNode content, String path) throws RefusedException {
    List<ToolResult> results = new ArrayList<>();
    StringBuilder words = new StringBuilder();
    boolean onlyResults = content.isArray() && !content.isEmpty();
    for (int i = 0; content.isArray() && i < content.size(); i++) {
      JsonNode block = content.get(i);
      String place = path + "." + i;
      switch (text(block, "type", place + ".")) {
        case "tool_result" -> {
          if (!onlyResults) {
            throw refuse("tool_result blocks stand before all others.", place);
          }
          results.add(result(block, place));
        }
        case "text" -> {
          onlyResults = false;
          words.append(words(block, place));
        }
        case "image", "document" -> onlyResults = false; // regexes see words only
        default -> throw refuse("The type of a block is unknown.", place + ".type");
      }
    }
    if (!content.isArray()) {
      words.append(words(content, path));
    } else if (content.isEmpty()) {
      throw refuse("user messages must have non-empty content", path);
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

  private ToolResult result(JsonNode block, String path) throws RefusedException {
    @Nullable ToolCall call = unanswered.remove(text(block, "tool_use_id", path + "."));
    if (call == null) {
      throw refuse(
          "Each `tool_result` block must have a corresponding `tool_use` block in the previous"
              + " message, and answers it once.",
          path + ".tool_use_id");
    }
    String content = resultContent(block.path("content"), path + ".content");
    if (!block.path("is_error").asBoolean(false)) {
      return ToolResult.success(call, plain(content));
    }
    if (content.isEmpty()) {
      throw refuse("content cannot be empty if `is_error` is true", path + ".content");
    }
    return ToolResult.failure(call, content);
  }

  private static String resultContent(JsonNode content, String path) throws RefusedException {
    if (content.isMissingNode()) {
      return "";
    }
    if (content.isString()) {
      return content.stringValue();
    }
    if (!content.isArray()) {
      throw refuse("The content must be a string or a list of blocks.", path);
    }
    StringBuilder text = new StringBuilder();
    for (JsonNode block : content) {
      text.append(block.path("text").asString(""));
    }
    return text.toString();
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
      throw refuse(
          "`tool_use` ids were found without `tool_result` blocks immediately after. Each"
              + " `tool_use` block must have a corresponding `tool_result` block in the next"
              + " message.",
          path);
    }
  }

  // --- what the model said
  // ------------------------------------------------------------------------

  private void addAnswer(JsonNode content, String path) throws RefusedException {
    requireAnswered(path);
    List<Part> parts = new ArrayList<>();
    String first = "text";
    if (!content.isArray()) {
      parts.add(new Part.Text(words(content, path)));
    } else if (content.isEmpty()) {
      throw refuse("all messages must have non-empty content", path);
    } else {
      first = text(content.get(0), "type", path + ".0.");
      for (int i = 0; i < content.size(); i++) {
        addBlock(content.get(i), path + "." + i, parts);
      }
    }
    messages.add(new Message(Role.ASSISTANT, parts));
    turnBegan = turnBegan == null ? first : turnBegan;
  }

  private void addBlock(JsonNode block, String path, List<Part> parts) throws RefusedException {
    switch (text(block, "type", path + ".")) {
      case "text" -> parts.add(new Part.Text(words(block, path)));
      case "tool_use" -> parts.add(call(block, path));
      case "thinking" -> {
        text(block, "thinking", path + ".");
        text(block, "signature", path + ".");
        if (!SignedThinking.isGenuine(block)) {
          throw refuse("Invalid `signature` in `thinking` block", path);
        }
      }
      case "redacted_thinking" -> {
        if (text(block, "data", path + ".").isBlank()) {
          throw refuse("Invalid `data` in `redacted_thinking` block", path);
        }
      }
      default -> throw refuse("The type of a block is unknown.", path + ".type");
    }
  }

  private ToolCall call(JsonNode block, String path) throws RefusedException {
    String id = text(block, "id", path + ".");
    if (!ID.matcher(id).matches()) {
      throw refuse("String should match pattern '^" + ID + "$'", path + ".id");
    }
    String name = RequestFields.name(block, path);
    if (!block.path("input").isObject()) {
      throw refuse("Input should be a valid dictionary", path + ".input");
    }
    ToolCall call = new ToolCall(id, name, Json.parse(StrictJson.write(block.path("input"))));
    if (unanswered.put(id, call) != null) {
      throw refuse("`tool_use` ids must be unique", path + ".id");
    }
    return call;
  }

  // --- the rest
  // -----------------------------------------------------------------------------------

  /** Text, a block of text, or a list of such blocks. */
  private static String words(JsonNode content, String path) throws RefusedException {
    if (content.isArray()) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < content.size(); i++) {
        text.append(words(content.get(i), path + "." + i));
      }
      return text.toString();
    }
    String text = content.isString() ? content.stringValue() : text(content, "text", path + ".");
    if (text.isBlank()) {
      throw refuse("text content blocks must contain non-whitespace text", path);
    }
    return text;
  }

  private static void checkTools(JsonNode root) throws RefusedException {
    JsonNode tools = root.path("tools");
    if (tools.isMissingNode()) {
      if (root.has("tool_choice")) {
        throw refuse("tool_choice may only be specified while providing tools.", "tool_choice");
      }
      return;
    }
    if (!tools.isArray()) {
      throw refuse("A list of tools is needed.", "tools");
    }
    for (int i = 0; i < tools.size(); i++) {
      String path = "tools." + i;
      RequestFields.name(tools.get(i), path);
      if (!tools.get(i).path("input_schema").path("type").asString("").equals("object")) {
        throw refuse("A schema of the type object is needed.", path + ".input_schema");
      }
    }
    if (root.has("tool_choice")) {
      switch (text(root.path("tool_choice"), "type", "tool_choice.")) {
        case "auto", "any", "none" -> {}
        case "tool" -> RequestFields.name(root.path("tool_choice"), "tool_choice");
        default -> throw refuse("The type is unknown.", "tool_choice.type");
      }
    }
  }

  private static void checkOutput(JsonNode config) throws RefusedException {
    for (String member : config.propertyNames()) {
      if (!member.equals("effort") && !member.equals("format")) {
        throw refuse("Extra inputs are not permitted", "output_config." + member);
      }
    }
    JsonNode format = config.path("format");
    if (format.isMissingNode()) {
      return;
    }
    if (!text(format, "type", "output_config.format.").equals("json_schema")) {
      throw refuse("Input should be 'json_schema'", "output_config.format.type");
    }
    OutputRules.MESSAGES.check(format.path("schema"), "output_config.format.schema");
  }

  private void checkThinking(JsonNode root) throws RefusedException {
    if (!root.has("thinking")) {
      return;
    }
    switch (text(root.path("thinking"), "type", "thinking.")) {
      case "adaptive", "disabled" -> {}
      case "enabled" -> checkBudget(root);
      default -> throw refuse("The type is unknown.", "thinking.type");
    }
  }

  private void checkBudget(JsonNode root) throws RefusedException {
    JsonNode budget = root.path("thinking").path("budget_tokens");
    if (!budget.isIntegralNumber() || budget.asLong() < MIN_BUDGET) {
      throw refuse(
          "Input should be greater than or equal to " + MIN_BUDGET, "thinking.budget_tokens");
    }
    if (budget.asLong() >= root.path("max_tokens").asLong()) {
      throw refuse("`max_tokens` must be greater than `thinking.budget_tokens`.", "max_tokens");
    }
    if (root.has("temperature") && root.path("temperature").asDouble() != 1.0) {
      throw refuse("may only be set to 1 when thinking is enabled.", "temperature");
    }
    if (Set.of("any", "tool").contains(root.path("tool_choice").path("type").asString(""))) {
      throw refuse("Thinking may not be enabled when tool_choice forces tool use.", "tool_choice");
    }
    if (turnBegan != null && !turnBegan.endsWith("thinking")) {
      throw refuse(
          "Expected `thinking` or `redacted_thinking`, but found `"
              + turnBegan
              + "`. When `thinking` is enabled, a final `assistant` message must start with a"
              + " thinking block.",
          "messages");
    }
  }
}
