package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Image;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.node.ObjectNode;

/** Ollama's chat. Source of the format: Ollama's API reference and its {@code api} package. */
final class OllamaApi implements Protocol {
  /** Constant, so that a scripted answer has the same bytes on every run. */
  private static final String CREATED = "2025-01-01T00:00:00Z";

  @Override
  public boolean serves(String path) {
    return path.endsWith("/api/chat");
  }

  @Override
  public String requestIdHeader() {
    return "x-request-id";
  }

  @Override
  public void checkHeaders(ServerRequest request, @Nullable String key) throws RefusedException {
    if (key != null && !request.header("authorization").equals(Optional.of("Bearer " + key))) {
      throw new RefusedException(401, "unauthorized");
    }
  }

  @Override
  public ModelRequest read(ServerRequest request) throws RefusedException {
    try {
      return OllamaRequestReader.read(StrictJson.readDocument(request.body()));
    } catch (JacksonException e) {
      throw new RefusedException(400, "The body of the request is no JSON that can be read.");
    }
  }

  @Override
  public StreamFraming framing() {
    return StreamFraming.LINES;
  }

  @Override
  public String heartbeat() {
    return "\n";
  }

  @Override
  public String error(int status, String message, @Nullable String param) {
    ObjectNode root = StrictJson.mapper().createObjectNode();
    return StrictJson.write(root.put("error", param == null ? message : param + ": " + message));
  }

  /** The real service has words only. */
  @Override
  public String error(String code, String message) {
    ObjectNode root = StrictJson.mapper().createObjectNode();
    return StrictJson.write(root.put("error", message).put("code", code));
  }

  @Override
  public String scriptError(String message, String code) {
    return error(code, message);
  }

  @Override
  public String write(Said said) {
    ObjectNode root = root(said);
    ObjectNode message = message(root);
    int calls = 0;
    for (Part part : said.response().message().parts()) {
      switch (part) {
        case Part.Text(String text) -> message.put("content", text);
        case ToolCall call -> {
          message.withArray("tool_calls").add(written(call, calls));
          calls++;
        }
        case ProviderState state -> message.put("thinking", thinking(state));
        case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
      }
    }
    return StrictJson.write(done(said, root));
  }

  @Override
  public void stream(Said said, EventSink sink) throws IOException, InterruptedException {
    int calls = 0;
    for (Part part : said.response().message().parts()) {
      switch (part) {
        case Part.Text _ -> tell("content", part, said, sink);
        case ProviderState _ -> tell("thinking", part, said, sink);
        case ToolCall call -> {
          ObjectNode line = root(said);
          message(line).putArray("tool_calls").add(written(call, calls));
          sink.event(Mark.CHUNK, null, StrictJson.write(line.put("done", false)));
          calls++;
        }
        case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
      }
    }
    ObjectNode last = root(said);
    message(last);
    // It is also what says why the answer ended.
    sink.event(Mark.TERMINATOR, null, StrictJson.write(done(said, last)));
  }

  private static void tell(String member, Part part, Said said, EventSink sink)
      throws IOException, InterruptedException {
    for (String piece : said.answer().pieces(part)) {
      ObjectNode line = root(said);
      message(line).put(member, piece);
      sink.event(Mark.CHUNK, null, StrictJson.write(line.put("done", false)));
    }
  }

  @Override
  public void streamError(Fault.ErrorEvent error, long told, Said said, EventSink sink)
      throws IOException, InterruptedException {
    sink.event(Mark.OTHER, null, error(error.code(), error.message()));
  }

  private static ObjectNode root(Said said) {
    ObjectNode root = StrictJson.mapper().createObjectNode().put("model", said.modelId());
    return root.put("created_at", CREATED);
  }

  private static ObjectNode message(ObjectNode root) {
    return root.putObject("message").put("role", "assistant").put("content", "");
  }

  /** A call is never told in pieces; one that is malformed has text where the object should be. */
  private static ObjectNode written(ToolCall call, int index) {
    ObjectNode written = StrictJson.mapper().createObjectNode().put("id", call.id());
    ObjectNode function = written.putObject("function").put("index", index);
    function.put("name", call.name());
    if (call.malformed().isPresent()) {
      function.put("arguments", call.malformed().get());
    } else {
      function.set("arguments", StrictJson.read(call.input().text()));
    }
    return written;
  }

  private static String thinking(ProviderState state) {
    return StrictJson.read(state.data().text()).path("thinking").asString("");
  }

  private static ObjectNode done(Said said, ObjectNode root) {
    root.put("done", true).put("done_reason", reason(said.response().finishReason()));
    Usage usage = said.response().usage();
    put(root, "prompt_eval_count", usage.input());
    put(root, "eval_count", usage.output());
    return root;
  }

  /** The service knows no other end than that of the answer and that of its room. */
  private static String reason(FinishReason reason) {
    return switch (reason.kind()) {
      case LENGTH -> "length";
      case STOP, TOOL_CALLS, CONTENT_FILTER, REFUSAL, PAUSED -> "stop";
      case ERROR, OTHER -> reason.raw();
    };
  }

  private static void put(ObjectNode root, String key, TokenCount count) {
    if (count.isPresent()) {
      root.put(key, count.tokens());
    }
  }
}
