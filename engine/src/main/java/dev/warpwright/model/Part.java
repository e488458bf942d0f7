package dev.warpwright.model;

/** A part of a message. */
public sealed interface Part permits Part.Text, Image, ToolCall, ToolResult, ProviderState {
  /**
   * Plain text.
   *
   * @param text the text
   */
  record Text(String text) implements Part {
    /** Shows the length only. */
    @Override
    public String toString() {
      return "Text[" + text.length() + " characters]";
    }
  }
}
