package dev.warpwright.adapters.protocol.anthropic;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.BodyType;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.FamilyRules;
import dev.warpwright.adapters.wire.WireModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;

/**
 * A model that is spoken to in Messages. Source of the format: Anthropic's API reference, version
 * 2023-06-01.
 */
public final class MessagesModel extends WireModel {
  private final MessagesService service;
  private final Thinking thinking;

  /**
   * Makes a model; contacts nothing.
   *
   * @param service where it is asked
   * @param connection the way to the provider
   * @param modelId the provider's id of the model
   * @param facts what is known of it
   * @param thinking how it thinks in calls that say nothing about it
   */
  public MessagesModel(
      MessagesService service,
      Connection connection,
      String modelId,
      ModelFacts facts,
      Thinking thinking) {
    super(connection, modelId, facts);
    this.service = service;
    this.thinking = thinking;
  }

  @Override
  protected ModelResponse whole(ModelCall call) throws InterruptedException {
    FamilyRules.checkChoice(call, facts);
    return connection.post(
        service.path(),
        MessagesRequest.body(service, modelId, call, thinking),
        answer -> MessagesResponse.read(failures(), modelId, call, answer));
  }

  @Override
  protected ModelResponse pieces(ModelCall call, Events events) throws InterruptedException {
    FamilyRules.checkChoice(call, facts);
    return connection.stream(
        service.streamPath(),
        MessagesRequest.streamed(service, modelId, call, thinking),
        BodyType.EVENTS,
        EventStream.of(
            failures(), events, headers -> new MessagesStream(failures(), modelId, call, headers)));
  }
}
