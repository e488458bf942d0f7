package dev.warpwright.adapters.bedrock;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.Counters;
import dev.warpwright.adapters.wire.FinishReasons;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Reads a whole Converse answer, leniently: blocks that are not known are passed over, what is
 * absent stays absent. An answer without a list of blocks breaks the protocol.
 */
final class ConverseResponse {
  private static final System.Logger LOG =
      System.getLogger("dev.warpwright.adapters.bedrock.ConverseResponse");

  private ConverseResponse() {}

  static ModelResponse read(Failures failures, String modelId, ModelCall call, Answer answer) {
    JsonNode body = answer.json();
    JsonNode content = body.path("output").path("message").path("content");
    if (!content.isArray()) {
      throw failures.withoutContent(answer, "has no content.");
    }
    CallReader calls = new CallReader(failures, call, answer, "input");
    List<Part> parts = new ArrayList<>();
    for (JsonNode block : content) { // each has one member, which says what it is
      JsonNode asked = block.path("toolUse");
      String text = block.path("text").asString("");
      if (asked.isObject()) {
        parts.add(calls.next(asked.path("toolUseId"), asked.path("name"), asked.path("input")));
      } else if (block.path(ReasoningBlocks.MEMBER).isObject()) {
        parts.add(ReasoningBlocks.keep(modelId, block));
      } else if (!text.isEmpty()) {
        parts.add(new Part.Text(text));
      }
    }
    return new ModelResponse(
        new Message(Role.ASSISTANT, parts),
        FinishReasons.read(CallReader.text(body.path("stopReason"))),
        usage(body.path("usage")),
        failures.requestId(answer.headers()));
  }

  /**
   * Reads from a cache and writes to it stand beside the input counter and are added once, unless
   * the total says that they are part of it.
   */
  static Usage usage(JsonNode usage) {
    TokenCount cached = Counters.read(usage.path("cacheReadInputTokens"));
    TokenCount written = Counters.read(usage.path("cacheWriteInputTokens"));
    TokenCount reported = Counters.read(usage.path("inputTokens"));
    TokenCount output = Counters.read(usage.path("outputTokens"));
    TokenCount total = Counters.read(usage.path("totalTokens"));
    TokenCount input = reported;
    if (reported.isPresent() && cached.tokens() + written.tokens() > 0) {
      TokenCount all = Counters.sum(Counters.sum(reported, cached), written);
      boolean inside = output.isPresent() && isSum(total, reported, output);
      input = inside ? reported : all;
      if (!inside && total.isPresent() && !isSum(total, all, output)) {
        LOG.log(
            System.Logger.Level.DEBUG,
            "The usage total {0} fits neither input {1} + output {2} nor these + cached tokens"
                + " {3}.",
            total.tokens(),
            reported.tokens(),
            output.tokens(),
            cached.tokens() + written.tokens());
      }
    }
    return new Usage(input, cached, written, output, TokenCount.ABSENT, total, Optional.empty());
  }

  private static boolean isSum(TokenCount total, TokenCount input, TokenCount output) {
    return total.isPresent() && total.tokens() == input.tokens() + output.tokens();
  }
}
