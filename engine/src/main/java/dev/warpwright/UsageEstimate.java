package dev.warpwright;

import dev.warpwright.model.Image;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
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
            usage.input().isPresent() ? "" : sent(sent),
            usage.output().isPresent() ? "" : said(response.message())),
        response.requestId());
  }

  /** What the input is estimated from: tools as they are sent, with ids and all. */
  private static String sent(List<Message> messages) {
    StringBuilder text = new StringBuilder();
    for (Message message : messages) {
      for (Part part : message.parts()) {
        switch (part) {
          case Part.Text(String words) -> text.append(words);
          case Image image -> {} // what it costs depends on its size, which nobody measured
          case ToolCall call -> SerializedParts.append(call, text);
          case ToolResult result -> SerializedParts.append(result, text);
          case ProviderState state -> {} // not text: often encrypted, and of any length
        }
      }
    }
    return text.toString();
  }

  /** What the output is estimated from: what a model itself has written. */
  private static String said(Message answer) {
    StringBuilder text = new StringBuilder();
    for (Part part : answer.parts()) {
      switch (part) {
        case Part.Text(String words) -> text.append(words);
        case ToolCall call -> text.append(call.name()).append(call.input().text());
        case ProviderState state -> {} // not text: often encrypted, and of any length
        case ToolResult _, Image _ -> {} // no part of an answer
      }
    }
    return text.toString();
  }
}
