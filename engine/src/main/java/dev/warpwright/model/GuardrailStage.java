package dev.warpwright.model;

/** What a guardrail looks at. The names are part of the durable log: none is ever renamed. */
public enum GuardrailStage {
  /** The conversation, each time that a run begins to be driven. */
  INPUT,
  /** The final answer, before it is accepted. */
  OUTPUT,
  /** The input of a tool call, before it runs or is to be approved. */
  TOOL_INPUT,
  /** What a tool returned, before the model is told. */
  TOOL_OUTPUT
}
