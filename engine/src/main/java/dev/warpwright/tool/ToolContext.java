package dev.warpwright.tool;

import dev.warpwright.task.Deadline;

/**
 * What a tool is told about the call that it serves.
 *
 * @param caller on whose behalf it runs: the run or operation, and what the program noted of it
 * @param callId the model's id of the call
 * @param idempotencyKey the same for every run of the same call, over retries and restarts; forward
 *     it to the system that you act on
 * @param attempt 1 for the first run of this call, then counting
 * @param deadline when the tool is interrupted at the latest
 */
public record ToolContext(
    ToolCaller caller, String callId, String idempotencyKey, int attempt, Deadline deadline) {
  /**
   * The program's context; see {@link ToolCaller#context(Class)}.
   *
   * @param <C> its type
   * @param type the type that the agent declares, or one above it
   * @return the context of this invocation
   * @throws dev.warpwright.model.InvalidRequestException if there is none, or it is of another type
   */
  public <C> C context(Class<C> type) {
    return caller.context(type);
  }
}
