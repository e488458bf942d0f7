package dev.warpwright.run;

/**
 * Who drives a run and is told what concerns that; see {@link RunStore#watch}. Called on threads of
 * the store or of whoever wrote: must be short, must not block and must not throw.
 */
public interface RunListener {
  /** Somebody asked to cancel the run, and that is in its log. */
  void cancelRequested();

  /**
   * The owner has lost the run, or cannot know whether it still has it: nothing more may be begun,
   * and what is under way is of no use. Its appends are refused.
   */
  void lost();
}
