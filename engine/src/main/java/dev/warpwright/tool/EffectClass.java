package dev.warpwright.tool;

/** What running a tool twice would mean; it decides what happens after a crash or a timeout. */
public enum EffectClass {
  /** No effect outside the process: it may run any number of times. */
  PURE,
  /** Running it again with the same idempotency key has no further effect. */
  IDEMPOTENT,
  /** It must not be repeated; an unknown outcome has to be decided. */
  ONCE
}
