package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.BodyType;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.WireModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;

/** A model that is spoken to in Chat Completions. Source of the format: OpenAI's API reference. */
public final class ChatModel extends WireModel {
  private static final String PATH = "/chat/completions";

  /**
   * Makes a model; contacts nothing.
   *
   * @param connection the way to the provider
   * @param modelId the provider's id of the model
   * @param facts what is known of it
   */
  public ChatModel(Connection connection, String modelId, ModelFacts facts) {
    super(connection, modelId, facts);
  }

  @Override
  public ModelResponse generate(ModelCall call) throws InterruptedException {
    return connection.post(
        PATH,
        ChatRequest.body(modelId, call),
        answer -> ChatResponse.read(failures(), call, answer));
  }

  @Override
  public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
    return connection.stream(
        PATH,
        ChatRequest.streamed(modelId, call),
        BodyType.EVENTS,
        EventStream.of(failures(), events, headers -> new ChatStream(failures(), call, headers)));
  }
}
