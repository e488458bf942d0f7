package dev.warpwright.adapters.wire;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import java.nio.charset.StandardCharsets;

/**
 * Reads the argument text of a tool call.
 *
 * <p>Blank text means the empty object. A JSON string that itself holds the text of an object is
 * unwrapped, once. Everything else that is no JSON object (also one with a key twice, with text
 * after it, or nested too deeply) makes the call malformed: the model hears of it, no tool does.
 */
public final class ToolArguments {
  /** The longest argument text of one call, in bytes of UTF-8. */
  public static final int MAX_BYTES = 1024 * 1024;

  /** What is wrong with an answer that crosses the bound. */
  static final String TOO_LONG =
      "has a tool call whose arguments are longer than the bound of " + MAX_BYTES + " bytes.";

  private ToolArguments() {}

  /**
   * Whether a text is longer than the bound.
   *
   * @param text the arguments
   * @return true if it has more than {@link #MAX_BYTES} bytes
   */
  public static boolean isTooLong(String text) {
    return text.length() > MAX_BYTES
        || (text.length() > MAX_BYTES / 3
            && text.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES);
  }

  /**
   * Makes the call.
   *
   * @param id the call's id
   * @param name the tool's name
   * @param text the arguments as the model wrote them
   * @return the call, malformed if the text is no object
   */
  public static ToolCall call(String id, String name, String text) {
    if (text.isBlank()) {
      return new ToolCall(id, name, Json.EMPTY_OBJECT);
    }
    try {
      Json input = Json.parse(text);
      if (!input.isObject() && input.value() instanceof String wrapped) {
        input = Json.parse(wrapped);
      }
      return input.isObject() ? new ToolCall(id, name, input) : ToolCall.malformed(id, name, text);
    } catch (InvalidRequestException | NumberFormatException _) { // an exponent beyond all bounds
      return ToolCall.malformed(id, name, text);
    }
  }
}
