package dev.warpwright.tool;

import dev.warpwright.model.ToolCall;

/**
 * One run of a tool for a call.
 *
 * @param call the call
 * @param tool the tool
 * @param step the step that asked for it
 * @param ordinal the call's place in its step, 0-based
 * @param key the idempotency key
 * @param attempt 1 for the first run of this call, then counting
 */
public record ToolRun(ToolCall call, Tool tool, int step, int ordinal, String key, int attempt) {
  /** The same call, run once more. */
  ToolRun again() {
    return new ToolRun(call, tool, step, ordinal, key, attempt + 1);
  }
}
