package dev.warpwright.model;

import org.jspecify.annotations.Nullable;

/**
 * The store of runs failed or did not answer in time, so that the fate of what was asked is unknown
 * to the caller.
 *
 * <p>Nothing is lost: the run's log tells on the next load what was written, and the run is resumed
 * by its id.
 */
public final class StoreException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what was asked of the store and what to do
   * @param cause the failure below, if there is one
   */
  public StoreException(String message, @Nullable Throwable cause) {
    super(FailureKind.STORE, message, cause, OperationTrace.NONE);
  }

  @Override
  public boolean retryable() {
    return true;
  }
}
