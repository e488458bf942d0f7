package dev.warpwright.tool;

import java.util.List;

/**
 * Writes down what a {@link ToolRunner} does. Called by the thread that runs the runner, except for
 * {@link #endedLate}.
 */
public interface ToolJournal {
  /** Writes nothing: for operations without a run. */
  ToolJournal NONE =
      new ToolJournal() {
        @Override
        public void starting(List<ToolRun> runs) {}

        @Override
        public void ended(ToolRun run, ToolEnd.Known end) {}

        @Override
        public void endedLate(ToolRun run, ToolEnd.Known end) {}
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

  /**
   * Called when a run that may have had an effect returns after the runner gave it up, perhaps long
   * after the operation has ended. On the tool's own thread, which may block: nobody waits for it.
   *
   * @param run the run
   * @param end what it returned
   */
  void endedLate(ToolRun run, ToolEnd.Known end);
}
