package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/** A concurrent writer, another binding, or a reused key won; nothing was changed. */
public final class ConflictException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message names the rule, the bound and the value; without content or secrets
   * @param cause what decided the outcome, if there is one
   * @param trace the operation so far
   */
  public ConflictException(String message, @Nullable Throwable cause, OperationTrace trace) {
    super(FailureKind.CONFLICT, message, cause, trace);
  }
}
