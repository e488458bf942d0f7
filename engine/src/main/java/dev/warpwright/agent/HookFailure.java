package dev.warpwright.agent;

import dev.warpwright.run.RunKey;
import java.util.Optional;

/**
 * That a hook of the program failed: telemetry, which may change, and not a part of the log.
 *
 * @param hook which
 * @param agentId for which agent it was called
 * @param run for which run, if that is known by then
 * @param cause what it threw, or a {@link java.util.concurrent.TimeoutException} if its time ran
 *     out; its text is the hook's own and may hold anything
 */
public record HookFailure(Hook hook, String agentId, Optional<RunKey> run, Throwable cause) {
  /** What a program hooks into the runs of its agents. */
  public enum Hook {
    /** The {@link AgentObserver}. */
    OBSERVER,
    /** The {@link Memory} of an agent. */
    MEMORY,
    /** The {@link ExecutionEnvironment} of an agent. */
    ENVIRONMENT
  }

  /** Shows no text of the cause. */
  @Override
  public String toString() {
    return "HookFailure[%s, %s, %s]".formatted(hook, agentId, cause.getClass().getName());
  }
}
