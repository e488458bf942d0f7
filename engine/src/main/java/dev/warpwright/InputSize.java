package dev.warpwright;

import dev.warpwright.model.Image;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.util.List;

/** How large an input is before anybody has counted its tokens. Pure, and copies no text. */
final class InputSize {
  private InputSize() {}

  /** A quarter of the characters of messages and tool definitions, rounded up. */
  static long tokens(List<Message> messages, List<ToolSpec> tools) {
    long characters = 0;
    for (Message message : messages) {
      for (Part part : message.parts()) {
        characters += characters(part);
      }
    }
    for (ToolSpec tool : tools) {
      characters +=
          tool.name().length() + tool.description().length() + tool.inputSchema().text().length();
    }
    return (characters + 3) / 4;
  }

  private static long characters(Part part) {
    return switch (part) {
      case Part.Text(String text) -> text.length();
      case ToolCall call -> call.name().length() + call.input().text().length();
      case ToolResult result -> result.output().text().length();
      case ProviderState state -> state.data().text().length();
      case Image image -> 0; // its price depends on its size in pixels, which nobody measured
    };
  }
}
