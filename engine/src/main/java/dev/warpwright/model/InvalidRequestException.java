package dev.warpwright.model;

/**
 * A request, history, scope or configuration breaks a stated rule; nothing was spent.
 *
 * <p>The kind is one of {@link FailureKind#INVALID_REQUEST}, {@link FailureKind#INVALID_HISTORY},
 * {@link FailureKind#INVALID_SCOPE} and {@link FailureKind#INVALID_CONFIGURATION}.
 */
public final class InvalidRequestException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param kind one of the four invalid kinds
   * @param message names the rule, the bound and the value
   */
  public InvalidRequestException(FailureKind kind, String message) {
    super(kind, message, null, OperationTrace.NONE);
  }
}
