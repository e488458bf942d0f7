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
 * @param mayBeUnbound whether the run may have been recorded without what the agent is bound to
 * @param hooks the program's hooks
 * @param environment where the tools act
 */
record LiveInvocation(
    Agent agent,
    Operation operation,
    RunLimits limits,
    CancelWatch cancel,
    AgentShow show,
    Optional<Object> context,
    boolean mayBeUnbound,
    Hooks hooks,
    EnvironmentHold environment) {}
