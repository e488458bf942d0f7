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
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Anthropic's Messages. Source of the format: Anthropic's API reference, version 2023-06-01. */
final class MessagesApi implements Protocol {
  @Override
  public boolean serves(String path) {
    return path.endsWith("/messages");
  }

  @Override
  public String requestIdHeader() {
    return "request-id";
  }

  @Override
  public void checkHeaders(ServerRequest request, @Nullable String key) throws RefusedException {
    if (key != null && !request.header("x-api-key").equals(Optional.of(key))) {
      throw new RefusedException(401, "invalid x-api-key");
    }
    if (request.header("anthropic-version").isEmpty()) {
      throw new RefusedException(400, "The header is required.", "anthropic-version");
    }
  }

  @Override
  public ModelRequest read(ServerRequest request) throws RefusedException {
    try {
      return MessagesRequestReader.read(StrictJson.readDocument(request.body()));
    } catch (JacksonException e) {
      throw new RefusedException(400, "The body of the request is no JSON that can be read.");
    }
  }

  @Override
  public String error(int status, String message, @Nullable String param) {
    return error(type(status), param == null ? message : param + ": " + message);
  }

  @Override
  public String scriptError(String message, String code) {
    return error(code, message); // this protocol has no codes beside the types
  }

  @Override
  public String error(String type, String message) {
    ObjectNode root = StrictJson.mapper().createObjectNode().put("type", "error");
    root.putObject("error").put("type", type).put("message", message);
    return StrictJson.write(root);
  }

  private static String type(int status) {
    return switch (status) {
      case 401 -> "authentication_error";
      case 402 -> "billing_error";
      case 403 -> "permission_error";
      case 404 -> "not_found_error";
      case 413 -> "request_too_large";
      case 429 -> "rate_limit_error";
      case 504 -> "timeout_error";
      case 529 -> "overloaded_error";
      default -> status >= 500 ? "api_error" : "invalid_request_error";
    };
  }

  @Override
  public String write(Said said) {
    ModelResponse response = said.response();
    Message message = response.message();
    ObjectNode root = root(said);
    ArrayNode content = root.putArray("content");
    message.parts().forEach(part -> write(part, content));
    root.put("stop_reason", stopReason(response.finishReason()));
    root.putNull("stop_sequence");
    if (response.usage().input().isPresent()) {
      write(response.usage(), root.putObject("usage"));
    }
    return StrictJson.write(root);
  }

  private static ObjectNode root(Said said) {
    ObjectNode root = StrictJson.mapper().createObjectNode();
    root.put("id", "msg_" + Fingerprint.of(List.of(said.response().message())));
    root.put("type", "message").put("role", "assistant");
    return root.put("model", said.modelId());
  }

  @Override
  public void stream(Said said, EventSink sink) throws IOException, InterruptedException {
    ModelResponse response = said.response();
    ObjectNode message = root(said);
    message.putArray("content");
    message.putNull("stop_reason").putNull("stop_sequence");
    Usage usage = response.usage();
    if (usage.input().isPresent()) {
      write(usage, message.putObject("usage"));
      message.withObject("usage").put("output_tokens", Math.min(1, usage.output().tokens()));
      message.withObject("usage").remove("output_tokens_details");
    }
    ObjectNode start = event("message_start");
    start.set("message", message);
    tell(Mark.OTHER, start, sink);
    tell(Mark.OTHER, event("ping"), sink);
    int index = 0;
    for (Part part : response.message().parts()) {
      streamBlock(part, said, index, sink);
      index++;
    }
    ObjectNode end = event("message_delta");
    end.putObject("delta")
        .put("stop_reason", stopReason(response.finishReason()))
        .putNull("stop_sequence");
    if (usage.input().isPresent()) {
      writeOutput(usage, end.putObject("usage"));
    }
    tell(Mark.FINISH, end, sink);
    tell(Mark.TERMINATOR, event("message_stop"), sink);
  }

