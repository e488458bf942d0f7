package dev.warpwright;

import dev.warpwright.model.Image;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import java.util.List;

/** Fills in what a provider did not report of its usage. */
final class UsageEstimate {
  private UsageEstimate() {}

  static ModelResponse complete(List<Message> sent, ModelResponse response) {
    Usage usage = response.usage();
    if (usage.input().isPresent() && usage.output().isPresent() && usage.total().isPresent()) {
      return response;
    }
    return new ModelResponse(
        response.message(),
        response.finishReason(),
        usage.completed(
            needed(usage.input(), sent), needed(usage.output(), List.of(response.message()))),
        response.requestId());
  }

  /** The text to estimate from; not made where the count was reported. */
  private static String needed(TokenCount count, List<Message> messages) {
    if (count.isPresent()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    for (Message message : messages) {
      for (Part part : message.parts()) {
        switch (part) {
          case Part.Text(String words) -> text.append(words);
          case Image image -> {} // what it costs depends on its size, which nobody measured
          case ToolCall call -> text.append(call.name()).append(call.input().text());
          case ToolResult result -> text.append(result.output().text());
          case ProviderState state -> {} // not text: often encrypted, and of any length
        }
      }
    }
    return text.toString();
  }
}
