package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/**
 * Every target was tried and failed ({@link FailureKind#TARGETS_EXHAUSTED}), the operation's limit
 * of provider attempts was reached ({@link FailureKind#TOTAL_ATTEMPTS}), or a tool of the provider
 * failed that must not be run again ({@link FailureKind#PROVIDER_TOOL}).
 *
 * <p>The cause is the last failure that has an HTTP status or a structured code or, if none has
 * one, the last failure; the trace has all attempts.
 */
public final class AttemptsExhaustedException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /** Whether the deciding failure may pass by itself. */
  private final boolean retryable;

  /**
   * Makes the exception.
   *
   * @param kind one of the three
   * @param message names the limit or the deciding failure
   * @param cause the deciding failure
   * @param retryable whether the deciding failure may pass by itself
   * @param trace the operation so far
   */
  public AttemptsExhaustedException(
      FailureKind kind,
      String message,
      @Nullable Throwable cause,
      boolean retryable,
      OperationTrace trace) {
    super(kind, message, cause, trace);
    this.retryable = retryable;
  }

  @Override
  public boolean retryable() {
    return retryable;
  }
}
