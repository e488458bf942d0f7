package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.http.ErrorObject;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.CallAssembler;
import dev.warpwright.adapters.wire.Counters;
import dev.warpwright.adapters.wire.StreamEvent;
import dev.warpwright.adapters.wire.StreamReader;
import dev.warpwright.adapters.wire.Teller;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import java.net.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the chunks of one streamed Chat Completions answer, leniently: what is not known is passed
 * over. Of several choices the first counts. The finish signal is a {@code finish_reason}; behind
 * it a server may end with or without {@code [DONE]} and usage.
 */
final class ChatStream implements StreamReader {
  private final ChatResponse reader;
  private final Failures failures;
  private final HttpHeaders headers;
  private final CallAssembler calls;
  private final StringBuilder text = new StringBuilder();
  private final ObjectNode usage = StrictJson.mapper().createObjectNode();
  private boolean refused;
  private final ReasoningPieces reasoning = new ReasoningPieces();
  private @Nullable String finishReason;
  private @Nullable String rawReason;

  /**
   * Begins an answer.
   *
   * @param reader reads what it has in common with one that comes whole
   * @param headers the response's headers
   */
  ChatStream(ChatResponse reader, HttpHeaders headers) {
    this.reader = reader;
    this.failures = reader.failures();
    this.headers = headers;
    this.calls = new CallAssembler(failures, headers, reader.call(), "arguments");
  }

  @Override
  public boolean read(StreamEvent event, Teller out) throws InterruptedException {
    JsonNode chunk = event.json();
    Optional<ErrorObject> error = chunk.has("choices") ? Optional.empty() : ErrorObject.bare(chunk);
    if (error.isPresent()) {
      throw failures.event(error.get(), headers);
    }
    for (JsonNode choice : chunk.path("choices")) {
      if (choice.path("index").asInt(0) == 0) {
        choice(choice, event, out);
      }
    }
    counters(chunk.path("usage"), out);
    return true;
  }

  private void counters(JsonNode counters, Teller out) throws InterruptedException {
    if (counters.isObject()) {
      Counters.update(usage, counters);
      out.counters(reader.usage(usage));
    }
  }

  private void choice(JsonNode choice, StreamEvent event, Teller out) throws InterruptedException {
    Optional<ErrorObject> error = ErrorObject.in(choice);
    if (error.isPresent()) {
      throw failures.event(error.get(), headers);
    }
    JsonNode delta = choice.path("delta");
    String thought = delta.path("reasoning_content").asString("");
    // Some servers send both members, with the same text.
    out.reasoning(thought.isEmpty() ? delta.path("reasoning").asString("") : thought);
    if (reader.dialect().privateReasoning() != PrivateReasoning.NONE) {
      reasoning.add(delta);
    }
    texts(delta.path("content"), out);
    refused |= texts(delta.path("refusal"), out);
    for (JsonNode call : ChatResponse.calls(failures, headers, delta.path("tool_calls"))) {
      JsonNode function = call.path("function");
      calls.fragment(
          call.path("index"),
          call.path("id"),
          function.path("name"),
          function.path("arguments"),
          event);
    }
    String reason = ChatResponse.reason(choice);
    finishReason = reason == null ? finishReason : reason;
    String raw = ChatResponse.raw(choice);
    rawReason = raw == null ? rawReason : raw;
    counters(choice.path("usage"), out);
  }

  /** Says whether there was text. */
  private boolean texts(JsonNode content, Teller out) throws InterruptedException {
    int before = text.length();
    for (String piece : ChatResponse.texts(failures, headers, content)) {
      text.append(piece);
      out.text(piece);
    }
    return text.length() > before;
  }

  @Override
  public Optional<ModelResponse> end() {
    if (finishReason == null) {
      return Optional.empty();
    }
    List<Part> parts = new ArrayList<>();
    reader
        .dialect()
        .privateReasoning()
        .read(reader.modelId(), reasoning.message())
        .ifPresent(parts::add);
    if (!text.isEmpty()) {
      parts.add(new Part.Text(text.toString()));
    }
    parts.addAll(calls.calls());
    return Optional.of(
        new ModelResponse(
            new Message(Role.ASSISTANT, parts),
            ChatResponse.finish(finishReason, rawReason, refused),
            reader.usage(usage),
            failures.requestId(headers)));
  }
}
