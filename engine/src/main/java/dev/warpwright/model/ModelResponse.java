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

  /**
   * Whether the answer is whole. That is a result, not a failure: who asks for a text decides what
   * to do with a part of one.
   *
   * @return the completeness, by finish reason first and then by content
   */
  public Completeness completeness() {
    return switch (finishReason.kind()) {
      case REFUSAL -> Completeness.REFUSED;
      case CONTENT_FILTER -> Completeness.FILTERED;
      case LENGTH, PAUSED, OTHER, ERROR -> Completeness.TRUNCATED;
      case STOP, TOOL_CALLS -> saysNothing() ? Completeness.EMPTY : Completeness.COMPLETE;
    };
  }

  private boolean saysNothing() {
    for (Part part : message.parts()) {
      if (!(part instanceof Part.Text(String text)) || !text.isEmpty()) {
        return false;
      }
    }
    return true;
  }
}
