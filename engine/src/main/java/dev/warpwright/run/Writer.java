package dev.warpwright.run;

/**
 * Who writes events: the owner of a run with the epoch that fences it, or somebody outside who
 * writes a control event such as a decision.
 *
 * @param name the owner's or the outside writer's name
 * @param epoch the owner's epoch, 1 or more; 0 for an outside writer, who owns nothing
 */
public record Writer(String name, long epoch) {
  /**
   * A writer of control events.
   *
   * @param name who it is, for the log
   * @return the writer
   */
  public static Writer outside(String name) {
    return new Writer(name, 0);
  }

  /**
   * Whether this is a run's owner.
   *
   * @return false for a writer of control events
   */
  public boolean isOwner() {
    return epoch > 0;
  }
}
