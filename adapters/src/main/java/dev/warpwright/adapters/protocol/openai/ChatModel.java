package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.BodyType;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.WireModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;

/** A model that is spoken to in Chat Completions. Source of the format: OpenAI's API reference. */
public final class ChatModel extends WireModel {
  private final ChatDialect dialect;
  private final ChatRequest request;
  private final String path;
  private final String streamPath;

  /**
   * Makes a model; contacts nothing.
   *
   * @param connection the way to the provider
   * @param modelId the provider's id of the model
   * @param facts what is known of it
   * @param dialect how the vendor speaks
   * @throws dev.warpwright.model.InvalidRequestException if the id cannot be part of its path
   */
  public ChatModel(Connection connection, String modelId, ModelFacts facts, ChatDialect dialect) {
    super(connection, modelId, facts);
    this.dialect = dialect;
    this.request = new ChatRequest(dialect, modelId, facts);
    this.path = dialect.path().of(modelId, false);
    this.streamPath = dialect.path().of(modelId, true);
  }

  @Override
  public boolean mayAct(ModelCall call) {
    return HostedTools.mayAct(call);
  }

  @Override
  protected ModelResponse whole(ModelCall call) throws InterruptedException {
    byte[] body = request.body(call);
    try {
      return connection.post(path, body, reader(call));
    } catch (ProviderException e) {
      throw judged(e, call);
    }
  }

  @Override
  protected ModelResponse pieces(ModelCall call, Events events) throws InterruptedException {
    byte[] body = request.streamed(call);
    try {
      return connection.stream(
          streamPath,
          body,
          BodyType.EVENTS,
          EventStream.of(failures(), events, headers -> new ChatStream(reader(call), headers)));
    } catch (ProviderException e) {
      throw judged(e, call);
    }
  }

  /** What tools of the vendor have done this protocol does not show: what was offered decides. */
  private ProviderException judged(ProviderException e, ModelCall call) {
    return HostedTools.mayHaveActed(call, e) ? failures().hostedTool(e, true) : e;
  }

  private ChatResponse reader(ModelCall call) {
    return new ChatResponse(failures(), dialect, modelId, call);
  }
}
