package dev.warpwright.agent;

import dev.warpwright.Operation;
import dev.warpwright.drive.CancelWatch;
import java.util.Optional;

/**
 * An invocation under way.
 *
 * @param agent the agent of its run
 * @param invocation what the caller chose for it
 * @param child whether it drives a child run for its parent
 * @param operation in which it asks models and runs tools
 * @param limits to which it holds the run
 * @param compaction replaces older messages, if that is wanted
 * @param cancel all that cancels it
 * @param show who sees what it does
 * @param hooks the program's hooks
 * @param environment where the tools act
 */
record LiveInvocation(
    Agent agent,
    Invocation invocation,
    boolean child,
    Operation operation,
    RunLimits limits,
    Optional<ContextCompaction> compaction,
    CancelWatch cancel,
    AgentShow show,
    Hooks hooks,
    EnvironmentHold environment) {
  /** What the program gave to its tools and guardrails. */
  Optional<Object> context() {
    return invocation.context();
  }

  /** Whether the run may have been recorded without what the agent is bound to. */
  boolean mayBeUnbound() {
    return invocation.allowsUnboundRun();
  }
}
