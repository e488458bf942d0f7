package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/** Nothing was left to try but targets that had no place for the call. */
public final class AdmissionDeniedException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message names the rule, the bound and the value; without content or secrets
   * @param cause what decided the outcome, if there is one
   * @param trace the operation so far
   */
  public AdmissionDeniedException(String message, @Nullable Throwable cause, OperationTrace trace) {
    super(FailureKind.ADMISSION_DENIED, message, cause, trace);
  }
}
