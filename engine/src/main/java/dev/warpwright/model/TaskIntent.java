package dev.warpwright.model;

/** What a request is for, as far as the order of its targets depends on it. */
public enum TaskIntent {
  /** A conversation; the default of text and object operations. */
  CHAT,
  /** Thinking a hard question through. */
  REASONING,
  /** Many tool calls; the default of agent operations. */
  TOOL_HEAVY
}
