package dev.warpwright;

import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;

/**
 * Tool calls and results as the text from which their tokens are estimated: as JSON objects, since
 * every protocol sends them as such, ids and names included. An estimate: nothing is escaped. Pure.
 */
final class SerializedParts {
  private static final String CALL = "{\"type\":\"tool_call\",\"id\":\"";
  private static final String RESULT = "{\"type\":\"tool_result\",\"id\":\"";
  private static final String NAME = "\",\"name\":\"";
  private static final String INPUT = "\",\"input\":";
  private static final String OUTPUT = "\",\"output\":";
  private static final String ERROR = "\",\"error\":";
  private static final String END = "}";

  private SerializedParts() {}

  static void append(ToolCall call, StringBuilder text) {
    text.append(CALL).append(call.id()).append(NAME).append(call.name());
    text.append(INPUT).append(call.input().text()).append(END);
  }

  static void append(ToolResult result, StringBuilder text) {
    text.append(RESULT).append(result.callId()).append(NAME).append(result.toolName());
    text.append(outcome(result)).append(result.output().text()).append(END);
  }

  /** The length of what {@link #append(ToolCall, StringBuilder)} appends. */
  static long characters(ToolCall call) {
    return (long) CALL.length()
        + call.id().length()
        + NAME.length()
        + call.name().length()
        + INPUT.length()
        + call.input().text().length()
        + END.length();
  }

  /** The length of what {@link #append(ToolResult, StringBuilder)} appends. */
  static long characters(ToolResult result) {
    return (long) RESULT.length()
        + result.callId().length()
        + NAME.length()
        + result.toolName().length()
        + outcome(result).length()
        + result.output().text().length()
        + END.length();
  }

  private static String outcome(ToolResult result) {
    return result.error() ? ERROR : OUTPUT;
  }
}
