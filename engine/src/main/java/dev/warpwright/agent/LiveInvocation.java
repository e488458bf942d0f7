package dev.warpwright.agent;

import dev.warpwright.Operation;

/**
 * An invocation under way.
 *
 * @param agent the agent of its run
 * @param invocation what the caller chose for it
 * @param child whether it drives a child run for its parent
 * @param operation in which it asks models and runs tools
 * @param cancel all that cancels it
 * @param show who sees what it does
 */
record LiveInvocation(
    Agent agent,
    Invocation invocation,
    boolean child,
    Operation operation,
    CancelWatch cancel,
    AgentShow show) {}
