package dev.warpwright.agent;

/**
 * What becomes of a tool call that names an unknown tool or brings an input that cannot be used.
 */
public enum InvalidInput {
  /** The model is told what is wrong and may try again; the other calls of the step run. */
  TELL_MODEL,
  /** The run fails. */
  FAIL
}
