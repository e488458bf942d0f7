package dev.warpwright.adapters.wire;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.FinishReason.Kind;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What the providers' finish reasons mean: one table for all, an open set, case ignored. */
public final class FinishReasons {
  private FinishReasons() {}

  /**
   * Reads a finish reason.
   *
   * @param raw the provider's word, null if it gave none
   * @return the reason; OTHER with the raw word if it is not known, OTHER with an empty word if
   *     there is none
   */
  public static FinishReason read(@Nullable String raw) {
    return raw == null
        ? new FinishReason(Kind.OTHER, "")
        : new FinishReason(kind(raw.toLowerCase(Locale.ROOT)), raw);
  }

  private static Kind kind(String reason) {
    return switch (reason) {
      case "stop", "end_turn", "stop_sequence", "completed" -> Kind.STOP;
      case "length",
          "max_tokens",
          "max_output_tokens",
          "model_length",
          "model_context_window_exceeded" ->
          Kind.LENGTH;
      case "tool_calls", "tool_use", "function_call" -> Kind.TOOL_CALLS;
      case "content_filter",
          "content_filtered",
          "guardrail_intervened",
          "sensitive",
          "safety",
          "recitation",
          "blocklist",
          "prohibited_content",
          "spii" ->
          Kind.CONTENT_FILTER;
      case "refusal" -> Kind.REFUSAL;
      case "pause_turn" -> Kind.PAUSED;
      case "error",
          "failed",
          "insufficient_system_resource",
          "network_error",
          "malformed_function_call",
          "malformed_response",
          "missing_thought_signature",
          "too_many_tool_calls",
          "unexpected_tool_call" ->
          Kind.ERROR;
      default -> Kind.OTHER;
    };
  }
}
