package dev.warpwright.adapters.ollama;

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
 * Ollama's own protocol: models on this machine, on one nearby, or in Ollama's cloud.
 *
 * <pre>{@code
 * var here = Ollama.builder().build();
 * var there = Ollama.builder().baseUrl(URI.create("http://10.0.0.7:11434")).build();
 * var cloud = Ollama.builder().baseUrl(URI.create("https://ollama.com")).apiKey(key).build();
 * }</pre>
 *
 * <p>No key is needed, and as long as none is sent, {@code http://} may go to any host. The base
 * URL is {@code http://localhost:11434} by default and may end with {@code /api} or not. {@code
 * OLLAMA_HOST} is read as Ollama's own client reads it: a host, a port, both, or a URL, and {@code
 * 0.0.0.0} as the loopback. {@code OLLAMA_API_KEY} holds a key.
 *
 * <p>What the protocol cannot do is refused before anything is sent: to demand that a tool is
 * called, to show a picture by its URL, to reason within a budget of tokens. A tool's schema may
 * not refer to itself.
 *
 * <p>An effort of reasoning is sent as {@code think}. Without one a model that can think does. What
 * it thinks is told while it comes, kept in the answer as {@link
 * dev.warpwright.model.ProviderState}, and replayed to the same model.
 *
 * <p>The server's own settings go with the provider options of a request, such as {@code
 * {"keep_alive": "10m", "options": {"num_ctx": 8192}}}. A server cuts off the oldest messages of a
 * conversation that is too long, and says nothing; with {@code "truncate": false} the call fails
 * with CONTEXT_LENGTH instead.
 *
 * <p>An error that comes without a status counts as 500, as the server means it. Source of the
 * format: Ollama's API reference and its {@code api} package.
 */
public final class Ollama {
  private static final ConnectionSettings.Defaults DEFAULTS =
      ConnectionSettings.Defaults.bearer(
          "Ollama", URI.create("http://localhost:11434"), "OLLAMA_API_KEY", OllamaHost.VARIABLE);

  private Ollama() {}

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
      super(new ConnectionSettings(DEFAULTS, OllamaHost::url));
    }

    @Override
    protected Builder self() {
      return this;
    }

    @Override
    public HttpAdapter build() {
      Connection connection = settings.connect(Map.of(), OllamaErrors.TABLE);
      Function<String, ModelFacts> facts = facts("ollama", ModelCapabilities.TEXT_AND_TOOLS);
      return new ConnectedAdapter(
          "Ollama", connection, id -> new OllamaModel(connection, id, facts.apply(id)));
    }
  }
}
