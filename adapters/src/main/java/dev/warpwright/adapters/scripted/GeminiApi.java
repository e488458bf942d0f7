package dev.warpwright.adapters.scripted;

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
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Google's generateContent. Source of the format: Google's API reference, v1beta. */
final class GeminiApi implements Protocol {
  private static final Pattern PATH =
      Pattern.compile(".*/models/([^/:]+):(generateContent|streamGenerateContent)");

  @Override
  public boolean serves(String path) {
    return PATH.matcher(path).matches();
  }

  @Override
  public String requestIdHeader() {
    return "x-request-id";
  }

  @Override
  public void checkHeaders(ServerRequest request, @Nullable String key) throws RefusedException {
    if (key != null && !request.header("x-goog-api-key").equals(Optional.of(key))) {
      throw new RefusedException(401, "API key not valid. Please pass a valid API key.");
    }
  }

  @Override
  public ModelRequest read(ServerRequest request) throws RefusedException {
    Matcher path = PATH.matcher(request.path());
    if (!path.matches()) {
      throw new RefusedException(404, "There is no such model.");
    }
    boolean stream = path.group(2).startsWith("stream");
    if (stream && !request.target().endsWith("?alt=sse")) {
      throw new RefusedException(400, "Streams are sent as events only.", "alt");
    }
    try {
      return GeminiRequestReader.read(
          StrictJson.readDocument(request.body()),
          URLDecoder.decode(path.group(1), StandardCharsets.UTF_8),
          new ResponseForm(stream, false, false));
    } catch (JacksonException e) {
      throw new RefusedException(400, "Invalid JSON payload received.");
    }
  }

  // --- errors ------------------------------------------------------------------------------------

  @Override
  public String error(int status, String message, @Nullable String param) {
    return named(status, param == null ? message : param + ": " + message, name(status));
  }

  @Override
  public String scriptError(String message, String code) {
    return named(500, message, code);
  }

  @Override
  public String error(String code, String message) {
    ObjectNode root = StrictJson.mapper().createObjectNode();
    root.putObject("error").put("message", message).put("status", code);
    return StrictJson.write(root);
  }

  private static String named(int status, String message, String name) {
    ObjectNode root = StrictJson.mapper().createObjectNode();
    root.putObject("error").put("code", status).put("message", message).put("status", name);
    return StrictJson.write(root);
  }

  private static String name(int status) {
    return switch (status) {
      case 401 -> "UNAUTHENTICATED";
      case 403 -> "PERMISSION_DENIED";
      case 404 -> "NOT_FOUND";
      case 429 -> "RESOURCE_EXHAUSTED";
      case 503 -> "UNAVAILABLE";
      case 504 -> "DEADLINE_EXCEEDED";
      default -> status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT";
    };
  }

  @Override
  public void streamError(Fault.ErrorEvent error, long told, Said said, EventSink sink)
      throws IOException, InterruptedException {
    sink.event(Mark.OTHER, null, error(error.code(), error.message()));
  }

  @Override
  public String heartbeat() {
    return ": heartbeat\n\n";
  }

  // --- answers -----------------------------------------------------------------------------------

  @Override
  public String write(Said said) {
    ModelResponse response = said.response();
    ArrayNode parts = StrictJson.mapper().createArrayNode();
    String thought = thought(response);
    for (Part part : response.message().parts()) {
      switch (part) {
        case Part.Text(String text) -> parts.addObject().put("text", text);
        case ProviderState _ -> parts.addObject().put("text", thought).put("thought", true);
        case ToolCall call -> {
          parts.add(call(call, thought));
          thought = null;
        }
        case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
      }
    }
    sign(thought, parts);
    return StrictJson.write(root(said, parts, true));
  }

  /** What was thought, null if nothing was. */
  private static @Nullable String thought(ModelResponse response) {
    for (Part part : response.message().parts()) {
      if (part instanceof ProviderState state) {
        return StrictJson.read(state.data().text()).path("thinking").asString("");
      }
    }
    return null;
  }

  /** The first call is signed if something was thought; an answer without one, at its end. */
  private static ObjectNode call(ToolCall call, @Nullable String thought) {
    ObjectNode part = StrictJson.mapper().createObjectNode();
    ObjectNode function = part.putObject("functionCall");
    function.put("id", call.id()).put("name", call.name());
    if (call.malformed().isPresent()) {
      function.put("args", call.malformed().get());
    } else {
      function.set("args", StrictJson.read(call.input().text()));
    }
    if (thought != null) {
      part.put("thoughtSignature", SignedParts.signature(thought, part));
    }
    return part;
  }

  private static void sign(@Nullable String thought, ArrayNode parts) {
    if (thought != null) {
      ObjectNode last = parts.addObject().put("text", "");
      last.put("thoughtSignature", SignedParts.signature(thought, last));
    }
  }

  private static ObjectNode root(Said said, ArrayNode parts, boolean last) {
    ModelResponse response = said.response();
    ObjectNode root = StrictJson.mapper().createObjectNode();
    ObjectNode candidate = root.putArray("candidates").addObject();
    ObjectNode content = candidate.putObject("content");
    if (!parts.isEmpty()) {
      content.set("parts", parts);
    }
    content.put("role", "model");
    if (last) {
      candidate.put("finishReason", finish(response.finishReason()));
    }
    candidate.put("index", 0);
    if (last && response.usage().input().isPresent()) {
      write(response.usage(), root.putObject("usageMetadata"));
    }
    root.put("modelVersion", said.modelId());
    return root.put("responseId", "resp_" + Fingerprint.of(List.of(response.message())));
  }

  private static String finish(FinishReason reason) {
    return switch (reason.kind()) {
      case STOP, TOOL_CALLS -> "STOP";
      case LENGTH -> "MAX_TOKENS";
      case CONTENT_FILTER, REFUSAL -> "SAFETY";
      case PAUSED, ERROR, OTHER -> reason.raw();
    };
  }

  private static void write(Usage usage, ObjectNode written) {
    written.put("promptTokenCount", usage.input().tokens());
    put(written, "cachedContentTokenCount", usage.cachedInput());
    written.put(
        "candidatesTokenCount", Math.max(0, usage.output().tokens() - usage.reasoning().tokens()));
    put(written, "thoughtsTokenCount", usage.reasoning());
    written.put("totalTokenCount", usage.input().tokens() + usage.output().tokens());
  }

  private static void put(ObjectNode counters, String key, TokenCount count) {
    if (count.isPresent()) {
      counters.put(key, count.tokens());
    }
  }

  @Override
  public void stream(Said said, EventSink sink) throws IOException, InterruptedException {
    String thought = thought(said.response());
    for (Part part : said.response().message().parts()) {
      if (part instanceof ToolCall call) { // which comes whole
        tell(Mark.CHUNK, said, call(call, thought), sink);
        thought = null;
      } else {
        for (String piece : said.answer().pieces(part)) {
          ObjectNode written = StrictJson.mapper().createObjectNode().put("text", piece);
          if (part instanceof ProviderState) {
            written.put("thought", true);
          }
          tell(Mark.CHUNK, said, written, sink);
        }
      }
    }
    ArrayNode end = StrictJson.mapper().createArrayNode();
    sign(thought, end);
    sink.event(Mark.FINISH, null, StrictJson.write(root(said, end, true)));
  }

  private static void tell(Mark mark, Said said, ObjectNode part, EventSink sink)
      throws IOException, InterruptedException {
    ArrayNode parts = StrictJson.mapper().createArrayNode().add(part);
    sink.event(mark, null, StrictJson.write(root(said, parts, false)));
  }
}
