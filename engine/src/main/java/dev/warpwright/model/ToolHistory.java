package dev.warpwright.model;

/** In which form a model takes the tool calls and results of an earlier conversation. */
public enum ToolHistory {
  /** It does not take them. */
  NONE,
  /** By its own protocol, which marks a failed call as one. */
  NATIVE,
  /** As text, in which an envelope tells a failure from an output that looks like one. */
  JSON
}
