package dev.warpwright.model;

/**
 * What a model can do. A capability that is not declared counts as missing.
 *
 * @param tools whether it can call tools
 * @param toolChoice whether a request may force or forbid tool calls
 * @param parallelToolCalls whether one answer may ask for several tools
 */
public record ModelCapabilities(boolean tools, boolean toolChoice, boolean parallelToolCalls) {
  /** Text in, text out, nothing else. */
  public static final ModelCapabilities TEXT = new ModelCapabilities(false, false, false);

  /** Text and tools with tool choice and parallel calls. */
  public static final ModelCapabilities TEXT_AND_TOOLS = new ModelCapabilities(true, true, true);
}
