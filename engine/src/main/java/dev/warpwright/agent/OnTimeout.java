package dev.warpwright.agent;

/** What the timeout of a {@link RunPolicy} does to a run. */
public enum OnTimeout {
  /** The run ends: it is {@link dev.warpwright.run.RunStatus#TIMED_OUT}, for good. */
  TIMED_OUT,
  /**
   * The run is asked to cancel, and the request is carried out as any other: the log has both, and
   * the run is {@link dev.warpwright.run.RunStatus#CANCELLED}, for good.
   */
  CANCEL_REQUESTED
}
