package dev.warpwright.agent;

import dev.warpwright.Operation;
import java.util.Optional;

/**
 * An invocation under way.
 *
 * @param agent the agent of its run
 * @param operation in which it asks models and runs tools
 * @param limits to which it holds the run
 * @param compaction replaces older messages, if that is wanted
 * @param cancel all that cancels it
 * @param show who sees what it does
 * @param context what the program gave to its tools and guardrails
 */
record LiveInvocation(
    Agent agent,
    Operation operation,
    RunLimits limits,
    Optional<ContextCompaction> compaction,
    CancelWatch cancel,
    AgentShow show,
    Optional<Object> context) {
  static LiveInvocation of(
      Agent agent,
      Operation operation,
      RunLimits limits,
      Invocation invocation,
      CancelWatch cancel,
      AgentShow show) {
    Optional<ContextCompaction> compaction =
        agent
            .compaction()
            .filter(options -> invocation.compacts())
            .map(options -> new ContextCompaction(options, operation, invocation.budgetScope()));
    return new LiveInvocation(
        agent, operation, limits, compaction, cancel, show, invocation.context());
  }
}
