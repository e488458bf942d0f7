package dev.warpwright.run;

/**
 * That a run begins to need a person: telemetry, which may change, and not a part of the log.
 *
 * @param run the run
 * @param agentId its agent or flow
 * @param status {@link RunStatus#WAITING_APPROVAL} if somebody has to approve something, {@link
 *     RunStatus#NEEDS_RECONCILIATION} if somebody has to say what became of some
 * @param calls how many calls of tools or of the flow are new among those that wait for that
 */
public record DecisionNeeded(RunKey run, String agentId, RunStatus status, int calls) {}
