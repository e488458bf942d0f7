package dev.warpwright.adapters.google;

import dev.warpwright.adapters.wire.Counters;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.Usage;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Reads the usage. Cached input is part of the prompt; what tools of the provider put into it is
 * not. Thoughts stand beside the candidates, unless the total says that they are inside: the
 * services differ.
 */
final class GeminiUsage {
  private static final System.Logger LOG =
      System.getLogger("dev.warpwright.adapters.google.GeminiUsage");

  private GeminiUsage() {}

  /** Reads the counters; the object may be missing or null. */
  static Usage read(JsonNode usage) {
    TokenCount input = Counters.read(usage.path("promptTokenCount"));
    TokenCount ofTools = Counters.read(usage.path("toolUsePromptTokenCount"));
    if (input.isPresent() && ofTools.tokens() > 0) {
      input = Counters.sum(input, ofTools);
    }
    TokenCount thoughts = Counters.read(usage.path("thoughtsTokenCount"));
    TokenCount total = Counters.read(usage.path("totalTokenCount"));
    return new Usage(
        input,
        Counters.read(usage.path("cachedContentTokenCount")),
        TokenCount.ABSENT,
        output(input, Counters.read(usage.path("candidatesTokenCount")), thoughts, total),
        thoughts,
        total,
        Optional.empty());
  }

  private static TokenCount output(
      TokenCount input, TokenCount candidates, TokenCount thoughts, TokenCount total) {
    Counters.Reasoning place = Counters.judge(input, candidates, thoughts, total);
    if (place == Counters.Reasoning.MISMATCH) {
      LOG.log(
          System.Logger.Level.DEBUG,
          "The usage total {0} fits neither input {1} + candidates {2} nor these + thoughts {3}.",
          total.tokens(),
          input.tokens(),
          candidates.tokens(),
          thoughts.tokens());
    }
    return place == Counters.Reasoning.INSIDE || thoughts.tokens() == 0
        ? candidates
        : Counters.sum(candidates, thoughts);
  }
}
