package dev.warpwright.mcp;

import dev.warpwright.json.StrictJson;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** A message of JSON-RPC 2.0 that a server sent. */
sealed interface Incoming {
  /** Ends a request of ours. */
  sealed interface Reply extends Incoming {
    /** Which request it ends. */
    long id();
  }

  /** What a request brought. */
  record Result(long id, JsonNode value) implements Reply {}

  /**
   * Why a request brought nothing.
   *
   * @param id which request
   * @param code JSON-RPC's or the protocol's code
   * @param message the server's words, as they came
   */
  record Failure(long id, long code, String message) implements Reply {}

  /** Something that the server wants of us. */
  record Request(JsonNode id, String method) implements Incoming {}

  /** Everything that needs no answer: notifications, and what is no message of the protocol. */
  record Other() implements Incoming {}

  /**
   * Reads a text. Revision 2025-03-26 allows an array of messages where a message may stand.
   *
   * @throws JacksonException if it is no JSON that is accepted
   */
  static List<Incoming> read(String text) {
    JsonNode json = StrictJson.readDocument(text);
    if (!json.isArray()) {
      return List.of(of(json));
    }
    List<Incoming> messages = new ArrayList<>();
    json.forEach(message -> messages.add(of(message)));
    return messages;
  }

  private static Incoming of(JsonNode message) {
    JsonNode id = message.path("id");
    JsonNode method = message.path("method");
    if (method.isString()) {
      return id.isString() || id.isIntegralNumber()
          ? new Request(id, method.stringValue())
          : new Other();
    }
    if (!id.canConvertToLong() || !id.isIntegralNumber()) {
      return new Other();
    }
    JsonNode error = message.path("error");
    if (error.isObject()) {
      JsonNode code = error.path("code");
      return new Failure(
          id.longValue(),
          code.isIntegralNumber() && code.canConvertToLong() ? code.longValue() : 0,
          error.path("message").asString(""));
    }
    return message.has("result") ? new Result(id.longValue(), message.path("result")) : new Other();
  }
}
