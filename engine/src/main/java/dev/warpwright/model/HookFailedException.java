package dev.warpwright.model;

/**
 * A hook of the program (an observer, a memory, an execution environment) failed in a way that ends
 * the run. A resume goes on from there.
 */
public final class HookFailedException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message names the hook; without what it threw
   * @param cause what the hook threw
   * @param trace the operation so far
   */
  public HookFailedException(String message, Throwable cause, OperationTrace trace) {
    super(FailureKind.INTERNAL, message, cause, trace);
  }
}
