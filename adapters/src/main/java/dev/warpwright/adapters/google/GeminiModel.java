package dev.warpwright.adapters.google;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.BodyType;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.UriCoding;
import dev.warpwright.adapters.wire.WireModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;

/**
 * A model that is spoken to in generateContent. Source of the format: Google's API reference of the
 * Gemini API, v1beta.
 */
final class GeminiModel extends WireModel {
  private static final String PREFIX = "models/";

  private final String path;

  private GeminiModel(Connection connection, String path, String modelId, ModelFacts facts) {
    super(connection, modelId, facts);
    this.path = path;
  }

  /**
   * Makes a model; contacts nothing.
   *
   * @param connection the way to the service
   * @param parent the path of its models, such as {@code /models/}
   * @param id the model's id, also with {@code models/} in front, as the service itself lists it
   * @param facts what is known of it
   * @return the model
   * @throws dev.warpwright.model.InvalidRequestException if the id cannot be part of a path
   */
  static GeminiModel of(Connection connection, String parent, String id, ModelFacts facts) {
    String plain = plain(id);
    return new GeminiModel(connection, parent + segment(plain), plain, facts);
  }

  /** An id without what the service lists it with. */
  static String plain(String id) {
    return id.startsWith(PREFIX) ? id.substring(PREFIX.length()) : id;
  }

  private static String segment(String id) {
    if (id.chars().anyMatch(GeminiModel::partsAPath)) {
      throw Refusal.configuration(
          "A model id must have no /, ?, # or control character, but is \"" + id + "\".");
    }
    return UriCoding.segment(id).replace("%40", "@");
  }

  private static boolean partsAPath(int c) {
    return c == '/' || c == '?' || c == '#' || Character.isISOControl(c);
  }

  @Override
  protected ModelResponse whole(ModelCall call) throws InterruptedException {
    return connection.post(
        path + ":generateContent",
        GeminiRequest.body(modelId, call),
        answer -> GeminiResponse.read(failures(), modelId, call, answer));
  }

  @Override
  protected ModelResponse pieces(ModelCall call, Events events) throws InterruptedException {
    return connection.stream(
        path + ":streamGenerateContent?alt=sse",
        GeminiRequest.body(modelId, call),
        BodyType.EVENTS,
        EventStream.of(
            failures(), events, headers -> new GeminiStream(failures(), modelId, call, headers)));
  }
}
