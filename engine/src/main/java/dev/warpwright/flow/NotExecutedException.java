package dev.warpwright.flow;

import org.jspecify.annotations.Nullable;

/**
 * A step says that it has failed and that nothing was done: so a step that must not be repeated may
 * be tried again all the same.
 */
public final class NotExecutedException extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what happened; it is stored
   * @param cause why
   */
  public NotExecutedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
