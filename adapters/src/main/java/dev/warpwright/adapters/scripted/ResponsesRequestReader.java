package dev.warpwright.adapters.scripted;

import static dev.warpwright.adapters.scripted.RequestFields.refuse;
import static dev.warpwright.adapters.scripted.RequestFields.text;

import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads the body of one Responses request and refuses what the real service refuses: unknown
 * members, kinds of content in the wrong place, ids that are too long, outputs without calls and
 * calls without outputs, and items of reasoning that are not as they were or have lost the item
 * behind them. It stores nothing, so it knows no earlier response.
 */
final class ResponsesRequestReader {
  private static final Set<String> MEMBERS =
      Set.of(
          "background",
          "conversation",
          "include",
          "input",
          "instructions",
          "max_output_tokens",
          "max_tool_calls",
          "metadata",
          "model",
          "parallel_tool_calls",
          "previous_response_id",
          "prompt",
          "prompt_cache_key",
          "prompt_cache_retention",
          "reasoning",
          "safety_identifier",
          "service_tier",
          "store",
          "stream",
          "stream_options",
          "temperature",
          "text",
          "tool_choice",
          "tools",
          "top_logprobs",
          "top_p",
          "truncation",
          "user");
  private static final Set<String> EFFORTS =
      Set.of("none", "minimal", "low", "medium", "high", "xhigh");

  private static final Set<String> SUMMARIES = Set.of("auto", "concise", "detailed");

  /** What the provider's own tools leave behind; nothing of it concerns a script. */
  private static final Set<String> HOSTED =
      Set.of(
          "code_interpreter_call",
          "file_search_call",
          "image_generation_call",
          "mcp_call",
          "mcp_list_tools",
          "web_search_call");

  private static final int LONGEST_ID = 64;
  private static final int LEAST_TOKENS = 16;

  private final List<Message> messages = new ArrayList<>();

  /** The parts of the answer whose items are being read. */
  private final List<Part> answer = new ArrayList<>();

  /** Calls that have no output yet, by id. */
  private final Map<String, ToolCall> unanswered = new LinkedHashMap<>();

  private ResponsesRequestReader() {}

  static ModelRequest read(JsonNode root) throws RefusedException {
    if (!root.isObject()) {
      throw refuse("The body must be a JSON object.", null);
    }
    for (String member : root.propertyNames()) {
      if (!MEMBERS.contains(member)) {
        throw refuse("Unknown parameter.", member);
      }
    }
    ResponseForm form = ResponseForm.read(root, Set.of("include_obfuscation"));
    for (String stored : List.of("previous_response_id", "conversation", "prompt")) {
      if (root.hasNonNull(stored)) {
        throw refuse("Nothing is stored here that could be found.", stored);
      }
    }
    String model = text(root, "model", "");
    checkOptions(root);
    checkTools(root);
    List<Message> messages = new ResponsesRequestReader().messages(root);
    checkFormat(root.path("text").path("format"), messages);
    return new ModelRequest(
        Conversation.of(model, messages),
        form.withSummary(root.path("reasoning").hasNonNull("summary")));
  }

  private static void checkFormat(JsonNode format, List<Message> messages) throws RefusedException {
    if (format.isMissingNode()) {
      return;
    }
    switch (text(format, "type", "text.format.")) {
      case "text" -> {}
      case "json_object" -> {
        if (messages.stream()
            .noneMatch(said -> said.text().toLowerCase(Locale.ROOT).contains("json"))) {
          throw refuse(
              "Response input messages must contain the word 'json' in some form to use"
                  + " 'text.format' of type 'json_object'.",
              "input");
        }
      }
      case "json_schema" -> {
        RequestFields.name(format, "text.format");
        if (format.path("strict").asBoolean(false)) {
          OutputRules.CHAT.check(format.path("schema"), "text.format.schema");
        }
      }
      default -> throw refuse("The type is unknown.", "text.format.type");
    }
  }

  private List<Message> messages(JsonNode root) throws RefusedException {
    if (root.has("instructions")) {
      messages.add(Message.system(text(root, "instructions", "")));
    }
    JsonNode input = root.path("input");
    if (input.isString()) {
      messages.add(Message.user(input.stringValue()));
      return messages;
    }
    if (!input.isArray() || input.isEmpty()) {
      throw refuse("A string or an array of at least one item is needed.", "input");
    }
    for (int i = 0; i < input.size(); i++) {
      add(input.get(i), input.path(i + 1), "input[" + i + "]");
    }
    requireAnswered("input");
    endAnswer();
    return messages;
  }

  private void add(JsonNode item, JsonNode next, String path) throws RefusedException {
    String type = item.has("type") ? text(item, "type", path + ".") : "message";
    switch (type) {
      case "message" -> addMessage(item, path);
      case "function_call" -> {
        requireAnsweredBeforeMore(path);
        ToolCall call = RequestFields.call(id(item, path), item, path);
        if (unanswered.put(call.id(), call) != null) {
          throw refuse("Two calls have the same id.", path + ".call_id");
        }
        answer.add(call);
      }
      case "function_call_output" -> addOutput(item, path);
      case "reasoning" -> {
        requireAnsweredBeforeMore(path);
        if (!SignedReasoning.isGenuine(item, next)) {
          throw refuse(
              "The item of type 'reasoning' could not be verified, or was provided without its"
                  + " required following item.",
              path);
        }
      }
      default -> {
        if (!HOSTED.contains(type)) {
          throw refuse("The type of an item is unknown.", path + ".type");
        }
      }
    }
  }

