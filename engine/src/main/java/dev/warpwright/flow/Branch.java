package dev.warpwright.flow;

/**
 * A part of a flow that runs beside others.
 *
 * @param <T> its value
 */
@FunctionalInterface
public interface Branch<T> {
  /**
   * Runs the branch. As in the whole flow, what it does between the calls of its context must have
   * no effect.
   *
   * @param ctx the branch's own context; that of the flow must not be used in a branch
   * @return its value
   * @throws Exception if it fails
   */
  T run(FlowContext ctx) throws Exception;
}
