package dev.warpwright.model;

/**
 * A model's answer cannot be used: it is no JSON, does not match its schema, was refused, or was
 * cut off. The four are distinct kinds: {@link FailureKind#OUTPUT_PARSE}, {@link
 * FailureKind#OUTPUT_SCHEMA}, {@link FailureKind#OUTPUT_REFUSAL}, {@link
 * FailureKind#OUTPUT_TRUNCATION}.
 */
public final class InvalidOutputException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param kind one of the four output kinds
   * @param message names the violated rule and paths, without content
   * @param trace the operation so far
   */
  public InvalidOutputException(FailureKind kind, String message, OperationTrace trace) {
    super(kind, message, null, trace);
  }
}
