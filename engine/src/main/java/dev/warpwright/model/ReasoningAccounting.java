package dev.warpwright.model;

/** Whether the output tokens that a provider reports include the reasoning tokens. */
public enum ReasoningAccounting {
  /** Reasoning is a part of the output and costs nothing beyond it. */
  INCLUDED,
  /** Reasoning stands beside the output and is paid in addition to it, at the output rate. */
  ADDITIONAL
}
