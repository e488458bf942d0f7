package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/**
 * A tool that must not be repeated may or may not have acted, and there is no run that could wait
 * for a decision.
 */
public final class UnknownOutcomeException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message names the rule, the bound and the value; without content or secrets
   * @param cause what decided the outcome, if there is one
   * @param trace the operation so far
   */
  public UnknownOutcomeException(String message, @Nullable Throwable cause, OperationTrace trace) {
    super(FailureKind.UNKNOWN_OUTCOME, message, cause, trace);
  }
}
