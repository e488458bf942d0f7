package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/**
 * The sealed, unchecked family of everything that Warpwright throws to its caller.
 *
 * <p>Each carries a stable {@link #kind()}, the operation's {@link #trace()}, the failure that
 * decided the outcome as its cause, and other failures as suppressed exceptions in order of time.
 * Messages name the rule, the bound and the actual value; they hold no prompt, output, tool data or
 * secret, and a cause whose text held a secret is replaced by a copy without it.
 */
public abstract sealed class WarpwrightException extends RuntimeException
    permits AdmissionDeniedException,
        AttemptsExhaustedException,
        BudgetDeniedException,
        CircuitOpenException,
        ConflictException,
        DeadlineExceededException,
        GuardrailException,
        InvalidOutputException,
        InvalidRequestException,
        LimitExceededException,
        NoEligibleTargetException,
        NonDeterminismException,
        OperationCancelledException,
        RunFailedException,
        StepFailedException,
        StoreException,
        StreamBrokenException,
        ToolFailedException,
        UnknownOutcomeException {
  private static final long serialVersionUID = 1L;

  /** What went wrong. */
  private final FailureKind kind;

  /** What the operation had done; absent after deserialisation. */
  private final transient OperationTrace trace;

  WarpwrightException(
      FailureKind kind, String message, @Nullable Throwable cause, OperationTrace trace) {
    super(Redaction.redact(message), cause == null ? null : Redaction.redact(cause));
    this.kind = kind;
    this.trace = trace;
  }

  /**
   * What went wrong, as a stable name.
   *
   * @return the kind
   */
  public final FailureKind kind() {
    return kind;
  }

  /**
   * The operation's id, attempts and decision when it failed.
   *
   * @return the trace; {@link OperationTrace#NONE} if the call never became an operation
   */
  public final OperationTrace trace() {
    return trace == null ? OperationTrace.NONE : trace;
  }

  /**
   * Whether the same call may succeed if it is made again later, unchanged.
   *
   * @return false unless a subclass says otherwise
   */
  public boolean retryable() {
    return false;
  }
}
