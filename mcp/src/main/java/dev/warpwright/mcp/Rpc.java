package dev.warpwright.mcp;

import dev.warpwright.json.StrictJson;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Writes messages of JSON-RPC 2.0, each as one line without its end. Pure. */
final class Rpc {
  private static final int METHOD_NOT_FOUND = -32_601;

  private Rpc() {}

  static ObjectNode object() {
    return StrictJson.mapper().createObjectNode();
  }

  static byte[] request(long id, String method, ObjectNode params) {
    ObjectNode message = message();
    message.put("id", id);
    message.put("method", method);
    message.set("params", params);
    return StrictJson.bytes(message);
  }

  static byte[] notification(String method, ObjectNode params) {
    ObjectNode message = message();
    message.put("method", method);
    if (!params.isEmpty()) {
      message.set("params", params);
    }
    return StrictJson.bytes(message);
  }

  /** Says that nobody waits for the answer to a request any more. */
  static byte[] cancelled(long requestId, String reason) {
    ObjectNode params = object();
    params.put("requestId", requestId);
    params.put("reason", reason);
    return notification("notifications/cancelled", params);
  }

  /**
   * What a server gets that wants something: a ping is answered, all else is a method that nobody
   * offered.
   */
  static byte[] answer(Incoming.Request asked) {
    ObjectNode message = message();
    message.set("id", asked.id());
    if (asked.method().equals("ping")) {
      message.set("result", object());
    } else {
      ObjectNode error = object();
      error.put("code", METHOD_NOT_FOUND);
      error.put("message", "Method not found");
      message.set("error", error);
    }
    return StrictJson.bytes(message);
  }

  private static ObjectNode message() {
    ObjectNode message = object();
    message.put("jsonrpc", "2.0");
    return message;
  }

  /** The member of an object that is a text; otherwise the empty text. */
  static String text(JsonNode object, String member) {
    JsonNode value = object.path(member);
    return value.isString() ? StrictJson.cleanText(value.stringValue()) : "";
  }

  /** The beginning of a text, no more than so many characters. */
  static String cut(String text, int max) {
    if (text.length() <= max) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(max - 2)) ? max - 2 : max - 1;
    return text.substring(0, end) + "…";
  }
}
