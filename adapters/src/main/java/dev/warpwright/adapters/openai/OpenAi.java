package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.adapters.http.EnvironmentLookup;
import dev.warpwright.adapters.protocol.openai.ChatModel;
import dev.warpwright.adapters.protocol.openai.OpenAiErrors;
import dev.warpwright.adapters.protocol.openai.ResponsesModel;
import dev.warpwright.adapters.wire.ConnectedAdapter;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ToolHistory;
import java.net.URI;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * OpenAI, and every vendor and server that speaks one of its two protocols.
 *
 * <pre>{@code
 * var openAi = OpenAi.builder().apiKey(key).build();
 * var local = OpenAi.builder().baseUrl(URI.create("http://localhost:8000/v1")).build();
 * }</pre>
 *
 * <p>In Chat Completions, reasoning that a compatible server shows ({@code reasoning_content} or
 * {@code reasoning}) is told while it comes, and is no part of the answer.
 *
 * <p>In Responses nothing is stored at the provider: every call carries the whole conversation,
 * with {@code store} false. What a model reasons comes back encrypted, if the call asks for
 * reasoning or the model is declared to have {@link dev.warpwright.model.Capability#REASONING}. It
 * is kept in the answer as {@link dev.warpwright.model.ProviderState}, in its place and byte for
 * byte, and replayed to the same model only, together with the text or call that followed it. The
 * last event of a stream repeats the whole answer.
 *
 * <p>Tools that the vendor runs itself are asked for with the provider options of a request: their
 * {@code tools} stand before those of the call. What became of such tools is private state too. A
 * failure behind which one may have acted has the kind TOOL_CALL and is never repeated: one with
 * such a call in its answer, or, where no answer came or one broke off, one of a request that
 * offered such a tool. Searching and drawing count as without effects.
 */
public final class OpenAi {
  private OpenAi() {}

  /**
   * Begins an adapter for OpenAI itself, or a server that speaks as it does.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects what an adapter needs; not thread-safe. */
  public static final class Builder extends AdapterBuilder<Builder> {
    private static final ConnectionSettings.Defaults DEFAULTS =
        ConnectionSettings.Defaults.bearer(
            "OpenAI", URI.create("https://api.openai.com/v1"), "OPENAI_API_KEY", "OPENAI_BASE_URL");

    private static final ModelCapabilities TEXT_AND_TOOLS =
        ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.JSON);

    private final ConnectionSettings settings;
    private Api api = Api.CHAT;

    private Builder() {
      this(new ConnectionSettings(DEFAULTS));
    }

    private Builder(ConnectionSettings settings) {
      super(settings);
      this.settings = settings;
    }

    @Override
    protected Builder self() {
      return this;
    }

    Builder fromEnvironment(EnvironmentLookup environment) {
      settings.fromEnvironment(environment);
      return this;
    }

    Builder clock(InstantSource clock) {
      settings.clock(clock);
      return this;
    }

    /**
     * Sets the protocol; {@link Api#CHAT} by default.
     *
     * @param api the protocol
     * @return this builder
     */
    public Builder api(Api api) {
      this.api = Objects.requireNonNull(api, "api");
      return this;
    }

    @Override
    public HttpAdapter build() {
      Connection connection = settings.connect(Map.of(), OpenAiErrors.TABLE);
      Function<String, ModelFacts> facts = facts("openai", TEXT_AND_TOOLS);
      return new ConnectedAdapter(
          "OpenAi",
          connection,
          switch (api) {
            case CHAT -> id -> new ChatModel(connection, id, facts.apply(id));
            case RESPONSES -> id -> new ResponsesModel(connection, id, facts.apply(id));
          });
    }
  }
}
