package dev.warpwright.tool;

import org.jspecify.annotations.Nullable;

/**
 * A tool's failure with a text that is meant for the model.
 *
 * <p>Every other exception of a tool is shown to the model as the fixed text "Tool failed.", since
 * its message may hold what the model must not see.
 */
public final class ToolException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * A failure.
   *
   * @param messageForModel what the model is told
   */
  public ToolException(String messageForModel) {
    this(messageForModel, null);
  }

  /**
   * A failure with its cause.
   *
   * @param messageForModel what the model is told
   * @param cause what happened, for the program's own logs
   */
  public ToolException(String messageForModel, @Nullable Throwable cause) {
    super(messageForModel, cause);
  }

  String messageForModel() {
    String message = getMessage();
    return message == null ? ToolRunner.FAILED : message;
  }
}
