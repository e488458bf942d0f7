package dev.warpwright.adapters.google;

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
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the chunks of one streamed generateContent answer, leniently: what is not known is passed
 * over. Each chunk has the shape of a whole answer.
 *
 * <p>Parts are put together to the answer that would have come whole, and that is read by {@link
 * GeminiResponse}. Text goes on in the next chunk; a part with a signature stays a part of its own,
 * since the signature belongs to it. The finish signal is a {@code finishReason}, or a {@code
 * blockReason}; there is no terminator.
 */
final class GeminiStream implements StreamReader {
  private final Failures failures;
  private final String modelId;
  private final ModelCall call;
  private final HttpHeaders headers;
  private final List<JsonNode> parts = new ArrayList<>();
  private final StringBuilder text = new StringBuilder(); // the latest part, not yet among them
  private final ObjectNode usage = StrictJson.mapper().createObjectNode();
  private final StringBuilder withCalls = new StringBuilder(); // chunks with calls, as they came
  private @Nullable String finishReason;
  private @Nullable String blockReason;
  private @Nullable String responseId;

  GeminiStream(Failures failures, String modelId, ModelCall call, HttpHeaders headers) {
    this.failures = failures;
    this.modelId = modelId;
    this.call = call;
    this.headers = headers;
  }

  @Override
  public boolean read(StreamEvent event, Teller out) throws InterruptedException {
    JsonNode chunk = event.json();
    Optional<ErrorObject> error =
        chunk.has("candidates") ? Optional.empty() : ErrorObject.bare(chunk);
    if (error.isPresent()) {
      throw failures.event(error.get(), headers);
    }
    boolean calls = false;
    for (JsonNode candidate : chunk.path("candidates")) {
      if (candidate.path("index").asInt(0) == 0) {
        calls |= candidate(candidate, out);
      }
    }
    if (calls) {
      withCalls.append(event.data()).append('\n');
    }
    String id = CallReader.text(chunk.path("responseId"));
    responseId = id == null ? responseId : id;
    String blocked = GeminiResponse.blockReason(chunk);
    blockReason = blocked == null ? blockReason : blocked;
    if (chunk.path("usageMetadata").isObject()) {
      Counters.update(usage, chunk.path("usageMetadata"));
      out.counters(GeminiUsage.read(usage));
    }
    return true;
  }

  /** Reads a piece of the answer; true if there are calls in it. */
  private boolean candidate(JsonNode candidate, Teller out) throws InterruptedException {
    boolean calls = false;
    for (JsonNode part : candidate.path("content").path("parts")) {
      part(part, out);
      calls |= GeminiResponse.isCall(part);
    }
    String reason = CallReader.text(candidate.path("finishReason"));
    finishReason = reason == null ? finishReason : reason;
    return calls;
  }

  private void part(JsonNode part, Teller out) throws InterruptedException {
    String piece = part.path("text").asString("");
    if (GeminiResponse.isThought(part)) {
      out.reasoning(piece);
    } else if (!GeminiResponse.isCall(part)) {
      out.text(piece);
      if (part.has("text") && PartState.of(part).equals(PartState.NONE)) {
        text.append(piece);
        return;
      }
    }
    endText();
    parts.add(part);
  }

  private void endText() {
    if (!text.isEmpty()) {
      parts.add(StrictJson.mapper().createObjectNode().put("text", text.toString()));
      text.setLength(0);
    }
  }

  @Override
  public Optional<ModelResponse> end() {
    if (finishReason == null && blockReason == null) {
      return Optional.empty();
    }
    endText();
    ObjectNode whole = StrictJson.mapper().createObjectNode();
    ObjectNode candidate = whole.putArray("candidates").addObject();
    ArrayNode content = candidate.putObject("content").putArray("parts");
    parts.forEach(content::add);
    candidate.put("finishReason", finishReason);
    whole.putObject("promptFeedback").put("blockReason", blockReason);
    whole.set("usageMetadata", usage);
    whole.put("responseId", responseId);
    String documents = withCalls + StrictJson.write(whole);
    Answer answer = new Answer(whole, documents.getBytes(StandardCharsets.UTF_8), headers);
    return Optional.of(GeminiResponse.read(failures, modelId, call, answer));
  }
}
