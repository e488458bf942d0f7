package dev.warpwright.flow;

/** What a step does that has no value; see {@link StepFunction}. */
@FunctionalInterface
public interface StepAction {
  /**
   * Does it; see {@link StepFunction#run}.
   *
   * @param step which run of which step this is
   * @throws Exception if it failed
   */
  void run(StepInfo step) throws Exception;
}
