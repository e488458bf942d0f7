package dev.warpwright.model;

import java.util.Objects;
import java.util.Optional;

/**
 * A model's complete answer to one call.
 *
 * @param message the answer, of role ASSISTANT: text, tool calls and private state in the
 *     provider's order
 * @param finishReason why it ended
 * @param usage what the provider reported; absent counters stay absent
 * @param requestId the provider's id of the request
 */
public record ModelResponse(
    Message message, FinishReason finishReason, Usage usage, Optional<String> requestId) {
  /** Checks that nothing is null, and the role. */
  public ModelResponse {
    Objects.requireNonNull(message, "message");
    Objects.requireNonNull(finishReason, "finishReason");
    Objects.requireNonNull(usage, "usage");
    Objects.requireNonNull(requestId, "requestId");
    if (message.role() != Role.ASSISTANT) {
      throw new IllegalArgumentException(
          "A response is a message of role ASSISTANT, not " + message.role() + ".");
    }
  }
}
