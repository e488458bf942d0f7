package dev.warpwright.adapters.ollama;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.BodyType;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.WireModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;

/** A model that is spoken to in Ollama's chat. */
final class OllamaModel extends WireModel {
  private static final String API = "/api";
  private static final String CHAT = "/chat";

  private final String path;

  OllamaModel(Connection connection, String modelId, ModelFacts facts) {
    super(connection, modelId, facts);
    this.path = connection.base().getPath().endsWith(API) ? CHAT : API + CHAT;
  }

  @Override
  public ModelResponse generate(ModelCall call) throws InterruptedException {
    return connection.post(
        path,
        OllamaRequest.body(modelId, call),
        answer -> OllamaResponse.read(failures(), modelId, call, answer));
  }

  @Override
  public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
    return connection.stream(
        path,
        OllamaRequest.streamed(modelId, call),
        BodyType.LINES,
        EventStream.ofLines(
            failures(), events, headers -> new OllamaStream(failures(), modelId, call, headers)));
  }
}
