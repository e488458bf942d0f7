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
 * Reads the body of one Chat Completions request and refuses what the real service refuses: it
 * keeps clients honest about the order of calls and results, names of tools and shapes of messages.
 * Fields that say nothing to a script are not looked at.
 */
final class ChatRequestReader {
  private static final Set<String> STREAM_OPTIONS = Set.of("include_usage", "include_obfuscation");

  private final List<Message> messages = new ArrayList<>();

  /** Calls of the latest assistant message that have no result yet, by id. */
  private final Map<String, ToolCall> unanswered = new LinkedHashMap<>();

  private ChatRequestReader() {}

  static ModelRequest read(JsonNode root) throws RefusedException {
    if (!root.isObject()) {
      throw refuse("The body must be a JSON object.", null);
    }
    ResponseForm form = ResponseForm.read(root, STREAM_OPTIONS);
    String model = text(root, "model", "");
    checkTools(root);
    JsonNode messages = root.path("messages");
    if (!messages.isArray() || messages.isEmpty()) {
      throw refuse("An array of at least one message is needed.", "messages");
    }
    ChatRequestReader reader = new ChatRequestReader();
    for (int i = 0; i < messages.size(); i++) {
      reader.add(messages.get(i), "messages[" + i + "]");
    }
    reader.requireAnswered("messages");
    reader.checkFormat(root.path("response_format"));
    return new ModelRequest(Conversation.of(model, reader.messages), form);
  }

  private void add(JsonNode message, String path) throws RefusedException {
    String role = text(message, "role", path + ".");
    if (!role.equals("tool")) {
      requireAnswered(path);
    }
    switch (role) {
      case "system", "developer" -> say(Role.SYSTEM, content(message, path));
      case "user" -> say(Role.USER, content(message, path));
      case "assistant" -> addAnswer(message, path);
      case "tool" -> addResult(message, path);
      default ->
          throw refuse(
              "The role must be system, developer, user, assistant or tool.", path + ".role");
    }
  }

  private void say(Role role, String text) {
    messages.add(new Message(role, List.of(new Part.Text(text))));
  }

  private void addAnswer(JsonNode message, String path) throws RefusedException {
    List<Part> parts = new ArrayList<>();
    JsonNode calls = message.path("tool_calls");
    boolean silent = message.path("content").isNull() || !message.has("content");
    if (!silent) {
      parts.add(new Part.Text(content(message, path)));
    } else if (message.path("refusal").isString()) {
      parts.add(new Part.Text(message.path("refusal").stringValue()));
    } else if (!calls.isArray()) {
      throw refuse("An assistant message needs content or tool_calls.", path + ".content");
    }
    if (message.has("tool_calls")) {
      if (!calls.isArray() || calls.isEmpty()) {
        throw refuse("An array of at least one call is needed.", path + ".tool_calls");
      }
      for (int i = 0; i < calls.size(); i++) {
        ToolCall call = call(calls.get(i), path + ".tool_calls[" + i + "]");
        if (unanswered.put(call.id(), call) != null) {
          throw refuse("Two calls have the same id.", path + ".tool_calls[" + i + "].id");
        }
        parts.add(call);
      }
    }
    messages.add(new Message(Role.ASSISTANT, parts));
  }

  private static ToolCall call(JsonNode call, String path) throws RefusedException {
    if (!text(call, "type", path + ".").equals("function")) {
      throw refuse("The type must be function.", path + ".type");
    }
    String id = text(call, "id", path + ".");
    return RequestFields.call(id, call.path("function"), path + ".function");
  }

  private void addResult(JsonNode message, String path) throws RefusedException {
    String id = text(message, "tool_call_id", path + ".");
    @Nullable ToolCall call = unanswered.remove(id);
    if (call == null) {
      throw refuse(
          "A message of role tool must answer a call of the assistant message before it, once.",
          path + ".tool_call_id");
    }
    messages.add(Message.tool(List.of(RequestFields.result(call, content(message, path)))));
  }

  private void requireAnswered(String path) throws RefusedException {
    if (!unanswered.isEmpty()) {
      throw refuse(
          "An assistant message with tool_calls must be followed by one tool message for each"
              + " call.",
          path);
    }
  }

  private static String content(JsonNode message, String path) throws RefusedException {
    JsonNode content = message.path("content");
    if (content.isString()) {
      return content.stringValue();
    }
    if (!content.isArray() || content.isEmpty()) {
      throw refuse("The content must be a string or an array of parts.", path + ".content");
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < content.size(); i++) {
      String part = path + ".content[" + i + "]";
      switch (text(content.get(i), "type", part + ".")) {
        case "text" -> text.append(text(content.get(i), "text", part + "."));
        case "image_url", "input_audio", "file", "refusal" -> {
          // Regexes see words only.
        }
        default -> throw refuse("The type of a part is unknown.", part + ".type");
      }
    }
    return text.toString();
  }

  private void checkFormat(JsonNode format) throws RefusedException {
    if (format.isMissingNode()) {
      return;
    }
    switch (text(format, "type", "response_format.")) {
      case "text" -> {}
      case "json_object" -> {
        if (messages.stream()
            .noneMatch(said -> said.text().toLowerCase(Locale.ROOT).contains("json"))) {
          throw refuse(
              "'messages' must contain the word 'json' in some form, to use 'response_format' of"
                  + " type 'json_object'.",
              "messages");
        }
      }
      case "json_schema" -> {
        JsonNode wanted = format.path("json_schema");
        RequestFields.name(wanted, "response_format.json_schema");
        if (wanted.path("strict").asBoolean(false)) {
          OutputRules.CHAT.check(wanted.path("schema"), "response_format.json_schema.schema");
        }
      }
      default -> throw refuse("The type is unknown.", "response_format.type");
    }
  }

  private static void checkTools(JsonNode root) throws RefusedException {
    JsonNode tools = root.path("tools");
    if (!root.has("tools")) {
      if (root.has("tool_choice")) {
        throw refuse("A tool_choice is only allowed with tools.", "tool_choice");
      }
      return;
    }
    if (!tools.isArray() || tools.isEmpty()) {
      throw refuse("An array of at least one tool is needed.", "tools");
    }
    for (int i = 0; i < tools.size(); i++) {
      String path = "tools[" + i + "]";
      if (!text(tools.get(i), "type", path + ".").equals("function")) {
        throw refuse("The type must be function.", path + ".type");
      }
      JsonNode function = tools.get(i).path("function");
      String name = RequestFields.name(function, path + ".function");
      if (function.has("parameters") && !function.path("parameters").isObject()) {
        throw refuse("The schema of " + name + " must be an object.", path + ".function");
      }
    }
  }
}
