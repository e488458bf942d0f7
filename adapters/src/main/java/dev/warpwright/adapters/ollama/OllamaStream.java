package dev.warpwright.adapters.ollama;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.ErrorObject;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.StreamEvent;
import dev.warpwright.adapters.wire.StreamReader;
import dev.warpwright.adapters.wire.Teller;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Usage;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the lines of one streamed answer, leniently: what is not known is passed over.
 *
 * <p>The lines are put together to the answer that would have come whole, and that is read by
 * {@link OllamaResponse}. A call is always whole, so each one counts, whatever its index: servers
 * repeat indices over lines. The finish signal is a line that says that all is done; nothing behind
 * it is read.
 */
final class OllamaStream implements StreamReader {
  private final Failures failures;
  private final String modelId;
  private final ModelCall call;
  private final HttpHeaders headers;
  private final StringBuilder thinking = new StringBuilder();
  private final StringBuilder text = new StringBuilder();
  private final ArrayNode calls = StrictJson.mapper().createArrayNode();
  private final StringBuilder withCalls = new StringBuilder(); // the lines of calls, as they came
  private @Nullable ObjectNode last; // the line that says that all is done

  OllamaStream(Failures failures, String modelId, ModelCall call, HttpHeaders headers) {
    this.failures = failures;
    this.modelId = modelId;
    this.call = call;
    this.headers = headers;
  }

  @Override
  public boolean read(StreamEvent event, Teller out) throws InterruptedException {
    if (!(event.json() instanceof ObjectNode line)) {
      throw failures.protocol("has a line that is no JSON object.", headers);
    }
    JsonNode message = line.path("message");
    Optional<ErrorObject> error = message.isObject() ? Optional.empty() : ErrorObject.bare(line);
    if (error.isPresent()) {
      throw failures.event(error.get(), headers);
    }
    String thought = message.path("thinking").asString("");
    thinking.append(thought);
    out.reasoning(thought);
    String piece = message.path("content").asString("");
    text.append(piece);
    out.text(piece);
    JsonNode asked = OllamaResponse.calls(failures, headers, message);
    if (!asked.isEmpty()) {
      asked.forEach(calls::add);
      withCalls.append(event.data()).append('\n');
    }
    if (!line.path("done").asBoolean(false)) {
      return true;
    }
    last = line;
    Usage usage = OllamaResponse.usage(line);
    if (!usage.equals(Usage.ABSENT)) {
      out.counters(usage);
    }
    return false;
  }

  @Override
  public Optional<ModelResponse> end() {
    if (last == null) {
      return Optional.empty();
    }
    ObjectNode message = StrictJson.mapper().createObjectNode();
    message.put("thinking", thinking.toString()).put("content", text.toString());
    message.set("tool_calls", calls);
    last.set("message", message);
    byte[] documents = withCalls.toString().getBytes(StandardCharsets.UTF_8);
    return Optional.of(
        OllamaResponse.read(failures, modelId, call, new Answer(last, documents, headers)));
  }
}