  private static void streamBlock(Part part, Said said, int index, EventSink sink)
      throws IOException, InterruptedException {
    ObjectNode start = event("content_block_start").put("index", index);
    ObjectNode block = start.putObject("content_block");
    List<String> pieces = said.answer().pieces(part);
    switch (part) {
      case Part.Text _ -> {
        block.put("type", "text").put("text", "");
        tell(Mark.OTHER, start, sink);
        for (String piece : pieces) {
          tell(Mark.CHUNK, delta(index, "text_delta", "text", piece), sink);
        }
      }
      case ToolCall call -> {
        block.put("type", "tool_use").put("id", call.id()).put("name", call.name());
        block.putObject("input");
        tell(Mark.OTHER, start, sink);
        tell(Mark.OTHER, delta(index, "input_json_delta", "partial_json", ""), sink);
        for (String piece : pieces) {
          tell(Mark.CHUNK, delta(index, "input_json_delta", "partial_json", piece), sink);
        }
      }
      case ProviderState state -> {
        block.put("type", "thinking").put("thinking", "").put("signature", "");
        tell(Mark.OTHER, start, sink);
        for (String piece : pieces) {
          tell(Mark.CHUNK, delta(index, "thinking_delta", "thinking", piece), sink);
        }
        String signature = StrictJson.read(state.data().text()).path("signature").stringValue();
        tell(Mark.OTHER, delta(index, "signature_delta", "signature", signature), sink);
      }
      case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
    }
    tell(Mark.OTHER, event("content_block_stop").put("index", index), sink);
  }

  private static ObjectNode delta(int index, String type, String key, String piece) {
    ObjectNode event = event("content_block_delta").put("index", index);
    event.putObject("delta").put("type", type).put(key, piece);
    return event;
  }

  private static ObjectNode event(String type) {
    return StrictJson.mapper().createObjectNode().put("type", type);
  }

  private static void tell(Mark mark, ObjectNode event, EventSink sink)
      throws IOException, InterruptedException {
    sink.event(mark, event.path("type").stringValue(), StrictJson.write(event));
  }

  @Override
  public void streamError(Fault.ErrorEvent error, long told, Said said, EventSink sink)
      throws IOException, InterruptedException {
    sink.event(Mark.OTHER, "error", error(error.code(), error.message()));
  }

  @Override
  public String heartbeat() {
    return "event: ping\ndata: {\"type\":\"ping\"}\n\n";
  }

  private static void write(Part part, ArrayNode content) {
    switch (part) {
      case Part.Text(String text) -> content.addObject().put("type", "text").put("text", text);
      case ToolCall call -> {
        ObjectNode block = content.addObject().put("type", "tool_use").put("id", call.id());
        block.put("name", call.name());
        if (call.malformed().isPresent()) {
          block.put("input", call.malformed().get());
        } else {
          block.set("input", StrictJson.read(call.input().text()));
        }
      }
      case ProviderState state -> content.add(StrictJson.read(state.data().text()));
      case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
    }
  }

  private static String stopReason(FinishReason reason) {
    return switch (reason.kind()) {
      case STOP -> "end_turn";
      case TOOL_CALLS -> "tool_use";
      case LENGTH -> "max_tokens";
      case CONTENT_FILTER, REFUSAL -> "refusal";
      case PAUSED -> "pause_turn";
      case ERROR, OTHER -> reason.raw();
    };
  }

  /** Of the input, only what was neither read from a cache nor written to one stands in it. */
  private static void write(Usage usage, ObjectNode written) {
    long cached = usage.cachedInput().tokens() + usage.cacheWrite().tokens();
    written.put("input_tokens", Math.max(0, usage.input().tokens() - cached));
    put(written, "cache_creation_input_tokens", usage.cacheWrite());
    put(written, "cache_read_input_tokens", usage.cachedInput());
    writeOutput(usage, written);
  }

  private static void writeOutput(Usage usage, ObjectNode written) {
    written.put("output_tokens", usage.output().tokens());
    if (usage.reasoning().isPresent()) {
      put(written.putObject("output_tokens_details"), "thinking_tokens", usage.reasoning());
    }
  }

  private static void put(ObjectNode counters, String key, TokenCount count) {
    if (count.isPresent()) {
      counters.put(key, count.tokens());
    }
  }
}
