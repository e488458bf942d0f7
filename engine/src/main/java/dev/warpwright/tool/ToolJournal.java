package dev.warpwright.tool;

import java.util.List;

/**
 * Writes down what a {@link ToolRunner} does. Called by the thread that runs the runner, never by a
 * tool's thread.
 */
public interface ToolJournal {
  /** Writes nothing: for operations without a run. */
  ToolJournal NONE =
      new ToolJournal() {
        @Override
        public void starting(List<ToolRun> runs) {}

        @Override
        public void ended(ToolRun run, ToolEnd.Known end) {}
      };

  /**
   * Called before the effects of these runs may begin; what has to be durable first is so on
   * return. If it throws, none of them begins.
   *
   * @param runs the runs that begin now
   */
  void starting(List<ToolRun> runs);

  /**
   * Called when the outcome of a run is known.
   *
   * @param run the run
   * @param end its outcome
   */
  void ended(ToolRun run, ToolEnd.Known end);
}
