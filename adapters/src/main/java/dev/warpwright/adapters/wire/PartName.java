package dev.warpwright.adapters.wire;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Digest;
import dev.warpwright.model.Part;
import dev.warpwright.model.ToolCall;
import org.jspecify.annotations.Nullable;

/**
 * The name of a part of an answer, by which private state that stood before it finds it again: a
 * call's id, a text's hash. Pure.
 */
public final class PartName {
  private static final int HEX_DIGITS = 16;

  private PartName() {}

  /**
   * Names a part.
   *
   * @param part the part, or null if there is none
   * @return its name; that of any other part, or of none, is {@code none}
   */
  public static String of(@Nullable Part part) {
    return switch (part) {
      case ToolCall call -> "call " + call.id();
      case Part.Text(String text) ->
          "text " + Digest.hex(StrictJson.cleanText(text)).substring(0, HEX_DIGITS);
      case null, default -> "none";
    };
  }
}
