package dev.warpwright.adapters.protocol.anthropic;

import dev.warpwright.adapters.http.ContextForm;
import dev.warpwright.adapters.http.ErrorTable;
import java.util.List;

/** What Anthropic calls its failures. */
public final class MessagesErrors {
  /**
   * An input that is too long comes as a plain invalid_request_error. The sentence about input and
   * {@code max_tokens} together is deliberately not here: a smaller output limit cures it.
   */
  private static final List<ContextForm> CONTEXT_FORMS =
      List.of(
          ContextForm.of("prompt is too long: (?<input>#) tokens > (?<window>#) maximum"),
          ContextForm.of("input is too long for (?:the )?requested model"));

  /** The table. */
  public static final ErrorTable TABLE =
      new ErrorTable(
          "Anthropic",
          "request-id",
          ErrorTable.COMMON_NAMES,
          ErrorTable.COMMON_CONTEXT_NAMES,
          CONTEXT_FORMS);

  private MessagesErrors() {}
}
