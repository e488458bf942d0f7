package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/**
 * The caller cancelled the operation or its thread was interrupted; in that case the thread's
 * interrupt flag is set again.
 */
public final class OperationCancelledException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message names the rule, the bound and the value; without content or secrets
   * @param cause what decided the outcome, if there is one
   * @param trace the operation so far
   */
  public OperationCancelledException(
      String message, @Nullable Throwable cause, OperationTrace trace) {
    super(FailureKind.CANCELLED, message, cause, trace);
  }
}
