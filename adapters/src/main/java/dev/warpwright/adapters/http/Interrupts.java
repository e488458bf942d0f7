package dev.warpwright.adapters.http;

import java.nio.channels.ClosedByInterruptException;

/** Interrupts that show as other failures, as they do where a library may not throw them. */
public final class Interrupts {
  private Interrupts() {}

  /**
   * Throws the interrupt that hides in a failure; clears the thread's mark of it.
   *
   * @param failure what was thrown
   * @throws InterruptedException if the thread is interrupted, or a cause says that it was
   */
  public static void rethrow(Exception failure) throws InterruptedException {
    boolean interrupted = Thread.interrupted();
    for (Throwable cause = failure; cause != null && !interrupted; cause = cause.getCause()) {
      interrupted =
          cause instanceof InterruptedException || cause instanceof ClosedByInterruptException;
    }
    if (interrupted) {
      throw new InterruptedException();
    }
  }
}
