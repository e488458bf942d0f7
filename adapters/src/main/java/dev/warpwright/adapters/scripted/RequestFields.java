package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** How the readers of requests look at members and refuse them. */
final class RequestFields {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  private RequestFields() {}

  static String text(JsonNode node, String key, String path) throws RefusedException {
    JsonNode value = node.path(key);
    if (!value.isString()) {
      throw refuse("A string is needed.", path + key);
    }
    return value.stringValue();
  }

  /** The name of a tool. */
  static String name(JsonNode node, String path) throws RefusedException {
    String name = text(node, "name", path + ".");
    if (!NAME.matcher(name).matches()) {
      throw refuse("A name must match " + NAME + ".", path + ".name");
    }
    return name;
  }

  /** A call whose arguments are text; taken as it is if they are no object, as services do. */
  static ToolCall call(String id, JsonNode function, String path) throws RefusedException {
    String name = name(function, path);
    String arguments = text(function, "arguments", path + ".");
    try {
      Json input = Json.parse(arguments);
      if (input.isObject()) {
        return new ToolCall(id, name, input);
      }
    } catch (InvalidRequestException e) {
      // The service does not read them either.
    }
    return ToolCall.malformed(id, name, arguments);
  }

  /** Takes a result apart: an envelope with output or error, or plain JSON, or plain text. */
  static ToolResult result(ToolCall call, String content) {
    Json output;
    try {
      output = Json.parse(content);
    } catch (InvalidRequestException e) {
      return ToolResult.success(call, Json.of(content));
    }
    if (output.isObject()) {
      JsonNode envelope = StrictJson.read(output.text());
      JsonNode message = envelope.path("error").path("message");
      if (envelope.size() == 1 && message.isString() && envelope.path("error").size() == 1) {
        return ToolResult.failure(call, message.stringValue());
      }
      if (envelope.size() == 1 && envelope.has("output")) {
        return ToolResult.success(call, Json.parse(StrictJson.write(envelope.get("output"))));
      }
    }
    return ToolResult.success(call, output);
  }

  static RefusedException refuse(String message, @Nullable String param) {
    return new RefusedException(400, message, param);
  }
}
