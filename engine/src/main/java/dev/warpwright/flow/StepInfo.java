package dev.warpwright.flow;

import dev.warpwright.task.Deadline;

/**
 * What a step is told about itself.
 *
 * @param runId the run of the flow
 * @param name the step's name
 * @param position which call of the flow it is; see {@link dev.warpwright.run.FlowEvent}
 * @param attempt 1 for the first run of the step, then counting over retries and restarts
 * @param idempotencyKey the same for every run of this step; forward it to the system that you act
 *     on
 * @param deadline when the step is interrupted at the latest
 */
public record StepInfo(
    String runId,
    String name,
    String position,
    int attempt,
    String idempotencyKey,
    Deadline deadline) {}
