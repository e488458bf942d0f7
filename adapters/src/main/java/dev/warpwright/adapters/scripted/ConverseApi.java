package dev.warpwright.adapters.scripted;

import dev.warpwright.adapters.wire.BinaryEvent;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Image;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Bedrock's Converse. Model and form stand in the path. Source of the format: Amazon Bedrock's API
 * reference and the service model of its runtime.
 */
final class ConverseApi implements Protocol {
  private static final Pattern PATH =
      Pattern.compile(".*/model/([^/]+)(/converse|/converse-stream)");
  private static final String STREAMED = "/converse-stream";
  private static final BinaryEvent ALIVE = BinaryEvent.event("ping", "");

  @Override
  public boolean serves(String path) {
    return PATH.matcher(path).matches();
  }

  @Override
  public String requestIdHeader() {
    return "x-amzn-RequestId";
  }

  @Override
  public void checkHeaders(ServerRequest request, @Nullable String key) throws RefusedException {
    if (key != null && !request.header("authorization").equals(Optional.of("Bearer " + key))) {
      throw new RefusedException(403, "Authentication failed: the API key is not valid.");
    }
  }

  @Override
  public ModelRequest read(ServerRequest request) throws RefusedException {
    Matcher path = PATH.matcher(request.path());
    if (!path.matches()) {
      throw new AssertionError("Another protocol serves " + request.path());
    }
    String modelId = URLDecoder.decode(path.group(1), StandardCharsets.UTF_8);
    return read(request.body(), modelId, path.group(2).equals(STREAMED));
  }

  private static ModelRequest read(byte[] body, String modelId, boolean stream)
      throws RefusedException {
    try {
      return new ModelRequest(
          Conversation.of(modelId, ConverseRequestReader.read(StrictJson.readDocument(body))),
          new ResponseForm(stream, false, false));
    } catch (JacksonException e) {
      throw new RefusedException(400, "The body of the request is no JSON that can be read.");
    }
  }

  @Override
  public StreamFraming framing() {
    return StreamFraming.BINARY;
  }

  @Override
  public String heartbeat() {
    return "";
  }

  @Override
  public byte[] heartbeat(WireForm.LineEnd lineEnd) {
    return ALIVE.bytes();
  }

  // --- errors
  // -------------------------------------------------------------------------------------

  @Override
  public Map<String, String> errorHeaders(int status) {
    String type =
        switch (status) {
          case 400, 405, 411, 413 -> "ValidationException";
          case 401, 403 -> "AccessDeniedException";
          case 404 -> "ResourceNotFoundException";
          case 408 -> "ModelTimeoutException";
          case 424 -> "ModelErrorException";
          case 429 -> "ThrottlingException";
          case 500 -> "InternalServerException";
          case 503 -> "ServiceUnavailableException";
          default -> "";
        };
    return type.isEmpty()
        ? Map.of()
        : Map.of(
            "x-amzn-ErrorType", type + ":http://internal.amazon.com/coral/com.amazon.bedrock/");
  }

  @Override
  public String error(int status, String message, @Nullable String param) {
    ObjectNode root = StrictJson.mapper().createObjectNode();
    return StrictJson.write(root.put("message", param == null ? message : param + ": " + message));
  }

  @Override
  public String error(String type, String message) {
    ObjectNode root = StrictJson.mapper().createObjectNode();
    return StrictJson.write(root.put("__type", type).put("message", message));
  }

  @Override
  public String scriptError(String message, String code) {
    return error(code, message);
  }

  @Override
  public void streamError(Fault.ErrorEvent error, long told, Said said, EventSink sink)
      throws IOException, InterruptedException {
    sink.event(
        Mark.OTHER, StreamFraming.EXCEPTION + error.code(), error(500, error.message(), null));
  }

  // --- answers
  // ------------------------------------------------------------------------------------

  @Override
  public String write(Said said) {
    ModelResponse response = said.response();
    ObjectNode root = StrictJson.mapper().createObjectNode();
    root.putObject("metrics").put("latencyMs", 1);
    ArrayNode content =
        root.putObject("output").putObject("message").put("role", "assistant").putArray("content");
    response.message().parts().forEach(part -> write(part, content.addObject()));
    root.put("stopReason", stopReason(response.finishReason()));
    if (response.usage().input().isPresent()) {
      write(response.usage(), root.putObject("usage"));
    }
    return StrictJson.write(root);
  }

