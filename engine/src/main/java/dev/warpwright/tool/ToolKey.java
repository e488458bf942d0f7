package dev.warpwright.tool;

import dev.warpwright.model.Digest;
import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import java.util.List;

/** Derives idempotency keys. */
final class ToolKey {
  private ToolKey() {}

  /**
   * {@code <operation>:tool_<sha-256>} over everything that makes the call this call, so that two
   * calls with equal inputs have different keys.
   */
  static String of(String operationId, int step, int ordinal, ToolCall call) {
    Json identity =
        Json.of(
            List.of(operationId, step, ordinal, call.id(), call.name(), call.input().canonical()));
    return operationId + ":tool_" + Digest.hex(identity.text());
  }
}
