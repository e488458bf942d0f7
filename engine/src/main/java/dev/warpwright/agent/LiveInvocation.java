package dev.warpwright.agent;

import dev.warpwright.Operation;
import java.util.Optional;

/**
 * An invocation under way.
 *
 * @param agent the agent of its run
 * @param invocation what the caller chose for it
 * @param child whether it drives a child run for its parent
 * @param operation in which it asks models and runs tools
 * @param limits to which it holds the run
 * @param cancel all that cancels it
 * @param show who sees what it does
 */
record LiveInvocation(
    Agent agent,
    Invocation invocation,
    boolean child,
    Operation operation,
    RunLimits limits,
    CancelWatch cancel,
    AgentShow show) {
  /** What the program gave to its tools and guardrails. */
  Optional<Object> context() {
    return invocation.context();
  }
}
