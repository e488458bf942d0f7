package dev.warpwright.model;

/**
 * The result of a tool call as the model sees it.
 *
 * @param callId the id of the call that it answers
 * @param toolName the tool's name
 * @param output the output; for an error a JSON string with its text
 * @param error whether the call failed
 */
public record ToolResult(String callId, String toolName, Json output, boolean error)
    implements Part {
  /**
   * A success.
   *
   * @param call the call
   * @param output its output
   * @return the result
   */
  public static ToolResult success(ToolCall call, Json output) {
    return new ToolResult(call.id(), call.name(), output, false);
  }

  /**
   * A failure.
   *
   * @param call the call
   * @param message a text meant for the model
   * @return the result
   */
  public static ToolResult failure(ToolCall call, String message) {
    return new ToolResult(call.id(), call.name(), Json.of(message), true);
  }

  /** Shows the call and whether it failed, not the output. */
  @Override
  public String toString() {
    return "ToolResult[" + toolName + ", " + callId + (error ? ", error]" : "]");
  }
}
