package dev.warpwright.adapters;

/**
 * A rule of its own that a family of models has. An adapter keeps it: what breaks it is refused
 * before anything is sent.
 */
public enum ModelTrait {
  /** It is offered through the Responses protocol only. */
  RESPONSES_ONLY,
  /** It always reasons; that cannot be switched off. */
  REASONS_ALWAYS,
  /** It answers in streams only. */
  STREAMS_ONLY,
  /** It demands a budget of tokens for reasoning. */
  REASONING_BUDGET_REQUIRED,
  /** It takes no temperature. */
  FIXED_SAMPLING,
  /** Its limit of output tokens is called {@code max_completion_tokens}. */
  MAX_COMPLETION_TOKENS,
  /** A tool can be forbidden or left to it, but not demanded. */
  NO_REQUIRED_TOOL,
  /** How hard it reasons can be said, but no budget of tokens. */
  NO_REASONING_BUDGET,
  /** It takes a budget of tokens for reasoning, but no effort. */
  NO_REASONING_EFFORT,
  /**
   * In Chat Completions it calls tools only while it is told not to reason at all; in Responses it
   * does both.
   */
  CHAT_TOOLS_WITHOUT_REASONING
}
