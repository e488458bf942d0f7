package dev.warpwright.model;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Nothing was left to try but targets whose circuits are open. */
public final class CircuitOpenException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /** When the first of them may be tried again. */
  private final Instant earliestReturn;

  /**
   * Makes the exception.
   *
   * @param message names the targets and the earliest return
   * @param earliestReturn when the first of them may be tried again
   * @param cause the failure before, if there was one
   * @param trace the operation so far
   */
  public CircuitOpenException(
      String message, Instant earliestReturn, @Nullable Throwable cause, OperationTrace trace) {
    super(FailureKind.CIRCUIT_OPEN, message, cause, trace);
    this.earliestReturn = earliestReturn;
  }

  /**
   * When the first of the targets may be tried again.
   *
   * @return the instant, by the wall clock
   */
  public Instant earliestReturn() {
    return earliestReturn;
  }

  /** The same call may succeed after {@link #earliestReturn()}. */
  @Override
  public boolean retryable() {
    return true;
  }
}
