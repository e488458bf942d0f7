package dev.warpwright.model;

/**
 * A run has no answer: what its log says about how it ended, thrown where the program asked for the
 * answer or nothing.
 *
 * <p>It is made from the log, also long after the run ended and in another process, so it carries
 * the recorded kind and message but no live cause.
 */
public final class RunFailedException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /** The run. */
  private final String runId;

  /** Whether the run may be continued by its id. */
  private final boolean resumable;

  /**
   * Makes the exception.
   *
   * @param kind the recorded kind
   * @param message the recorded message
   * @param runId the run
   * @param resumable whether the run may be continued by its id
   */
  public RunFailedException(FailureKind kind, String message, String runId, boolean resumable) {
    super(kind, message, null, OperationTrace.NONE);
    this.runId = runId;
    this.resumable = resumable;
  }

  /**
   * The run.
   *
   * @return its id
   */
  public String runId() {
    return runId;
  }

  /**
   * Whether the run may be continued by its id.
   *
   * @return true if a resume goes on from the last event
   */
  public boolean resumable() {
    return resumable;
  }
}
