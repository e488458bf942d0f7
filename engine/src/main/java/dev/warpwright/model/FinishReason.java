package dev.warpwright.model;

/**
 * Why a model ended its answer.
 *
 * @param kind what it means
 * @param raw the provider's own word, empty if it gave none
 */
public record FinishReason(Kind kind, String raw) {
  /** What a finish reason means. */
  public enum Kind {
    /** The answer is complete. */
    STOP,
    /** The answer asks for tools. */
    TOOL_CALLS,
    /** A limit of tokens cut it off. */
    LENGTH,
    /** A filter cut it off. */
    CONTENT_FILTER,
    /** The model declined. */
    REFUSAL,
    /** The provider paused and expects to be asked to go on. */
    PAUSED,
    /** The provider failed. */
    ERROR,
    /** A reason that is not known; see the raw word. */
    OTHER
  }

  /**
   * Whether tools that the answer asks for may run.
   *
   * @return true for STOP and TOOL_CALLS
   */
  public boolean allowsTools() {
    return kind == Kind.STOP || kind == Kind.TOOL_CALLS;
  }

  /**
   * Whether an answer with this end may be gone on with as it asks: its tools may run, and what its
   * provider asks to approve may be decided.
   *
   * @param answer the answer
   * @return true if it asks for nothing or was not cut off; a pause is no cut where only the
   *     provider asks
   */
  public boolean allows(Message answer) {
    return allowsTools()
        || (answer.toolCalls().isEmpty() && (answer.approvals().isEmpty() || kind == Kind.PAUSED));
  }

  /**
   * What an answer is that asks for tools although none of them may run.
   *
   * @return OUTPUT_REFUSAL if it was refused or filtered, else OUTPUT_TRUNCATION
   */
  public FailureKind withoutTools() {
    return kind == Kind.REFUSAL || kind == Kind.CONTENT_FILTER
        ? FailureKind.OUTPUT_REFUSAL
        : FailureKind.OUTPUT_TRUNCATION;
  }
}
