package dev.warpwright.tool;

/**
 * Thrown by a tool that does not know whether it has acted: a payment whose answer did not come, a
 * message whose delivery timed out.
 *
 * <p>Any other exception says that the call failed, and the model may try again; this one puts the
 * call in doubt. An {@link EffectClass#IDEMPOTENT} tool is run once more under the same key. Of a
 * {@link EffectClass#ONCE} tool, and of one that does not know the second time either, the
 * reconciler is asked or, without one, the run waits for a person. A {@link EffectClass#PURE} tool
 * that throws it has failed.
 */
public final class OutcomeUnknownException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Nobody knows.
   *
   * @param cause what happened, for the program's own logs
   */
  public OutcomeUnknownException(Throwable cause) {
    super("The outcome of the call is not known.", cause);
  }
}
