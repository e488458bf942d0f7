package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.adapters.http.BodyType;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.WireModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;

/** A model that is spoken to in Responses. Source of the format: OpenAI's API reference. */
public final class ResponsesModel extends WireModel {
  private static final String PATH = "/responses";

  private final ResponsesRequest request;

  /**
   * Makes a model; contacts nothing.
   *
   * @param connection the way to the provider
   * @param modelId the provider's id of the model
   * @param facts what is known of it
   * @param dialect how the vendor speaks
   */
  public ResponsesModel(
      Connection connection, String modelId, ModelFacts facts, ResponsesDialect dialect) {
    super(connection, modelId, facts);
    this.request = new ResponsesRequest(dialect, modelId, facts);
  }

  @Override
  public boolean mayAct(ModelCall call) {
    return HostedTools.mayAct(call);
  }

  /** A model that answers in streams only is streamed, and nobody is told. */
  @Override
  protected ModelResponse whole(ModelCall call) throws InterruptedException {
    if (facts.has(ModelTrait.STREAMS_ONLY)) {
      return stream(call, event -> {});
    }
    byte[] body = request.body(call);
    try {
      return connection.post(PATH, body, reader(call));
    } catch (ProviderException e) {
      throw judged(e, call, new OutputItems());
    }
  }

  @Override
  protected ModelResponse pieces(ModelCall call, Events events) throws InterruptedException {
    byte[] body = request.streamed(call);
    ResponsesReader reader = reader(call);
    OutputItems shown = new OutputItems();
    try {
      return connection.stream(
          PATH,
          body,
          BodyType.EVENTS,
          EventStream.of(
              failures(), events, headers -> new ResponsesStream(reader, headers, shown)));
    } catch (ProviderException e) {
      throw judged(e, call, shown);
    }
  }

  private ResponsesReader reader(ModelCall call) {
    return new ResponsesReader(failures(), modelId, call);
  }

  /** A failure must not repeat what the provider's own tools may have done already. */
  private ProviderException judged(ProviderException e, ModelCall call, OutputItems shown) {
    boolean mayHaveActed =
        switch (e.kind()) {
          case PROVIDER_EVENT, CONTEXT_LENGTH, TOOL_CALL -> false; // the reader has decided
          case UNSUPPORTED -> false; // not sent
          case READ, PROTOCOL, HTTP_STATUS, CONNECT, TIMEOUT, OTHER ->
              HostedTools.mayHaveActed(shown.output()) || HostedTools.mayHaveActed(call, e);
        };
    return mayHaveActed ? failures().hostedTool(e, true) : e;
  }
}
