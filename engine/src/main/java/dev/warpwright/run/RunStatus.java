package dev.warpwright.run;

/** Where a run stands. */
public enum RunStatus {
  /** It was handed over to whoever drives its agent, and nobody has begun yet. */
  QUEUED,
  /** A driver works on it, or worked on it when its process died. */
  RUNNING,
  /** It waits for decisions on approvals; nothing of it is in memory. */
  WAITING_APPROVAL,
  /** It waits for a time, a signal or a child run; nothing of it is in memory. */
  WAITING,
  /** A tool that must not be repeated may or may not have acted; somebody has to decide. */
  NEEDS_RECONCILIATION,
  /** Somebody asked to cancel it; its driver, or whoever takes it up, brings it to its end. */
  CANCEL_REQUESTED,
  /** It has its answer. */
  COMPLETED,
  /** It failed; whether it may be continued stands in its state. */
  FAILED,
  /** It was cancelled, for good. */
  CANCELLED,
  /** The timeout of its policy ended it, for good. */
  TIMED_OUT;

  /**
   * Whether a run of this status never goes on. One that FAILED may: its state says so.
   *
   * @return true for COMPLETED, CANCELLED and TIMED_OUT
   */
  public boolean isFinal() {
    return this == COMPLETED || this == CANCELLED || this == TIMED_OUT;
  }
}
