package dev.warpwright.model;

/** Whether a model may, must or must not call tools in its answer. */
public sealed interface ToolChoice {
  /** The model decides; the default. */
  ToolChoice AUTO = new Auto();

  /** The model must not call a tool. */
  ToolChoice NONE = new None();

  /** The model must call at least one tool. */
  ToolChoice REQUIRED = new Required();

  /**
   * The model must call this tool.
   *
   * @param name the tool's name
   * @return the choice
   */
  static ToolChoice tool(String name) {
    return new Named(name);
  }

  /** See {@link #AUTO}. */
  record Auto() implements ToolChoice {}

  /** See {@link #NONE}. */
  record None() implements ToolChoice {}

  /** See {@link #REQUIRED}. */
  record Required() implements ToolChoice {}

  /**
   * See {@link #tool(String)}.
   *
   * @param name the tool's name
   */
  record Named(String name) implements ToolChoice {}
}
