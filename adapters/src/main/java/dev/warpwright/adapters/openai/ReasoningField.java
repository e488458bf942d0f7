package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.protocol.openai.PrivateReasoning;

/**
 * Which reasoning in an answer of Chat Completions a vendor wants back with the next request. It is
 * kept as private state, byte for byte; all other reasoning is shown at most.
 */
public enum ReasoningField {
  /** None. */
  NONE(PrivateReasoning.NONE),
  /** The text {@code reasoning_content}. */
  REASONING_CONTENT(PrivateReasoning.CONTENT),
  /**
   * The list {@code reasoning_details}, else the text {@code reasoning}; to the same model only.
   */
  REASONING_DETAILS(PrivateReasoning.DETAILS);

  private final PrivateReasoning state;

  ReasoningField(PrivateReasoning state) {
    this.state = state;
  }

  PrivateReasoning state() {
    return state;
  }
}
