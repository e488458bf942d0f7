package dev.warpwright.agent;

/**
 * Is told what invocations of agents do, for metrics, traces and logs.
 *
 * <p>Best effort: nobody waits for it. The events of one invocation come one after the other, in
 * order, each on a virtual thread of its own that is interrupted when the gateway's observer
 * timeout passes; different invocations may tell at the same time. When there are {@linkplain
 * dev.warpwright.Gateway.Builder#observerQueue as many as may be}, what comes is dropped and
 * counted in the gateway's diagnostics, {@link AgentTelemetry.RunFinish} and {@link
 * AgentTelemetry.InvocationFinish} never. What it throws is counted, reported to the {@link
 * HookFailurePolicy} and, unless that says otherwise, changes nothing.
 */
@FunctionalInterface
public interface AgentObserver {
  /**
   * Something happened.
   *
   * @param telemetry what; holds no prompt, answer, tool data or secret
   */
  void onTelemetry(AgentTelemetry telemetry);
}
