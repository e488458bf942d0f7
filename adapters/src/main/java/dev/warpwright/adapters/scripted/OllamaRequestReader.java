package dev.warpwright.adapters.scripted;

import static dev.warpwright.adapters.scripted.RequestFields.refuse;
import static dev.warpwright.adapters.scripted.RequestFields.text;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads the body of one request of Ollama's chat and refuses what the real service refuses: values
 * of another type than it reads, pictures that are no base64, a form or a thinking that it does not
 * know. It is stricter where the service silently loses something: results must answer their calls,
 * and a tool's schema may only have the keywords that reach the model.
 */
final class OllamaRequestReader {
  private static final Set<String> LEVELS = Set.of("low", "medium", "high", "max");
  private static final Set<String> OF_PARAMETERS = Set.of("type", "$defs", "items", "required");
  private static final Set<String> OF_PROPERTY =
      Set.of("type", "description", "enum", "required", "items", "anyOf", "properties");

  private final List<Message> messages = new ArrayList<>();

  /** Calls of the latest assistant message that have no result yet, by id. */
  private final Map<String, ToolCall> unanswered = new LinkedHashMap<>();

  private OllamaRequestReader() {}

  static ModelRequest read(JsonNode root) throws RefusedException {
    if (!root.isObject()) {
      throw refuse("The body must be a JSON object.", null);
    }
    String model = text(root, "model", "");
    if (model.isEmpty()) {
      throw refuse("model is required", null);
    }
    JsonNode stream = root.path("stream");
    if (!stream.isMissingNode() && !stream.isBoolean()) {
      throw refuse("A boolean is needed.", "stream");
    }
    JsonNode options = root.path("options");
    if (!options.isMissingNode() && !options.isObject()) {
      throw refuse("An object is needed.", "options");
    }
    checkThink(root.path("think"));
    checkFormat(root.path("format"));
    checkTools(root.path("tools"));
    JsonNode all = root.path("messages");
    if (!all.isArray() || all.isEmpty()) {
      throw refuse("An array of at least one message is needed.", "messages");
    }
    OllamaRequestReader reader = new OllamaRequestReader();
    for (int i = 0; i < all.size(); i++) {
      reader.add(all.get(i), "messages[" + i + "]");
    }
    reader.requireAnswered("messages");
    return new ModelRequest(
        Conversation.of(model, reader.messages),
        new ResponseForm(stream.asBoolean(true), false, false));
  }

  // --- the conversation
  // ---------------------------------------------------------------------------

  private void add(JsonNode message, String path) throws RefusedException {
    String role = text(message, "role", path + ".");
    String content = text(message, "content", path + ".");
    if (!role.equals("tool")) {
      requireAnswered(path);
    }
    switch (role) {
      case "system" -> messages.add(Message.system(content));
      case "user" -> {
        checkImages(message.path("images"), path + ".images");
        messages.add(Message.user(content));
      }
      case "assistant" -> addAnswer(message, content, path);
      case "tool" -> addResult(message, content, path);
      default -> throw refuse("The role must be system, user, assistant or tool.", path + ".role");
    }
  }

  private static void checkImages(JsonNode images, String path) throws RefusedException {
    for (JsonNode image : images) {
      try {
        Base64.getDecoder().decode(image.asString(""));
      } catch (IllegalArgumentException _) {
        throw refuse("illegal base64 data", path); // regexes see words only
      }
    }
  }

  private void addAnswer(JsonNode message, String content, String path) throws RefusedException {
    List<Part> parts = new ArrayList<>();
    if (message.has("thinking")) {
      text(message, "thinking", path + "."); // words that anybody may put there
    }
    if (!content.isEmpty()) {
      parts.add(new Part.Text(content));
    }
    JsonNode calls = message.path("tool_calls");
    for (int i = 0; i < calls.size(); i++) {
      String place = path + ".tool_calls[" + i + "]";
      ToolCall call = call(calls.get(i), place);
      if (unanswered.put(call.id(), call) != null) {
        throw refuse("Two calls have the same id.", place + ".id");
      }
      parts.add(call);
    }
    messages.add(new Message(Role.ASSISTANT, parts));
  }

  private static ToolCall call(JsonNode call, String path) throws RefusedException {
    JsonNode function = call.path("function");
    String name = RequestFields.name(function, path + ".function");
    if (!function.path("arguments").isObject()) {
      throw refuse("An object is needed.", path + ".function.arguments");
    }
    Json input = Json.parse(StrictJson.write(function.path("arguments")));
    return new ToolCall(text(call, "id", path + "."), name, input);
  }

  private void addResult(JsonNode message, String content, String path) throws RefusedException {
    @Nullable ToolCall call = unanswered.remove(text(message, "tool_call_id", path + "."));
    if (call == null || !call.name().equals(text(message, "tool_name", path + "."))) {
      throw refuse(
          "A message of role tool must answer a call of the assistant message before it, once.",
          path + ".tool_call_id");
    }
    messages.add(Message.tool(List.of(RequestFields.result(call, content))));
  }

  private void requireAnswered(String path) throws RefusedException {
    if (!unanswered.isEmpty()) {
      throw refuse("Each call must be followed by one message of role tool.", path);
    }
  }

  // --- the rest
  // -----------------------------------------------------------------------------------

  private static void checkThink(JsonNode think) throws RefusedException {
    if (!think.isMissingNode() && !think.isBoolean() && !LEVELS.contains(think.asString(""))) {
      throw refuse("think must be a boolean or \"high\", \"medium\", \"low\", \"max\"", null);
    }
  }

  private static void checkFormat(JsonNode format) throws RefusedException {
    if (!format.isMissingNode() && !format.isObject() && !format.asString("").equals("json")) {
      throw refuse("expected \"json\" or a valid JSON Schema object", "format");
    }
  }

  private static void checkTools(JsonNode tools) throws RefusedException {
    for (int i = 0; i < tools.size(); i++) {
      String path = "tools[" + i + "]";
      if (!text(tools.get(i), "type", path + ".").equals("function")) {
        throw refuse("The type must be function.", path + ".type");
      }
      JsonNode function = tools.get(i).path("function");
      RequestFields.name(function, path + ".function");
      JsonNode parameters = function.path("parameters");
      String place = path + ".function.parameters";
      if (!text(parameters, "type", place + ".").equals("object")) {
        throw refuse("The type must be object.", place + ".type");
      }
      for (String keyword : parameters.propertyNames()) {
        if (!keyword.equals("properties") && !OF_PARAMETERS.contains(keyword)) {
          throw refuse("The service drops this keyword.", place + "." + keyword);
        }
      }
      checkProperties(parameters, place);
    }
  }

  private static void checkProperties(JsonNode schema, String path) throws RefusedException {
    for (Map.Entry<String, JsonNode> property : schema.path("properties").properties()) {
      checkProperty(property.getValue(), path + ".properties." + property.getKey());
    }
  }

  private static void checkProperty(JsonNode schema, String path) throws RefusedException {
    for (String keyword : schema.propertyNames()) {
      if (!OF_PROPERTY.contains(keyword)) {
        throw refuse("The service drops this keyword.", path + "." + keyword);
      }
    }
    checkProperties(schema, path);
    if (schema.has("items")) {
      checkProperty(schema.path("items"), path + ".items");
    }
    for (JsonNode variant : schema.path("anyOf")) {
      checkProperty(variant, path + ".anyOf");
    }
  }
}
