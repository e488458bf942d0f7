package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** OpenAI's Chat Completions. Source of the format: OpenAI's API reference. */
final class ChatCompletions extends OpenAiProtocol {
  /** Constant, so that a scripted answer has the same bytes on every run. */
  private static final long CREATED = 1_735_689_600;

  @Override
  public String path() {
    return "/chat/completions";
  }

  @Override
  Conversation read(JsonNode body) throws RefusedException {
    return ChatRequestReader.read(body);
  }

  @Override
  public String write(String modelId, ModelResponse response) {
    Message message = response.message();
    boolean refused = response.finishReason().kind() == FinishReason.Kind.REFUSAL;
    ObjectNode root = StrictJson.mapper().createObjectNode();
    root.put("id", "chatcmpl-" + Fingerprint.of(List.of(message)));
    root.put("object", "chat.completion");
    root.put("created", CREATED);
    root.put("model", modelId);
    ObjectNode choice = root.putArray("choices").addObject();
    choice.put("index", 0);
    ObjectNode said = choice.putObject("message");
    said.put("role", "assistant");
    boolean words = !refused && message.parts().stream().anyMatch(Part.Text.class::isInstance);
    said.put("content", words ? message.text() : null);
    said.put("refusal", refused ? message.text() : null);
    if (!message.toolCalls().isEmpty()) {
      var calls = said.putArray("tool_calls");
      for (ToolCall call : message.toolCalls()) {
        ObjectNode written = calls.addObject();
        written.put("id", call.id());
        written.put("type", "function");
        written
            .putObject("function")
            .put("name", call.name())
            .put("arguments", call.malformed().orElse(call.input().text()));
      }
    }
    choice.putNull("logprobs");
    choice.put("finish_reason", refused ? "stop" : response.finishReason().raw());
    if (response.usage().input().isPresent()) {
      write(response.usage(), root.putObject("usage"));
    }
    return StrictJson.write(root);
  }

  private static void write(Usage usage, ObjectNode written) {
    written.put("prompt_tokens", usage.input().tokens());
    written.put("completion_tokens", usage.output().tokens());
    written.put("total_tokens", usage.input().tokens() + usage.output().tokens());
    if (usage.cachedInput().isPresent() || usage.cacheWrite().isPresent()) {
      ObjectNode details = written.putObject("prompt_tokens_details");
      put(details, "cached_tokens", usage.cachedInput());
      put(details, "cache_write_tokens", usage.cacheWrite());
    }
    if (usage.reasoning().isPresent()) {
      put(written.putObject("completion_tokens_details"), "reasoning_tokens", usage.reasoning());
    }
  }

  private static void put(ObjectNode details, String key, TokenCount count) {
    if (count.isPresent()) {
      details.put(key, count.tokens());
    }
  }
}
