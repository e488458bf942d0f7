package dev.warpwright.flow;

/**
 * The program of a flow: ordinary Java, which may run many times. Each time it must make the same
 * calls of its context in the same order as before; what it does between them must have no effect.
 *
 * @param <I> what it is given
 * @param <O> what it returns
 */
@FunctionalInterface
public interface FlowBody<I, O> {
  /**
   * Runs the flow from its beginning. Calls whose results are recorded return at once.
   *
   * @param ctx through which it learns everything from outside
   * @param input what it is given
   * @return the result
   * @throws Exception if the flow fails
   */
  O run(FlowContext ctx, I input) throws Exception;
}
