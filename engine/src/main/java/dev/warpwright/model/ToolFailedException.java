package dev.warpwright.model;

/** A tool failed, and the request or agent stops at the first failure of a tool. */
public final class ToolFailedException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message names the tool; without its data
   * @param trace the operation so far
   */
  public ToolFailedException(String message, OperationTrace trace) {
    super(FailureKind.TOOL_FAILED, message, null, trace);
  }
}