  private static void write(Part part, ObjectNode block) {
    switch (part) {
      case Part.Text(String text) -> block.put("text", text);
      case ToolCall call -> {
        ObjectNode use = block.putObject("toolUse").put("toolUseId", call.id());
        use.put("name", call.name());
        if (call.malformed().isPresent()) {
          use.put("input", call.malformed().get());
        } else {
          use.set("input", StrictJson.read(call.input().text()));
        }
      }
      case ProviderState state -> {
        JsonNode thinking = StrictJson.read(state.data().text());
        ObjectNode reasoning = block.putObject("reasoningContent").putObject("reasoningText");
        reasoning.put("text", thinking.path("thinking").stringValue());
        reasoning.put("signature", thinking.path("signature").stringValue());
      }
      case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
    }
  }

  @Override
  public void stream(Said said, EventSink sink) throws IOException, InterruptedException {
    ModelResponse response = said.response();
    tell(Mark.OTHER, "messageStart", object().put("role", "assistant"), sink);
    int index = 0;
    for (Part part : response.message().parts()) {
      streamBlock(part, said, index, sink);
      index++;
    }
    ObjectNode stop = object().put("stopReason", stopReason(response.finishReason()));
    tell(Mark.FINISH, "messageStop", stop, sink);
    ObjectNode metadata = object();
    if (response.usage().input().isPresent()) {
      write(response.usage(), metadata.putObject("usage"));
    }
    metadata.putObject("metrics").put("latencyMs", 1);
    tell(Mark.OTHER, "metadata", metadata, sink);
  }

  private static void streamBlock(Part part, Said said, int index, EventSink sink)
      throws IOException, InterruptedException {
    List<String> pieces = said.answer().pieces(part);
    switch (part) {
      case Part.Text _ -> {
        for (String piece : pieces) {
          tell(Mark.CHUNK, delta(index, object().put("text", piece)), sink);
        }
      }
      case ToolCall call -> {
        ObjectNode start = object();
        start
            .putObject("start")
            .putObject("toolUse")
            .put("toolUseId", call.id())
            .put("name", call.name());
        tell(Mark.OTHER, "contentBlockStart", start.put("contentBlockIndex", index), sink);
        for (String piece : pieces) {
          ObjectNode delta = object();
          delta.putObject("toolUse").put("input", piece);
          tell(Mark.CHUNK, delta(index, delta), sink);
        }
      }
      case ProviderState state -> {
        for (String piece : pieces) {
          ObjectNode delta = object();
          delta.putObject("reasoningContent").put("text", piece);
          tell(Mark.CHUNK, delta(index, delta), sink);
        }
        ObjectNode signed = object();
        signed
            .putObject("reasoningContent")
            .put("signature", StrictJson.read(state.data().text()).path("signature").stringValue());
        tell(Mark.OTHER, delta(index, signed), sink);
      }
      case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
    }
    tell(Mark.OTHER, "contentBlockStop", object().put("contentBlockIndex", index), sink);
  }

  private static ObjectNode object() {
    return StrictJson.mapper().createObjectNode();
  }

  private static ObjectNode delta(int index, ObjectNode delta) {
    ObjectNode event = object().put("contentBlockIndex", index);
    event.set("delta", delta);
    return event;
  }

  private static void tell(Mark mark, ObjectNode delta, EventSink sink)
      throws IOException, InterruptedException {
    tell(mark, "contentBlockDelta", delta, sink);
  }

  private static void tell(Mark mark, String type, ObjectNode event, EventSink sink)
      throws IOException, InterruptedException {
    sink.event(mark, type, StrictJson.write(event));
  }

  private static String stopReason(FinishReason reason) {
    return switch (reason.kind()) {
      case STOP -> "end_turn";
      case TOOL_CALLS -> "tool_use";
      case LENGTH -> "max_tokens";
      case CONTENT_FILTER, REFUSAL -> "content_filtered";
      case PAUSED, ERROR, OTHER -> reason.raw();
    };
  }

  /** Of the input, only what was neither read from a cache nor written to one stands in it. */
  private static void write(Usage usage, ObjectNode written) {
    long cached = usage.cachedInput().tokens() + usage.cacheWrite().tokens();
    long input = Math.max(0, usage.input().tokens() - cached);
    written.put("inputTokens", input);
    written.put("outputTokens", usage.output().tokens());
    written.put("totalTokens", input + cached + usage.output().tokens());
    put(written, "cacheReadInputTokens", usage.cachedInput());
    put(written, "cacheWriteInputTokens", usage.cacheWrite());
  }

  private static void put(ObjectNode counters, String key, TokenCount count) {
    if (count.isPresent()) {
      counters.put(key, count.tokens());
    }
  }
}
