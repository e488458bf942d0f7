package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.http.ErrorObject;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.CallAssembler;
import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.adapters.wire.Counters;
import dev.warpwright.adapters.wire.StreamEvent;
import dev.warpwright.adapters.wire.StreamReader;
import dev.warpwright.adapters.wire.Teller;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
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
  private final Failures failures;
  private final HttpHeaders headers;
  private final CallAssembler calls;
  private final StringBuilder text = new StringBuilder();
  private final ObjectNode usage = StrictJson.mapper().createObjectNode();
  private boolean refused;
  private @Nullable String finishReason;

  ChatStream(Failures failures, ModelCall call, HttpHeaders headers) {
    this.failures = failures;
    this.headers = headers;
    this.calls = new CallAssembler(failures, headers, call, "arguments");
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
    if (chunk.path("usage").isObject()) {
      Counters.update(usage, chunk.path("usage"));
      out.counters(TokenUsage.ofChat(usage));
    }
    return true;
  }

  private void choice(JsonNode choice, StreamEvent event, Teller out) throws InterruptedException {
    Optional<ErrorObject> error = ErrorObject.in(choice);
    if (error.isPresent()) {
      throw failures.event(error.get(), headers);
    }
    JsonNode delta = choice.path("delta");
    String reasoning = delta.path("reasoning_content").asString("");
    // Some servers send both members, with the same text.
    out.reasoning(reasoning.isEmpty() ? delta.path("reasoning").asString("") : reasoning);
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
    String reason = CallReader.text(choice.path("finish_reason"));
    finishReason = reason == null ? finishReason : reason;
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
    if (!text.isEmpty()) {
      parts.add(new Part.Text(text.toString()));
    }
    parts.addAll(calls.calls());
    return Optional.of(
        new ModelResponse(
            new Message(Role.ASSISTANT, parts),
            ChatResponse.finish(finishReason, refused),
            TokenUsage.ofChat(usage),
            failures.requestId(headers)));
  }
}
