package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.wire.Counters;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.Usage;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Reads the usage of both protocols, which differ in two words. Cached input and reasoning are
 * parts of their counters, unless the total says otherwise.
 */
final class TokenUsage {
  private static final System.Logger LOG =
      System.getLogger("dev.warpwright.adapters.openai.TokenUsage");

  private TokenUsage() {}

  /** Reads the counters of Chat Completions; the object may be missing or null. */
  static Usage ofChat(JsonNode usage) {
    return read(usage, "prompt", "completion");
  }

  /**
   * Reads the counters.
   *
   * @param usage the object, also missing or null
   * @param in how the names of the counters of input begin
   * @param out how those of output begin
   */
  static Usage read(JsonNode usage, String in, String out) {
    TokenCount input = Counters.read(usage.path(in + "_tokens"));
    TokenCount output = Counters.read(usage.path(out + "_tokens"));
    TokenCount total = Counters.read(usage.path("total_tokens"));
    TokenCount reasoning =
        Counters.read(usage.path(out + "_tokens_details").path("reasoning_tokens"));
    JsonNode inputDetails = usage.path(in + "_tokens_details");
    Counters.Reasoning place = Counters.judge(input, output, reasoning, total);
    if (place == Counters.Reasoning.MISMATCH) {
      LOG.log(
          System.Logger.Level.DEBUG,
          "The usage total {0} fits neither input {1} + output {2} nor these + reasoning {3}.",
          total.tokens(),
          input.tokens(),
          output.tokens(),
          reasoning.tokens());
    }
    return new Usage(
        input,
        Counters.read(inputDetails.path("cached_tokens")),
        Counters.read(inputDetails.path("cache_write_tokens")),
        place == Counters.Reasoning.OUTSIDE ? Counters.sum(output, reasoning) : output,
        reasoning,
        total,
        Optional.empty());
  }
}
