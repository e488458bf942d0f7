package dev.warpwright.adapters.openai;

/** One of the two protocols in which a vendor can be spoken to. */
public enum Api {
  /** Chat Completions: what most servers speak. */
  CHAT,
  /** Responses: keeps what a model reasons, and has tools that the vendor runs itself. */
  RESPONSES
}
