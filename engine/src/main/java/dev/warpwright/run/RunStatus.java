package dev.warpwright.run;

/** Where a run stands. */
public enum RunStatus {
  /** A driver works on it, or worked on it when its process died. */
  RUNNING,
  /** It waits for decisions on approvals; nothing of it is in memory. */
  WAITING_APPROVAL,
  /** A tool that must not be repeated may or may not have acted; somebody has to decide. */
  NEEDS_RECONCILIATION,
  /** It has its answer. */
  COMPLETED,
  /** It failed; whether it may be continued stands in its state. */
  FAILED
}
