package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.http.ContextForm;
import dev.warpwright.adapters.http.ErrorTable;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What OpenAI and the servers that speak its protocols call their failures. */
public final class OpenAiErrors {
  /** llama.cpp's type for an input longer than the context. */
  private static final String LLAMA_CPP_OVERFLOW = "exceed_context_size_error";

  /**
   * Whole messages of servers that report the overflow without a code. Messages about the output
   * limit are deliberately not here; sentences that servers use for input and output together match
   * only if the input alone is too long.
   */
  private static final List<ContextForm> CONTEXT_FORMS =
      List.of(
          // OpenAI, also inside a server_error
          ContextForm.of("Your input exceeds the context window of this model"),
          ContextForm.of(
              "This model's maximum context length is (?<window>#) tokens\\. However, your messages"
                  + " resulted in (?<input>#) tokens"),
          // vLLM
          ContextForm.of(
              "This model's maximum context length is (?<window>#) tokens\\. However, your request"
                  + " has (?<input>#) input tokens"),
          ContextForm.of(
              "This model's maximum context length is (?<window>#) tokens\\. However, you requested"
                  + " # tokens \\((?<input>#) in the messages, # in the completion\\)"),
          ContextForm.of(
              "The (?:decoder )?prompt \\((?:total )?length #\\) is (?:longer than the maximum"
                  + " model length of #|too long to fit into the model \\(context length #\\))"),
          // SGLang
          ContextForm.of(
              "Requested token count exceeds the model's maximum context length of # tokens"),
          ContextForm.of(
              "The input \\(# tokens\\) is longer than the model's context length \\(# tokens\\)"),
          // llama.cpp
          ContextForm.of(
              "(?:the )?request (?:\\(# tokens\\) )?exceeds the available context size"
                  + "(?: \\(# tokens\\))?"),
          // Others behind a compatible endpoint
          // DashScope
          ContextForm.of(
              "(?:<400> InternalError\\.Algo\\.InvalidParameter: )?Range of input length should be"
                  + " \\[1, #\\]"),
          ContextForm.of("tokens in request more than max tokens allowed"),
          ContextForm.of("prompt is too long: # tokens > # maximum"),
          ContextForm.of(
              "The input token count \\(#\\) exceeds the maximum number of tokens allowed \\(#\\)"),
          ContextForm.of(
              "This model's maximum prompt length is # but the request contains # tokens"),
          ContextForm.of(
              "Prompt contains # tokens(?: and # draft tokens)?, too large for model with # maximum"
                  + " context length"));

  /** The table. */
  public static final ErrorTable TABLE = table("OpenAI", "x-request-id", Map.of(), Set.of());

  private OpenAiErrors() {}

  /**
   * The table of a vendor: what all have in common, and what is its own.
   *
   * @param provider its name in messages
   * @param requestIdHeader the header that carries its id of a request
   * @param names its own codes and types, in lower case, and the status that each stands for
   * @param contextNames its own codes, in lower case, for an input that is too long
   * @return the table
   */
  public static ErrorTable table(
      String provider,
      String requestIdHeader,
      Map<String, Integer> names,
      Set<String> contextNames) {
    Map<String, Integer> allNames = new HashMap<>(ErrorTable.COMMON_NAMES);
    allNames.put("content_filter", 400);
    allNames.putAll(names);
    Set<String> allContextNames = new HashSet<>(ErrorTable.COMMON_CONTEXT_NAMES);
    allContextNames.add(LLAMA_CPP_OVERFLOW);
    allContextNames.addAll(contextNames);
    return new ErrorTable(provider, requestIdHeader, allNames, allContextNames, CONTEXT_FORMS);
  }
}
