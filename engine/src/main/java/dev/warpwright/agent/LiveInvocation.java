package dev.warpwright.agent;

import dev.warpwright.Operation;
import java.util.Optional;

/**
 * An invocation under way.
 *
 * @param agent the agent of its run
 * @param operation in which it asks models and runs tools
 * @param limits to which it holds the run
 * @param cancel all that cancels it
 * @param show who sees what it does
 * @param context what the program gave to its tools and guardrails
 */
record LiveInvocation(
    Agent agent,
    Operation operation,
    RunLimits limits,
    CancelWatch cancel,
    AgentShow show,
    Optional<Object> context) {}
