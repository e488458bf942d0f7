package dev.warpwright.agent;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Digest;
import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A conversation as JSON: to measure it, to compare it, to show it to whoever sums it up. */
final class Transcript {
  private Transcript() {}

  /** About how many tokens messages have: a quarter of the UTF-8 bytes of their JSON. */
  static long tokens(List<Message> messages) {
    long bytes = 0;
    for (Message message : messages) {
      bytes += Json.of(plain(message, true)).text().getBytes(StandardCharsets.UTF_8).length;
    }
    return (bytes + 3) / 4;
  }

  static String digest(List<Message> messages) {
    return Digest.of(
        Json.of(messages.stream().map(message -> plain(message, true)).toList()).canonical());
  }

  /** One message a line, without what only a provider understands. */
  static String text(List<Message> messages) {
    StringBuilder lines = new StringBuilder();
    for (Message message : messages) {
      lines.append(Json.of(plain(message, false)).text()).append('\n');
    }
    return lines.toString();
  }

  private static Map<String, Object> plain(Message message, boolean whole) {
    List<Object> parts = new ArrayList<>();
    for (Part part : message.parts()) {
      switch (part) {
        case Part.Text(String text) -> parts.add(StrictJson.cleanText(text));
        case Image image -> parts.add(whole ? Map.of("image", image.url()) : "[an image]");
        case ToolCall call -> parts.add(members("call", call.id(), call.name(), call.input()));
        case ToolResult result ->
            parts.add(
                members(
                    result.error() ? "error" : "result",
                    result.callId(),
                    result.toolName(),
                    result.output()));
        case ProviderState state when whole -> parts.add(Map.of("state", state.data()));
        case ProviderState state -> {}
      }
    }
    Map<String, Object> plain = new LinkedHashMap<>();
    plain.put("role", message.role().name().toLowerCase(Locale.ROOT));
    plain.put("parts", parts);
    return plain;
  }

  private static Map<String, Object> members(String kind, String id, String tool, Json value) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("tool", tool);
    members.put("id", id);
    members.put(kind, value);
    return members;
  }
}
