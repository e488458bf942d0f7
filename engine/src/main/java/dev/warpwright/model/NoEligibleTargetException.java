package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/**
 * No candidate passed the checks before a dispatch; the message is that of the last skip and lists
 * all of them.
 */
public final class NoEligibleTargetException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message names the rule, the bound and the value; without content or secrets
   * @param cause what decided the outcome, if there is one
   * @param trace the operation so far
   */
  public NoEligibleTargetException(
      String message, @Nullable Throwable cause, OperationTrace trace) {
    super(FailureKind.NO_ELIGIBLE_TARGET, message, cause, trace);
  }
}
