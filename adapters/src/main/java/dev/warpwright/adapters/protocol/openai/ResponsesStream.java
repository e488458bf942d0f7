package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.ErrorObject;
import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.Counters;
import dev.warpwright.adapters.wire.StreamEvent;
import dev.warpwright.adapters.wire.StreamReader;
import dev.warpwright.adapters.wire.Teller;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Role;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the events of one streamed Responses answer, leniently: what is not known is passed over.
 *
 * <p>Text and reasoning are told as they come. All else is read from the whole response, which
 * comes with the last event: the finish signal {@code response.completed}, {@code
 * response.incomplete} or {@code response.failed}. Its items are those that were shown before if it
 * has none itself. The text that was told is the answer's: what the last event has beyond it is
 * told then, and if it has another (servers trim) it does not count.
 */
final class ResponsesStream implements StreamReader {
  private static final String FAILED = "failed";
  private static final String PREFIX = "response.";

  private final ResponsesReader reader;
  private final HttpHeaders headers;
  private final OutputItems shown;
  private final StringBuilder text = new StringBuilder();
  private final ObjectNode usage = StrictJson.mapper().createObjectNode();
  private boolean refused;
  private @Nullable ModelResponse response;

  /**
   * Begins an answer.
   *
   * @param reader reads it as if it had come whole
   * @param headers the response's headers
   * @param shown takes its items
   */
  ResponsesStream(ResponsesReader reader, HttpHeaders headers, OutputItems shown) {
    this.reader = reader;
    this.headers = headers;
    this.shown = shown;
  }

  @Override
  public boolean read(StreamEvent event, Teller out) throws InterruptedException {
    JsonNode json = event.json();
    String type = json.path("type").asString("");
    JsonNode counters = json.path("response").path("usage");
    if (counters.isObject()) {
      Counters.update(usage, counters);
      out.counters(ResponsesReader.usage(usage));
    }
    switch (type) {
      case "response.output_text.delta" -> text(json, out);
      case "response.refusal.delta" -> {
        refused = true;
        text(json, out);
      }
      case "response.reasoning_summary_text.delta", "response.reasoning_text.delta" ->
          out.reasoning(json.path("delta").asString(""));
      case "response.output_item.added" -> shown.begun(event);
      case "response.function_call_arguments.delta" -> shown.arguments(event);
      case "response.output_item.done" -> shown.done(event);
      case "response.completed", "response.incomplete", "response.failed" -> {
        response = asTold(whole(event, type.substring(PREFIX.length())), out);
        return false;
      }
      case "" -> {
        Optional<ErrorObject> error = ErrorObject.bare(json);
        if (error.isPresent()) {
          throw failed(reader.failures().event(error.get(), headers), event);
        }
      }
      default -> {} // the same again, or what was not asked for
    }
    return true;
  }

  private void text(JsonNode json, Teller out) throws InterruptedException {
    String piece = json.path("delta").asString("");
    text.append(piece);
    out.text(piece);
  }

  /** Reads the response that the last event holds. */
  private ModelResponse whole(StreamEvent event, String status) {
    ObjectNode body = StrictJson.mapper().createObjectNode();
    if (event.json().path("response") instanceof ObjectNode given) {
      body.setAll(given);
    }
    if (body.path("output").isEmpty()) {
      body.set("output", shown.output());
    }
    if (CallReader.text(body.path("status")) == null || status.equals(FAILED)) {
      body.put("status", status);
    }
    body.set("usage", usage);
    Answer answer = answer(body, event);
    Optional<ErrorObject> error = ErrorObject.in(body);
    if (error.isPresent()) {
      throw reader.failed(reader.failures().event(error.get(), headers), answer);
    }
    return reader.read(answer);
  }

  private Answer answer(JsonNode body, StreamEvent event) {
    String documents = shown.withObjects() + event.data();
    return new Answer(body, documents.getBytes(StandardCharsets.UTF_8), headers);
  }

  private ModelResponse asTold(ModelResponse whole, Teller out) throws InterruptedException {
    Message message = whole.message();
    String told = StrictJson.cleanText(text.toString());
    String said = message.text();
    if (said.startsWith(told)) {
      out.text(said.substring(told.length()));
    } else {
      message = withText(told, message);
    }
    FinishReason reason = whole.finishReason();
    return new ModelResponse(
        message,
        refused ? new FinishReason(FinishReason.Kind.REFUSAL, reason.raw()) : reason,
        whole.usage(),
        whole.requestId());
  }

  /** The message with this text where its first one stands, and no other. */
  private static Message withText(String told, Message message) {
    List<Part> parts = new ArrayList<>();
    Part.Text text = new Part.Text(told);
    for (Part part : message.parts()) {
      if (!(part instanceof Part.Text)) {
        parts.add(part);
      } else if (!parts.contains(text)) {
        parts.add(text);
      }
    }
    if (!parts.contains(text)) {
      parts.addFirst(text);
    }
    return new Message(Role.ASSISTANT, parts);
  }

  @Override
  public Optional<ModelResponse> end() {
    return Optional.ofNullable(response);
  }

  /** What was shown decides what a failure may leave behind, as the output of a whole answer. */
  @Override
  public ProviderException failed(ProviderException failure, StreamEvent event) {
    ObjectNode body = StrictJson.mapper().createObjectNode();
    if (!shown.isEmpty()) {
      body.set("output", shown.output());
    }
    return reader.failed(failure, answer(body, event));
  }
}
