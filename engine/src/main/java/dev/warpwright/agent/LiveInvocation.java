package dev.warpwright.agent;

import dev.warpwright.Operation;

/**
 * An invocation under way.
 *
 * @param agent the agent of its run
 * @param operation in which it asks models and runs tools
 * @param cancel all that cancels it
 * @param show who sees what it does
 * @param hooks the program's hooks
 * @param environment where the tools act
 */
record LiveInvocation(
    Agent agent,
    Operation operation,
    CancelWatch cancel,
    AgentShow show,
    Hooks hooks,
    EnvironmentHold environment) {}
