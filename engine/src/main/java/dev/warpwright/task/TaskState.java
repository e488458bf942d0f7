package dev.warpwright.task;

/** Where a node of the task tree is in its life. */
public enum TaskState {
  /** It runs, and nothing has asked it to stop. */
  RUNNING,
  /** It was asked to stop, by a cancel or its deadline, and has not ended yet. */
  CANCELLED,
  /** It ignored its interrupt for the whole grace, was left behind, and still runs. */
  ABANDONED,
  /** Its thread has ended, or the scope is closed. */
  ENDED
}
