package dev.warpwright.adapters.wire;

import dev.warpwright.model.Json;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolResultFormat;
import java.util.Map;

/**
 * A tool's result as JSON text, for protocols whose results have no mark of an error.
 *
 * <p>In the format {@link ToolResultFormat#ENVELOPE} a success is <code>{"output":…}</code> and a
 * failure <code>{"error":{"message":…}}</code>, always.
 *
 * <p>In the format {@link ToolResultFormat#PLAIN} a success is the JSON text of its output, so a
 * string keeps its quotes and a reader can tell {@code "3"} from {@code 3}. A failure is <code>
 * {"error":{"message":…}}</code>. An output that could be taken for either envelope, an object with
 * {@code error} or {@code output} as its only member, stands in one of its own, <code>{"output":…}
 * </code>: so no success reads as a failure. Pure.
 */
public final class ToolResultText {
  private ToolResultText() {}

  /**
   * Writes a result.
   *
   * @param result the result
   * @param format in an envelope, or only where it must be
   * @return its text
   */
  public static String of(ToolResult result, ToolResultFormat format) {
    if (result.error()) {
      return Json.of(Map.of("error", Map.of("message", RequestRules.errorText(result)))).text();
    }
    Json output = result.output();
    boolean wrapped = format == ToolResultFormat.ENVELOPE || looksLikeEnvelope(output);
    return wrapped ? "{\"output\":" + output.text() + "}" : output.text();
  }

  private static boolean looksLikeEnvelope(Json output) {
    String text = output.text();
    return (text.startsWith("{\"error\":") || text.startsWith("{\"output\":"))
        && output.value() instanceof Map<?, ?> members
        && members.size() == 1;
  }
}
