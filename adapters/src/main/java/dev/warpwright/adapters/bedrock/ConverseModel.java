package dev.warpwright.adapters.bedrock;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.BodyType;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.wire.BinaryEventReader;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.FamilyRules;
import dev.warpwright.adapters.wire.UriCoding;
import dev.warpwright.adapters.wire.WireModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;

/**
 * A model that is spoken to in Converse. Source of the format: Amazon Bedrock's API reference,
 * Converse and ConverseStream.
 */
final class ConverseModel extends WireModel {
  private final String path;

  ConverseModel(Connection connection, String modelId, ModelFacts facts) {
    super(connection, modelId, facts);
    this.path = "/model/" + UriCoding.segment(modelId);
  }

  @Override
  protected ModelResponse whole(ModelCall call) throws InterruptedException {
    FamilyRules.checkChoice(call, facts);
    return connection.post(
        path + "/converse",
        ConverseRequest.body(modelId, call),
        answer -> ConverseResponse.read(failures(), modelId, call, answer));
  }

  @Override
  protected ModelResponse pieces(ModelCall call, Events events) throws InterruptedException {
    FamilyRules.checkChoice(call, facts);
    return connection.stream(
        path + "/converse-stream",
        ConverseRequest.body(modelId, call),
        BodyType.BINARY_EVENTS,
        EventStream.of(
            failures(),
            events,
            BinaryEventReader::new,
            headers -> new ConverseStream(failures(), modelId, call, headers)));
  }
}