  private static String id(JsonNode item, String path) throws RefusedException {
    String id = text(item, "call_id", path + ".");
    if (id.isEmpty() || id.length() > LONGEST_ID) {
      throw refuse(
          "Expected a string with 1 to %d characters, but got %d."
              .formatted(LONGEST_ID, id.length()),
          path + ".call_id");
    }
    return id;
  }

  private void addMessage(JsonNode item, String path) throws RefusedException {
    String role = text(item, "role", path + ".");
    switch (role) {
      case "assistant" -> {
        requireAnsweredBeforeMore(path);
        answer.add(new Part.Text(words(item.path("content"), false, path + ".content")));
      }
      case "system", "developer", "user" -> {
        requireAnswered(path);
        endAnswer();
        String words = words(item.path("content"), true, path + ".content");
        messages.add(role.equals("user") ? Message.user(words) : Message.system(words));
      }
      default ->
          throw refuse("The role must be system, developer, user or assistant.", path + ".role");
    }
  }

  private static String words(JsonNode content, boolean input, String path)
      throws RefusedException {
    if (content.isString()) {
      return content.stringValue();
    }
    if (!content.isArray() || content.isEmpty()) {
      throw refuse("The content must be a string or an array of parts.", path);
    }
    StringBuilder words = new StringBuilder();
    for (int i = 0; i < content.size(); i++) {
      String part = path + "[" + i + "]";
      String type = text(content.get(i), "type", part + ".");
      if (type.equals(input ? "input_text" : "output_text")) {
        words.append(text(content.get(i), "text", part + "."));
      } else if (!input && type.equals("refusal")) {
        words.append(text(content.get(i), "refusal", part + "."));
      } else if (input && type.equals("input_image")) {
        text(content.get(i), "image_url", part + "."); // regexes see words only
      } else if (!input || !type.equals("input_file")) {
        throw refuse("This type of a part cannot stand here.", part + ".type");
      }
    }
    return words.toString();
  }

  private void addOutput(JsonNode item, String path) throws RefusedException {
    @Nullable ToolCall call = unanswered.remove(id(item, path));
    if (call == null) {
      throw refuse("No tool call found for this output, or it has one.", path + ".call_id");
    }
    endAnswer();
    String output = text(item, "output", path + ".");
    messages.add(Message.tool(List.of(RequestFields.result(call, output))));
  }

  /** An answer ends where something stands that the model did not say. */
  private void endAnswer() {
    if (!answer.isEmpty()) {
      messages.add(new Message(Role.ASSISTANT, answer));
      answer.clear();
    }
  }

  /** A new answer begins behind outputs, and needs all of them. */
  private void requireAnsweredBeforeMore(String path) throws RefusedException {
    if (answer.isEmpty()) {
      requireAnswered(path);
    }
  }

  private void requireAnswered(String path) throws RefusedException {
    if (!unanswered.isEmpty()) {
      throw refuse("No tool output found for a function call.", path);
    }
  }

  // --- the rest
  // -----------------------------------------------------------------------------------

  private static void checkOptions(JsonNode root) throws RefusedException {
    JsonNode limit = root.path("max_output_tokens");
    if (!limit.isMissingNode() && (!limit.isIntegralNumber() || limit.asLong() < LEAST_TOKENS)) {
      throw refuse("A whole number from " + LEAST_TOKENS + " is needed.", "max_output_tokens");
    }
    JsonNode effort = root.path("reasoning").path("effort");
    if (!effort.isMissingNode() && !EFFORTS.contains(effort.asString(""))) {
      throw refuse("The effort must be one of " + EFFORTS + ".", "reasoning.effort");
    }
    JsonNode summary = root.path("reasoning").path("summary");
    if (!summary.isMissingNode()
        && !summary.isNull()
        && !SUMMARIES.contains(summary.asString(""))) {
      throw refuse("The summary must be one of " + SUMMARIES + ".", "reasoning.summary");
    }
  }

  private static void checkTools(JsonNode root) throws RefusedException {
    JsonNode tools = root.path("tools");
    if (tools.isMissingNode()) {
      if (root.has("tool_choice")) {
        throw refuse("A tool_choice is only allowed with tools.", "tool_choice");
      }
      return;
    }
    if (!tools.isArray()) {
      throw refuse("An array of tools is needed.", "tools");
    }
    for (int i = 0; i < tools.size(); i++) {
      JsonNode tool = tools.get(i);
      String path = "tools[" + i + "]";
      if (!text(tool, "type", path + ".").equals("function")) {
        continue; // one of the provider's own
      }
      String name = RequestFields.name(tool, path);
      if (tool.hasNonNull("parameters") && !tool.path("parameters").isObject()) {
        throw refuse("The schema of " + name + " must be an object.", path + ".parameters");
      }
    }
    JsonNode choice = root.path("tool_choice");
    if (choice.isObject()) {
      if (text(choice, "type", "tool_choice.").equals("function")) {
        RequestFields.name(choice, "tool_choice");
      }
    } else if (!choice.isMissingNode()
        && !Set.of("auto", "none", "required").contains(choice.asString(""))) {
      throw refuse("The choice must be auto, none, required or a tool.", "tool_choice");
    }
  }
}
