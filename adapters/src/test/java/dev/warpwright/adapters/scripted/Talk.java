package dev.warpwright.adapters.scripted;

import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import java.util.List;

/** Short ways to write conversations in tests. */
final class Talk {
  private Talk() {}

  static Message asks(ToolCall... calls) {
    return new Message(Role.ASSISTANT, List.<Part>of(calls));
  }

  static ToolCall call(String id, String name) {
    return new ToolCall(id, name, Json.EMPTY_OBJECT);
  }

  static Message result(ToolCall call, String output) {
    return Message.tool(List.of(ToolResult.success(call, Json.parse(output))));
  }

  static Message failure(ToolCall call, String message) {
    return Message.tool(List.of(ToolResult.failure(call, message)));
  }

  static ModelCall ask(Message... messages) {
    return ModelCall.builder(List.of(messages)).build();
  }

  /** A Chat Completions request with one user message. */
  static String chat(String user) {
    return chatMessages("{\"role\":\"user\",\"content\":" + Json.of(user).text() + "}");
  }

  static String chatMessages(String messages) {
    return "{\"model\":\"m-1\",\"messages\":[" + messages + "]}";
  }

  /** A script with one rule that says Done, and these faults. */
  static Script faulty(String faults) {
    return Script.parse(
        """
        { "rules": [ { "name": "end", "when": {}, "answer": { "text": "Done." } } ],
          "faults": [ %s ] }
        """
            .formatted(faults));
  }
}
