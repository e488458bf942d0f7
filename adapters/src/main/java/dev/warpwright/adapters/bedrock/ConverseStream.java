package dev.warpwright.adapters.bedrock;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.Counters;
import dev.warpwright.adapters.wire.StreamEvent;
import dev.warpwright.adapters.wire.StreamReader;
import dev.warpwright.adapters.wire.Teller;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the events of one streamed Converse answer, leniently: what is not known is passed over.
 *
 * <p>Blocks are put together to the message that would have come whole, and that is read by {@link
 * ConverseResponse}. Only a tool call has an event that begins it; what a piece is of, its member
 * says. A piece of text or reasoning that its index gives to a block of another kind, or to text
 * before the latest one, begins another block: so the text is always in the order in which it was
 * told. The finish signal is {@code messageStop}; {@code metadata} with the counters follows it,
 * and behind both nothing is waited for.
 */
final class ConverseStream implements StreamReader {
  private final Failures failures;
  private final String modelId;
  private final ModelCall call;
  private final HttpHeaders headers;
  private final List<Block> blocks = new ArrayList<>();
  private final Map<Integer, Block> latest = new HashMap<>(); // by index
  private final ObjectNode usage = StrictJson.mapper().createObjectNode();
  private @Nullable Block text; // the latest one
  private @Nullable String stopReason;
  private boolean metadata;

  ConverseStream(Failures failures, String modelId, ModelCall call, HttpHeaders headers) {
    this.failures = failures;
    this.modelId = modelId;
    this.call = call;
    this.headers = headers;
  }

  @Override
  public boolean read(StreamEvent event, Teller out) throws InterruptedException {
    JsonNode json = event.json();
    int index = json.path("contentBlockIndex").asInt(0);
    switch (event.name()) {
      case "contentBlockStart" -> start(index, json.path("start").path("toolUse"));
      case "contentBlockDelta" -> piece(index, json.path("delta"), out);
      case "messageStop" -> {
        String reason = CallReader.text(json.path("stopReason"));
        stopReason = reason == null ? stopReason : reason;
      }
      case "metadata" -> {
        metadata = true;
        if (json.path("usage").isObject()) {
          Counters.update(usage, json.path("usage"));
          out.counters(ConverseResponse.usage(usage));
        }
      }
      default -> {} // the beginning, the end of a block, or what is not known
    }
    return stopReason == null || !metadata;
  }

  private void start(int index, JsonNode toolUse) {
    if (toolUse.isObject()) {
      begin(index, new ToolUse(toolUse.path("toolUseId"), toolUse.path("name")));
    } else {
      latest.remove(index); // its pieces say of what kind it is
    }
  }

  private <B extends Block> B begin(int index, B block) {
    blocks.add(block);
    latest.put(index, block);
    text = block instanceof Words ? block : text;
    return block;
  }

  private void piece(int index, JsonNode delta, Teller out) throws InterruptedException {
    Block block = latest.get(index);
    JsonNode reasoning = delta.path(ReasoningBlocks.MEMBER);
    if (delta.path("text").isString()) {
      Words words = block instanceof Words same && same == text ? same : begin(index, new Words());
      words.pieces.append(delta.path("text").stringValue());
      out.text(delta.path("text").stringValue());
    } else if (delta.path("toolUse").isObject()) {
      if (!(block instanceof ToolUse asked)) {
        throw failures.protocol("has a fragment of a tool call that did not begin.", headers);
      }
      JsonNode fragment = delta.path("toolUse").path("input");
      if (fragment.isContainer()) {
        throw failures.protocol(CallReader.NO_TEXT, headers);
      }
      asked.input.append(fragment.asString(""));
    } else if (reasoning.isObject()) {
      Reasoning same = block instanceof Reasoning begun ? begun : begin(index, new Reasoning());
      same.add(reasoning);
      out.reasoning(reasoning.path("text").asString(""));
    }
  }

  @Override
  public Optional<ModelResponse> end() {
    if (stopReason == null) {
      return Optional.empty();
    }
    ObjectNode whole = StrictJson.mapper().createObjectNode().put("stopReason", stopReason);
    whole.set("usage", usage);
    ArrayNode content = whole.putObject("output").putObject("message").putArray("content");
    blocks.forEach(block -> content.add(block.whole()));
    byte[] document = StrictJson.write(whole).getBytes(StandardCharsets.UTF_8);
    return Optional.of(
        ConverseResponse.read(failures, modelId, call, new Answer(whole, document, headers)));
  }

  /** A block that has begun. */
  private sealed interface Block {
    /** The block as it would have come whole. */
    ObjectNode whole();
  }

  private static final class Words implements Block {
    final StringBuilder pieces = new StringBuilder();

    @Override
    public ObjectNode whole() {
      return StrictJson.mapper().createObjectNode().put("text", pieces.toString());
    }
  }

  private static final class ToolUse implements Block {
    final StringBuilder input = new StringBuilder();
    final JsonNode id;
    final JsonNode name;

    ToolUse(JsonNode id, JsonNode name) {
      this.id = id;
      this.name = name;
    }

    @Override
    public ObjectNode whole() {
      ObjectNode block = StrictJson.mapper().createObjectNode();
      ObjectNode use = block.putObject("toolUse");
      use.set("toolUseId", id);
      use.set("name", name);
      use.put("input", input.toString()); // is read as the object that it holds
      return block;
    }
  }

  private static final class Reasoning implements Block {
    final StringBuilder words = new StringBuilder();
    final StringBuilder signature = new StringBuilder();
    final List<String> redacted = new ArrayList<>(); // each in base64

    void add(JsonNode piece) {
      words.append(piece.path("text").asString(""));
      signature.append(piece.path("signature").asString(""));
      if (CallReader.text(piece.path("redactedContent")) != null) {
        redacted.add(piece.path("redactedContent").stringValue());
      }
    }

    @Override
    public ObjectNode whole() {
      ObjectNode block = StrictJson.mapper().createObjectNode();
      ObjectNode reasoning = block.putObject(ReasoningBlocks.MEMBER);
      if (!redacted.isEmpty()) {
        reasoning.put("redactedContent", joined(redacted));
      } else {
        ObjectNode spoken = reasoning.putObject("reasoningText").put("text", words.toString());
        if (!signature.isEmpty()) {
          spoken.put("signature", signature.toString());
        }
      }
      return block;
    }

    /** Bytes in one piece stay as they are written; those in several are put together. */
    private static String joined(List<String> pieces) {
      if (pieces.size() == 1) {
        return pieces.getFirst();
      }
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      pieces.forEach(piece -> bytes.writeBytes(Base64.getDecoder().decode(piece)));
      return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }
  }
}
