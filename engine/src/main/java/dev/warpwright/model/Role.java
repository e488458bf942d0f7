package dev.warpwright.model;

/** Who speaks in a message. */
public enum Role {
  /** Instructions of the program. */
  SYSTEM,
  /** The person or program that asks. */
  USER,
  /** The model. */
  ASSISTANT,
  /** Results of tool calls. */
  TOOL
}
