package dev.warpwright;

import dev.warpwright.model.Conversation;
import dev.warpwright.model.Image;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.util.List;
import java.util.function.ToLongFunction;

/** How large an input is before anybody has counted its tokens. Pure, and copies no text. */
final class InputSize {
  private static final ToLongFunction<Message> CHARACTERS = InputSize::characters;

  private InputSize() {}

  /**
   * A quarter of the characters of messages, tool definitions and the schema of the output, rounded
   * up.
   *
   * @param schemaCharacters the characters of the output's schema; 0 without one
   */
  static long tokens(List<Message> messages, List<ToolSpec> tools, long schemaCharacters) {
    long characters = schemaCharacters + Conversation.of(messages).sum(CHARACTERS);
    for (ToolSpec tool : tools) {
      characters +=
          tool.name().length() + tool.description().length() + tool.inputSchema().text().length();
    }
    return (characters + 3) / 4;
  }

  /** The same of a call, whose prompt for an object is one of its messages. */
  static long tokens(ModelCall call) {
    long schemaCharacters =
        switch (call.output().orElse(null)) {
          case null -> 0;
          case OutputFormat.JsonObject _ -> 0;
          case OutputFormat.JsonSchema format -> format.schema().text().length();
        };
    return tokens(call.messages(), call.tools(), schemaCharacters);
  }

  private static long characters(Message message) {
    long characters = 0;
    for (Part part : message.parts()) {
      characters += characters(part);
    }
    return characters;
  }

  private static long characters(Part part) {
    return switch (part) {
      case Part.Text(String text) -> text.length();
      case ToolCall call -> SerializedParts.characters(call);
      case ToolResult result -> SerializedParts.characters(result);
      case ProviderState state -> state.data().text().length();
      case Image image -> 0; // its price depends on its size in pixels, which nobody measured
    };
  }
}
