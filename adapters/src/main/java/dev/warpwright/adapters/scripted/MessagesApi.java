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
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Anthropic's Messages. Source of the format: Anthropic's API reference, version 2023-06-01. */
final class MessagesApi implements Protocol {
  @Override
  public String path() {
    return "/messages";
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
  public Conversation read(byte[] body) throws RefusedException {
    try {
      return MessagesRequestReader.read(StrictJson.readDocument(body));
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

  private static String error(String type, String message) {
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
  public String write(String modelId, ModelResponse response) {
    Message message = response.message();
    ObjectNode root = StrictJson.mapper().createObjectNode();
    root.put("id", "msg_" + Fingerprint.of(List.of(message)));
    root.put("type", "message");
    root.put("role", "assistant");
    root.put("model", modelId);
    ArrayNode content = root.putArray("content");
    message.parts().forEach(part -> write(part, content));
    root.put("stop_reason", stopReason(response.finishReason()));
    root.putNull("stop_sequence");
    if (response.usage().input().isPresent()) {
      write(response.usage(), root.putObject("usage"));
    }
    return StrictJson.write(root);
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
