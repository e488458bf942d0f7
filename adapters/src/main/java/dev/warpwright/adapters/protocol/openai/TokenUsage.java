package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.wire.Counters;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.Usage;
import java.util.List;
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

  /**
   * Reads the counters of Chat Completions; the object may be missing or null.
   *
   * @param reasoningBeside whether reasoning stands beside the output where no total tells
   */
  static Usage ofChat(JsonNode usage, boolean reasoningBeside) {
    return read(usage, "prompt", "completion", reasoningBeside);
  }

  /** Reads the counters of Responses; the object may be missing or null. */
  static Usage ofResponses(JsonNode usage) {
    return read(usage, "input", "output", false);
  }

  /**
   * Reads the counters.
   *
   * @param usage the object, also missing or null
   * @param in how the names of the counters of input begin
   * @param out how those of output begin
   * @param reasoningBeside whether reasoning stands beside the output where no total tells
   */
  private static Usage read(JsonNode usage, String in, String out, boolean reasoningBeside) {
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
    boolean beside =
        switch (place) {
          case INSIDE -> false;
          case OUTSIDE -> true;
          case UNKNOWN, MISMATCH -> reasoningBeside && output.isPresent() && reasoning.isPresent();
        };
    return new Usage(
        input,
        cached(usage, inputDetails),
        Counters.read(inputDetails.path("cache_write_tokens")),
        beside ? Counters.sum(output, reasoning) : output,
        reasoning,
        total,
        Optional.empty());
  }

  /** Input that was read from a cache: a part of the input, wherever a vendor says so. */
  private static TokenCount cached(JsonNode usage, JsonNode inputDetails) {
    for (JsonNode place :
        List.of(
            inputDetails.path("cached_tokens"),
            usage.path("prompt_cache_hit_tokens"),
            usage.path("cached_tokens"))) {
      TokenCount count = Counters.read(place);
      if (count.isPresent()) {
        return count;
      }
    }
    return TokenCount.ABSENT;
  }
}
