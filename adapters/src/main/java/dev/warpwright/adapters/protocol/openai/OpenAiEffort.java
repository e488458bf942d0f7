package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.model.Reasoning.Effort;

/** The protocols' words for efforts of reasoning. Pure. */
final class OpenAiEffort {
  private OpenAiEffort() {}

  static String word(Effort effort) {
    return switch (effort) {
      case NONE -> "none";
      case MINIMAL -> "minimal";
      case LOW -> "low";
      case MEDIUM -> "medium";
      case HIGH -> "high";
      case MAX -> "xhigh";
    };
  }
}
