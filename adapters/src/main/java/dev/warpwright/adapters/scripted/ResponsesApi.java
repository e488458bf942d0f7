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
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** OpenAI's Responses. Source of the format: OpenAI's API reference. */
final class ResponsesApi extends OpenAiProtocol {
  /** Constant, so that a scripted answer has the same bytes on every run. */
  private static final long CREATED = 1_735_689_600;

  @Override
  public boolean serves(String path) {
    return path.endsWith("/responses");
  }

  @Override
  ModelRequest read(JsonNode body) throws RefusedException {
    return ResponsesRequestReader.read(body);
  }

  @Override
  public String write(Said said) {
    return StrictJson.write(ended(said));
  }

  /** The whole response at its end. */
  private static ObjectNode ended(Said said) {
    ModelResponse response = said.response();
    @Nullable String cut = cutBy(response.finishReason());
    ObjectNode root = root(said, cut == null ? "completed" : "incomplete");
    root.putNull("error");
    if (cut == null) {
      root.putNull("incomplete_details");
    } else {
      root.putObject("incomplete_details").put("reason", cut);
    }
    root.put("model", said.modelId());
    root.set("output", output(said));
    root.put("store", false);
    if (response.usage().input().isPresent()) {
      write(response.usage(), root.putObject("usage"));
    }
    return root;
  }

  private static ObjectNode root(Said said, String status) {
    ObjectNode root = StrictJson.mapper().createObjectNode();
    root.put("id", "resp_" + Fingerprint.of(List.of(said.response().message())));
    root.put("object", "response").put("created_at", CREATED);
    return root.put("status", status);
  }

  /** The response while nothing of its output has come. */
  private static ObjectNode begun(Said said) {
    ObjectNode root = root(said, "in_progress");
    root.putNull("error").putNull("incomplete_details").put("model", said.modelId());
    root.putArray("output");
    return root.put("store", false).putNull("usage");
  }

  @Override
  public void stream(Said said, EventSink sink) throws IOException, InterruptedException {
    ResponsesStream stream = new ResponsesStream(said, sink);
    stream.tell("response.created", begun(said));
    stream.tell("response.in_progress", begun(said));
    ObjectNode whole = ended(said);
    for (int i = 0; i < whole.path("output").size(); i++) {
      stream.tellItem(i, (ObjectNode) whole.path("output").get(i));
    }
    stream.end("response." + whole.path("status").stringValue(), whole);
  }

  @Override
  public void streamError(Fault.ErrorEvent error, long told, Said said, EventSink sink)
      throws IOException, InterruptedException {
    ObjectNode event = StrictJson.mapper().createObjectNode();
    if (error.failed()) {
      event.put("type", "response.failed").put("sequence_number", told);
      ObjectNode failed = begun(said).put("status", "failed");
      failed.putObject("error").put("code", error.code()).put("message", error.message());
      event.set("response", failed);
    } else {
      event.put("type", "error").put("sequence_number", told).put("code", error.code());
      event.put("message", error.message()).putNull("param");
    }
    sink.event(Mark.OTHER, event.path("type").stringValue(), StrictJson.write(event));
  }

  /** What made an answer incomplete; null if it is complete. */
  private static @Nullable String cutBy(FinishReason reason) {
    return switch (reason.kind()) {
      case STOP, TOOL_CALLS, REFUSAL -> null;
      case LENGTH -> "max_output_tokens";
      case CONTENT_FILTER -> "content_filter";
      case PAUSED, ERROR, OTHER -> reason.raw();
    };
  }

  /** Written from the last part to the first: a thought needs to know what follows it. */
  private static ArrayNode output(Said said) {
    Message message = said.response().message();
    String id = Fingerprint.of(List.of(message));
    ArrayNode output = StrictJson.mapper().createArrayNode();
    boolean refused = said.response().finishReason().kind() == FinishReason.Kind.REFUSAL;
    for (int i = message.parts().size() - 1; i >= 0; i--) {
      String place = id + "_" + i;
      switch (message.parts().get(i)) {
        case Part.Text(String text) -> output.insert(0, words(text, refused, place));
        case ToolCall call -> output.insert(0, asked(call, place));
        case ProviderState thinking ->
            output.insert(0, SignedReasoning.item(thinking, output.path(0), said.form().summary()));
        case ToolResult _, Image _ ->
            throw new AssertionError("No part of an answer: " + message.parts().get(i));
      }
    }
    return output;
  }

  private static ObjectNode words(String text, boolean refused, String place) {
    ObjectNode item = StrictJson.mapper().createObjectNode();
    item.put("id", "msg_" + place).put("type", "message").put("status", "completed");
    ObjectNode content = item.put("role", "assistant").putArray("content").addObject();
    if (refused) {
      content.put("type", "refusal").put("refusal", text);
    } else {
      content.put("type", "output_text").put("text", text).putArray("annotations");
    }
    return item;
  }

  private static ObjectNode asked(ToolCall call, String place) {
    ObjectNode item = StrictJson.mapper().createObjectNode();
    item.put("id", "fc_" + place).put("type", "function_call").put("status", "completed");
    item.put("call_id", call.id()).put("name", call.name());
    return item.put("arguments", call.malformed().orElse(call.input().text()));
  }

  private static void write(Usage usage, ObjectNode written) {
    written.put("input_tokens", usage.input().tokens());
    if (usage.cachedInput().isPresent() || usage.cacheWrite().isPresent()) {
      ObjectNode details = written.putObject("input_tokens_details");
      put(details, "cached_tokens", usage.cachedInput());
      put(details, "cache_write_tokens", usage.cacheWrite());
    }
    written.put("output_tokens", usage.output().tokens());
    if (usage.reasoning().isPresent()) {
      put(written.putObject("output_tokens_details"), "reasoning_tokens", usage.reasoning());
    }
    written.put("total_tokens", usage.input().tokens() + usage.output().tokens());
  }

  private static void put(ObjectNode details, String key, TokenCount count) {
    if (count.isPresent()) {
      details.put(key, count.tokens());
    }
  }
}
