package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Image;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** OpenAI's Chat Completions. Source of the format: OpenAI's API reference. */
final class ChatCompletions extends OpenAiProtocol {
  /** Constant, so that a scripted answer has the same bytes on every run. */
  private static final long CREATED = 1_735_689_600;

  @Override
  public boolean serves(String path) {
    return path.endsWith("/chat/completions");
  }

  @Override
  ModelRequest read(JsonNode body) throws RefusedException {
    return ChatRequestReader.read(body);
  }

  @Override
  public String write(Said said) {
    ModelResponse response = said.response();
    Message message = response.message();
    boolean refused = response.finishReason().kind() == FinishReason.Kind.REFUSAL;
    ObjectNode root = root(said, id(message), "chat.completion");
    ObjectNode choice = root.putArray("choices").addObject();
    choice.put("index", 0);
    ObjectNode written = choice.putObject("message");
    written.put("role", "assistant");
    boolean words = !refused && message.parts().stream().anyMatch(Part.Text.class::isInstance);
    written.put("content", words ? message.text() : null);
    written.put("refusal", refused ? message.text() : null);
    if (!message.toolCalls().isEmpty()) {
      var calls = written.putArray("tool_calls");
      for (ToolCall call : message.toolCalls()) {
        ObjectNode asked = calls.addObject();
        asked.put("id", call.id());
        asked.put("type", "function");
        asked
            .putObject("function")
            .put("name", call.name())
            .put("arguments", call.malformed().orElse(call.input().text()));
      }
    }
    choice.putNull("logprobs");
    choice.put("finish_reason", finish(response));
    if (response.usage().input().isPresent()) {
      write(response.usage(), root.putObject("usage"));
    }
    return StrictJson.write(root);
  }

  @Override
  public void stream(Said said, EventSink sink) throws IOException, InterruptedException {
    Message message = said.response().message();
    String id = id(message);
    boolean refused = said.response().finishReason().kind() == FinishReason.Kind.REFUSAL;
    ObjectNode opening = StrictJson.mapper().createObjectNode().put("role", "assistant");
    opening.put("content", message.toolCalls().isEmpty() ? "" : null).putNull("refusal");
    sink.event(Mark.OTHER, null, chunk(said, id, opening, null));
    int calls = 0;
    for (Part part : message.parts()) {
      switch (part) {
        case Part.Text _ -> {
          for (String piece : said.answer().pieces(part)) {
            ObjectNode delta = StrictJson.mapper().createObjectNode();
            delta.put(refused ? "refusal" : "content", piece);
            sink.event(Mark.CHUNK, null, chunk(said, id, delta, null));
          }
        }
        case ToolCall call -> {
          ObjectNode opened = delta(calls).put("id", call.id()).put("type", "function");
          opened.putObject("function").put("name", call.name()).put("arguments", "");
          sink.event(Mark.OTHER, null, chunk(said, id, listed(opened), null));
          for (String piece : said.answer().pieces(part)) {
            ObjectNode more = delta(calls);
            more.putObject("function").put("arguments", piece);
            sink.event(Mark.CHUNK, null, chunk(said, id, listed(more), null));
          }
          calls++;
        }
        case ProviderState _ -> {
          // This protocol has no place for it.
        }
        case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
      }
    }
    ObjectNode nothing = StrictJson.mapper().createObjectNode();
    sink.event(Mark.FINISH, null, chunk(said, id, nothing, finish(said.response())));
    if (said.form().usage() && said.response().usage().input().isPresent()) {
      ObjectNode counters = root(said, id, "chat.completion.chunk");
      counters.putArray("choices");
      write(said.response().usage(), counters.putObject("usage"));
      sink.event(Mark.OTHER, null, StrictJson.write(counters));
    }
    sink.event(Mark.TERMINATOR, null, "[DONE]");
  }

  @Override
  public void streamError(Fault.ErrorEvent error, long told, Said said, EventSink sink)
      throws IOException, InterruptedException {
    sink.event(Mark.OTHER, null, error(error.code(), error.message()));
  }

  private static ObjectNode delta(int call) {
    return StrictJson.mapper().createObjectNode().put("index", call);
  }

  private static ObjectNode listed(ObjectNode call) {
    ObjectNode delta = StrictJson.mapper().createObjectNode();
    delta.putArray("tool_calls").add(call);
    return delta;
  }

  private static String chunk(Said said, String id, ObjectNode delta, @Nullable String finish) {
    ObjectNode root = root(said, id, "chat.completion.chunk");
    ObjectNode choice = root.putArray("choices").addObject();
    choice.put("index", 0).set("delta", delta);
    choice.putNull("logprobs").put("finish_reason", finish);
    if (said.form().usage()) {
      root.putNull("usage");
    }
    return StrictJson.write(root);
  }

  private static ObjectNode root(Said said, String id, String object) {
    ObjectNode root = StrictJson.mapper().createObjectNode();
    root.put("id", id).put("object", object).put("created", CREATED);
    return root.put("model", said.modelId());
  }

  private static String id(Message message) {
    return "chatcmpl-" + Fingerprint.of(List.of(message));
  }

  private static String finish(ModelResponse response) {
    FinishReason reason = response.finishReason();
    return reason.kind() == FinishReason.Kind.REFUSAL ? "stop" : reason.raw();
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
