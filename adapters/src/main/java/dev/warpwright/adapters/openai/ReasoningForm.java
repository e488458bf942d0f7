package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.protocol.openai.ReasoningStyle;

/** How a vendor of the program's own is asked in Chat Completions to reason. */
public enum ReasoningForm {
  /** Not at all: such calls go elsewhere. */
  NONE(ReasoningStyle.UNSUPPORTED),
  /** {@code reasoning_effort} with OpenAI's words; takes no budget. */
  REASONING_EFFORT(ReasoningStyle.EFFORT),
  /** {@code thinking: {type: enabled | disabled}}; takes no budget. */
  THINKING(ReasoningStyle.SWITCH),
  /** {@code enable_thinking}, and a budget as {@code thinking_budget}. */
  ENABLE_THINKING(ReasoningStyle.QWEN),
  /** {@code reasoning: {effort | max_tokens}}. */
  REASONING_OBJECT(ReasoningStyle.OBJECT);

  private final ReasoningStyle style;

  ReasoningForm(ReasoningStyle style) {
    this.style = style;
  }

  ReasoningStyle style() {
    return style;
  }
}
