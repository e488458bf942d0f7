package dev.warpwright.adapters.google;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.adapters.wire.ConnectedAdapter;
import dev.warpwright.model.ModelCapabilities;
import java.net.URI;
import java.util.Map;
import java.util.function.Function;

/**
 * Google's Gemini API.
 *
 * <pre>{@code
 * var gemini = Gemini.builder().apiKey(key).build();
 * }</pre>
 *
 * <p>The key travels in the header {@code x-goog-api-key}, never in a URL. A model's id is sent as
 * the service lists it, with or without {@code models/} in front; one with another slash, or with
 * {@code ?}, {@code #} or a control character, is refused.
 *
 * <p>What the model thinks is told while it comes, if the call asks for reasoning, and is no part
 * of the answer. The signatures of its thoughts, and whether it gave a call its id, are kept in the
 * answer as {@link dev.warpwright.model.ProviderState}, before the part that they belong to, and
 * replayed on that part and to the same model only. A call without an id gets one, which the
 * service never sees: it matches results by name and order.
 *
 * <p>An effort of reasoning is sent as a level of thinking, a budget as a budget; models take the
 * one or the other. An effort of NONE is a budget of 0, which models that always think refuse.
 *
 * <p>Schemas are sent in the service's own form where they have one, else as JSON Schema.
 * References in them are put into their places; a schema that refers to itself is refused before
 * anything is sent. A rule that the service does not check becomes words in a description.
 *
 * <p>{@code GOOGLE_GEMINI_BASE_URL} holds the URL as Google's own programs expect it, without
 * {@code /v1beta}: that is added unless it is there.
 */
public final class Gemini {
  private static final ConnectionSettings.Defaults DEFAULTS =
      new ConnectionSettings.Defaults(
          "Gemini",
          URI.create("https://generativelanguage.googleapis.com/v1beta"),
          "GEMINI_API_KEY",
          "GOOGLE_GEMINI_BASE_URL",
          "x-goog-api-key",
          "",
          "/v1beta");

  private Gemini() {}

  /**
   * Begins an adapter.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects what an adapter needs; not thread-safe. */
  public static final class Builder extends AdapterBuilder<Builder> {

    private Builder() {
      super(new ConnectionSettings(DEFAULTS));
    }

    @Override
    protected Builder self() {
      return this;
    }

    @Override
    public HttpAdapter build() {
      Connection connection = settings.connect(Map.of(), GeminiErrors.table("Gemini"));
      Function<String, ModelFacts> facts = facts("gemini", ModelCapabilities.TEXT_AND_TOOLS);
      return new ConnectedAdapter(
          "Gemini",
          connection,
          id -> GeminiModel.of(connection, "/models/", id, facts.apply(GeminiModel.plain(id))));
    }
  }
}
