package dev.warpwright.model;

/**
 * How the results of tools are written for a model whose protocol has no mark of an error, see
 * {@link ToolHistory#JSON}. A model that marks errors by its protocol ignores it.
 */
public enum ToolResultFormat {
  /** The output as it is; only what must be told apart, such as a failure, in an envelope. */
  PLAIN,

  /** Each result in an envelope: what succeeded under {@code output}, what failed as an error. */
  ENVELOPE
}
