package dev.warpwright.model;

/** Something that a model can do and a request may need. */
public enum Capability {
  /** It can answer piece by piece. */
  STREAMING("streaming"),
  /** It can call tools. */
  TOOLS("tools"),
  /** A request may force or forbid tool calls. */
  TOOL_CHOICE("toolChoice"),
  /** One answer may ask for several tools. */
  PARALLEL_TOOL_CALLS("parallelToolCalls"),
  /** The provider itself holds an answer to a JSON Schema. */
  STRUCTURED_OUTPUT("structuredOutput"),
  /** The provider itself holds an answer to JSON. */
  JSON_MODE("jsonMode"),
  /** It can look at images. */
  VISION("vision"),
  /** It can read files. */
  FILES("files"),
  /** It can listen. */
  AUDIO_INPUT("audioInput"),
  /** It can be asked to reason before it answers. */
  REASONING("reasoning");

  private final String label;

  Capability(String label) {
    this.label = label;
  }

  /**
   * The name in messages and reports.
   *
   * @return the name, such as {@code toolChoice}
   */
  public String label() {
    return label;
  }
}
