package dev.warpwright.tool;

import dev.warpwright.model.ToolCall;

/** A model's call after it was judged. */
public sealed interface CheckedCall {
  /**
   * The call.
   *
   * @return the call as the model made it
   */
  ToolCall call();

  /**
   * The tool may run, once it is approved if it needs that.
   *
   * @param call the call
   * @param tool the tool
   * @param requiresApproval whether somebody has to approve the call first
   */
  record Callable(ToolCall call, Tool tool, boolean requiresApproval) implements CheckedCall {}

  /**
   * The call is answered with an error and not executed.
   *
   * @param call the call
   * @param message what the model is told
   */
  record Refused(ToolCall call, String message) implements CheckedCall {}
}
