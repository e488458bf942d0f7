package dev.warpwright.flow;

/**
 * What a step does: runs once for each success, and never again after that.
 *
 * @param <T> its value
 */
@FunctionalInterface
public interface StepFunction<T> {
  /**
   * Does it. Called on a virtual thread of its own, which is interrupted when the step is to stop.
   *
   * @param step which run of which step this is, and the key under which it acts
   * @return the value, which is recorded
   * @throws Exception if it failed. A {@link NotExecutedException} says that nothing was done; a
   *     {@link dev.warpwright.tool.OutcomeUnknownException} that nobody knows
   */
  T run(StepInfo step) throws Exception;
}
