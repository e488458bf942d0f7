package dev.warpwright.adapters.protocol.anthropic;

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
 * Reads a whole Messages answer, leniently: blocks that are not known are passed over, what is
 * absent stays absent. An answer without a list of blocks breaks the protocol.
 */
final class MessagesResponse {
  private MessagesResponse() {}

  static ModelResponse read(Failures failures, String modelId, ModelCall call, Answer answer) {
    JsonNode body = answer.json();
    JsonNode content = body.path("content");
    if (!content.isArray()) {
      throw failures.withoutContent(answer, "has no content.");
    }
    CallReader calls = new CallReader(failures, call, answer, "input");
    List<Part> parts = new ArrayList<>();
    for (JsonNode block : content) {
      switch (block.path("type").asString("")) {
        case "text" -> {
          String text = block.path("text").asString("");
          if (!text.isEmpty()) {
            parts.add(new Part.Text(text));
          }
        }
        case "tool_use" ->
            parts.add(calls.next(block.path("id"), block.path("name"), block.path("input")));
        case "thinking", "redacted_thinking" -> parts.add(ThinkingBlocks.keep(modelId, block));
        default -> {} // a kind that was not asked for
      }
    }
    return new ModelResponse(
        new Message(Role.ASSISTANT, parts),
        FinishReasons.read(CallReader.text(body.path("stop_reason"))),
        usage(body.path("usage")),
        failures.requestId(answer.headers()));
  }

  /** Reads from a cache and writes to it stand beside the input counter and are added once. */
  static Usage usage(JsonNode usage) {
    TokenCount cached = Counters.read(usage.path("cache_read_input_tokens"));
    TokenCount written = Counters.read(usage.path("cache_creation_input_tokens"));
    TokenCount input = Counters.read(usage.path("input_tokens"));
    if (input.isPresent() && cached.tokens() + written.tokens() > 0) {
      input = Counters.sum(Counters.sum(input, cached), written);
    }
    TokenCount output = Counters.read(usage.path("output_tokens"));
    return new Usage(
        input,
        cached,
        written,
        output,
        Counters.read(usage.path("output_tokens_details").path("thinking_tokens")),
        input.isPresent() && output.isPresent() ? Counters.sum(input, output) : TokenCount.ABSENT,
        Optional.ofNullable(CallReader.text(usage.path("speed"))));
  }
}
