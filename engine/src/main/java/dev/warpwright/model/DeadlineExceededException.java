package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/** The operation's deadline passed, or a wait that was needed no longer fitted into it. */
public final class DeadlineExceededException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message names the rule, the bound and the value; without content or secrets
   * @param cause what decided the outcome, if there is one
   * @param trace the operation so far
   */
  public DeadlineExceededException(
      String message, @Nullable Throwable cause, OperationTrace trace) {
    super(FailureKind.DEADLINE, message, cause, trace);
  }
}
