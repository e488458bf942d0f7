package dev.warpwright;

/** How a model is brought to answer with an object. */
public enum ObjectMode {
  /**
   * Decided for each destination: natively where the model declares {@code structuredOutput}, else
   * by a prompt where it declares {@code jsonMode}. A fallback may switch in either direction. A
   * schema that cannot be sent natively is always sent as a prompt.
   */
  AUTO,
  /** The provider holds the answer to the schema; never replaced by a prompt. */
  NATIVE,
  /** A system message states the schema. */
  PROMPTED
}
