package dev.warpwright.adapters.protocol.anthropic;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.ErrorObject;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.Counters;
import dev.warpwright.adapters.wire.StreamEvent;
import dev.warpwright.adapters.wire.StreamReader;
import dev.warpwright.adapters.wire.Teller;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the events of one streamed Messages answer, leniently: what is not known is passed over.
 *
 * <p>Blocks are put together to the message that would have come whole, and that is read by {@link
 * MessagesResponse}. A piece of text or thinking that its index gives to a block of another known
 * kind, to none, or to text before the latest one, begins another block: so the text is always in
 * the order in which it was told. The finish signal is a {@code stop_reason}; behind it a server
 * may end with or without {@code message_stop}.
 */
final class MessagesStream implements StreamReader {
  private static final String TEXT = "text";
  private static final String THINKING = "thinking";
  private static final String TOOL_USE = "tool_use";
  private static final Set<String> KINDS = Set.of(TEXT, THINKING, TOOL_USE, "redacted_thinking");

  private final Failures failures;
  private final String modelId;
  private final ModelCall call;
  private final HttpHeaders headers;
  private final List<Block> blocks = new ArrayList<>();
  private final Map<Integer, Block> latest = new HashMap<>(); // by index
  private final ObjectNode usage = StrictJson.mapper().createObjectNode();
  private final StringBuilder withInput = new StringBuilder(); // calls that began so, as they came
  private @Nullable Block text; // the latest one
  private @Nullable String stopReason;

  MessagesStream(Failures failures, String modelId, ModelCall call, HttpHeaders headers) {
    this.failures = failures;
    this.modelId = modelId;
    this.call = call;
    this.headers = headers;
  }

  @Override
  public boolean read(StreamEvent event, Teller out) throws InterruptedException {
    JsonNode json = event.json();
    switch (json.path("type").asString("")) {
      case "message_start" -> counters(json.path("message").path("usage"), out);
      case "content_block_start" -> start(event, out);
      case "content_block_delta" -> piece(json.path("index").asInt(0), json.path("delta"), out);
      case "message_delta" -> {
        String reason = CallReader.text(json.path("delta").path("stop_reason"));
        stopReason = reason == null ? stopReason : reason;
        counters(json.path("usage"), out);
      }
      case "message_stop" -> {
        return false;
      }
      case "" -> {
        Optional<ErrorObject> error = ErrorObject.bare(json);
        if (error.isPresent()) {
          throw failures.event(error.get(), headers);
        }
      }
      default -> {} // a ping, the end of a block, or what is not known
    }
    return true;
  }

  private void counters(JsonNode report, Teller out) throws InterruptedException {
    if (report.isObject()) {
      Counters.update(usage, report);
      out.counters(MessagesResponse.usage(usage));
    }
  }

  private void start(StreamEvent event, Teller out) throws InterruptedException {
    JsonNode given = event.json().path("content_block");
    Block block = begin(event.json().path("index").asInt(0), given);
    switch (block.kind) {
      case TEXT -> text(block, given.path("text").asString(""), out);
      case THINKING -> thinking(block, given.path("thinking").asString(""), out);
      case TOOL_USE -> {
        if (!given.path("input").isEmpty()) {
          withInput.append(event.data()).append('\n');
        }
      }
      default -> {}
    }
  }

  private Block begin(int index, JsonNode given) {
    Block block = new Block(given);
    blocks.add(block);
    latest.put(index, block);
    text = block.is(TEXT) ? block : text;
    return block;
  }

  private void piece(int index, JsonNode delta, Teller out) throws InterruptedException {
    Block block = latest.get(index);
    if (block != null && !KINDS.contains(block.kind)) {
      return; // of a block that is passed over
    }
    switch (delta.path("type").asString("")) {
      case "text_delta" ->
          text(
              block == null || block != text ? begin(index, TEXT) : block,
              delta.path("text").asString(""),
              out);
      case "thinking_delta" ->
          thinking(
              block == null || !block.is(THINKING) ? begin(index, THINKING) : block,
              delta.path("thinking").asString(""),
              out);
      case "signature_delta" -> {
        if (block != null && block.is(THINKING)) {
          block.given.put("signature", delta.path("signature").asString(""));
        }
      }
      case "input_json_delta" -> {
        if (block == null || !block.is(TOOL_USE)) {
          throw failures.protocol("has a fragment of a tool call that did not begin.", headers);
        }
        JsonNode fragment = delta.path("partial_json");
        if (fragment.isContainer()) {
          throw failures.protocol(CallReader.NO_TEXT, headers);
        }
        block.pieces.append(fragment.asString(""));
      }
      default -> {} // a citation, or what is not known
    }
  }

  private Block begin(int index, String kind) {
    return begin(index, StrictJson.mapper().createObjectNode().put("type", kind));
  }

  private static void text(Block block, String piece, Teller out) throws InterruptedException {
    block.pieces.append(piece);
    out.text(piece);
  }

  private static void thinking(Block block, String piece, Teller out) throws InterruptedException {
    block.pieces.append(piece);
    out.reasoning(piece);
  }

  @Override
  public Optional<ModelResponse> end() {
    if (stopReason == null) {
      return Optional.empty();
    }
    ObjectNode message = StrictJson.mapper().createObjectNode().put("stop_reason", stopReason);
    message.set("usage", usage);
    ArrayNode content = message.putArray("content");
    blocks.forEach(block -> content.add(block.whole()));
    String documents = withInput + StrictJson.write(message);
    Answer answer = new Answer(message, documents.getBytes(StandardCharsets.UTF_8), headers);
    return Optional.of(MessagesResponse.read(failures, modelId, call, answer));
  }

  /** A block that has begun. */
  private static final class Block {
    final ObjectNode given;
    final String kind;
    final StringBuilder pieces = new StringBuilder();

    Block(JsonNode given) {
      this.given =
          given instanceof ObjectNode object ? object : StrictJson.mapper().createObjectNode();
      this.kind = given.path("type").asString("");
    }

    boolean is(String expected) {
      return kind.equals(expected);
    }

    /** The block as it would have come whole. */
    ObjectNode whole() {
      return switch (kind) {
        case TEXT, THINKING -> given.put(kind, pieces.toString()); // which is the member's name too
        case TOOL_USE -> pieces.isEmpty() ? given : given.put("input", pieces.toString());
        default -> given;
      };
    }
  }
}
