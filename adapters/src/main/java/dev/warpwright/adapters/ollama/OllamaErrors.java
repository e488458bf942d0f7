package dev.warpwright.adapters.ollama;

import dev.warpwright.adapters.http.ContextForm;
import dev.warpwright.adapters.http.ErrorTable;
import java.util.List;
import java.util.Map;

/**
 * What Ollama's failures look like: words without a code. Its server gives every error a status and
 * leaves out 500 where the status line can no longer tell, so that is what no status means.
 */
final class OllamaErrors {
  private static final int SERVER_ERROR = 500;

  /** Ollama's own words, and those of the runner below it, llama.cpp, which it hands on. */
  private static final List<ContextForm> CONTEXT_FORMS =
      List.of(
          ContextForm.of("(?:the )?input length exceeds the (?:maximum )?context length"),
          ContextForm.of(
              "(?:the )?request (?:\\(# tokens\\) )?exceeds the available context size"
                  + "(?: \\(# tokens\\))?"));

  static final ErrorTable TABLE =
      new ErrorTable(
          "Ollama",
          "x-request-id",
          ErrorTable.COMMON_NAMES,
          ErrorTable.COMMON_CONTEXT_NAMES,
          CONTEXT_FORMS,
          SERVER_ERROR,
          "",
          Map.of());

  private OllamaErrors() {}
}
