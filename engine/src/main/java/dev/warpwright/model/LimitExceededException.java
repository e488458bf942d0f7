package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/** A declared bound, such as the steps or the tool errors of a run, was passed. */
public final class LimitExceededException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message names the rule, the bound and the value; without content or secrets
   * @param cause what decided the outcome, if there is one
   * @param trace the operation so far
   */
  public LimitExceededException(String message, @Nullable Throwable cause, OperationTrace trace) {
    super(FailureKind.LIMIT, message, cause, trace);
  }
}
