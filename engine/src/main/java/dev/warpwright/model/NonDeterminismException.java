package dev.warpwright.model;

/**
 * A flow's code does something else than its log says that it did: the code was changed while the
 * run was under way, or it depends on something that the log does not have, such as the clock.
 * Nothing was written; the run goes on with the code that fits.
 */
public final class NonDeterminismException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what is recorded, what was attempted, where, and what to do
   * @param trace names the run
   */
  public NonDeterminismException(String message, OperationTrace trace) {
    super(FailureKind.NON_DETERMINISM, message, null, trace);
  }
}
