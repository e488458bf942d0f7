package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.http.Endpoint;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.http.HeaderValues;
import dev.warpwright.adapters.http.JsonExchange;
import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.adapters.http.Transport;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderAdapter;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The OpenAI Chat Completions protocol: OpenAI itself and every server that speaks it.
 *
 * <pre>{@code
 * var openAi = OpenAiChat.builder().apiKey(key).build();
 * var local = OpenAiChat.builder().baseUrl(URI.create("http://localhost:8000/v1")).build();
 * }</pre>
 *
 * <p>Calls block and set no time limit of their own beyond the connect timeout: an interrupt of the
 * calling thread closes the connection and ends the call. Nothing is retried and no redirect is
 * followed. Cleartext {@code http://} always uses HTTP/1.1. An answer may have 128 MiB, the
 * arguments of one tool call 1 MiB; more is a PROTOCOL failure.
 *
 * <p>How calls fail: see {@link dev.warpwright.model.ProviderException.Kind}. An error object with
 * status 200 counts as its embedded status; an input longer than the context window is recognised
 * by code, and for compatible servers that send none by a closed table of whole messages.
 *
 * <p>Thread-safe; one instance serves any number of calls. {@link #close()} aborts open calls
 * without waiting, and leaves a client alone that the program supplied.
 */
public final class OpenAiChat implements ProviderAdapter {
  private static final URI OPENAI = URI.create("https://api.openai.com/v1");
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  private final Endpoint endpoint;
  private final Map<String, String> headers;
  private final Transport transport;
  private final Failures failures;
  private final JsonExchange exchange;

  private OpenAiChat(
      Endpoint endpoint, Map<String, String> headers, Transport transport, InstantSource clock) {
    this.endpoint = endpoint;
    this.headers = headers;
    this.transport = transport;
    this.failures = new Failures(ChatErrors.TABLE, clock);
    this.exchange = new JsonExchange(transport, failures);
  }

  /**
   * Begins an adapter.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  @Override
  public LanguageModel model(String modelId) {
    return new ChatModel(Objects.requireNonNull(modelId, "modelId"));
  }

  /** Refuses new calls and aborts open ones; a client that the program supplied stays open. */
  @Override
  public void close() {
    transport.close();
  }

  /** Shows the base URL, no credential. */
  @Override
  public String toString() {
    return "OpenAiChat[" + endpoint.base() + "]";
  }

  private final class ChatModel implements LanguageModel {
    private final String modelId;

    ChatModel(String modelId) {
      this.modelId = modelId;
    }

    @Override
    public ModelCapabilities capabilities() {
      return ModelCapabilities.TEXT_AND_TOOLS;
    }

    @Override
    public ModelResponse generate(ModelCall call) throws InterruptedException {
      return exchange.post(
          endpoint.resolve("/chat/completions"),
          headers,
          ChatRequest.body(modelId, call),
          answer -> ChatResponse.read(failures, call, answer));
    }

    @Override
    public String toString() {
      return "OpenAiChat[" + endpoint.base() + ", " + modelId + "]";
    }
  }

  /** Collects what an {@link OpenAiChat} needs; not thread-safe. */
  public static final class Builder {
    private @Nullable String apiKey;
    private @Nullable URI baseUrl;
    private @Nullable String organization;
    private @Nullable String project;
    private @Nullable Duration connectTimeout;
    private @Nullable HttpClient httpClient;
    private @Nullable String environmentKey;
    private @Nullable String environmentBaseUrl;
    private boolean allowCleartext;
    private InstantSource clock = InstantSource.system();

    private Builder() {}

    /**
     * Sets the API key, sent as a bearer token. A compatible server may need none.
     *
     * @param apiKey the key, visible ASCII characters
     * @return this builder
     */
    public Builder apiKey(String apiKey) {
      this.apiKey = HeaderValues.requireToken("apiKey", apiKey);
      return this;
    }

    /**
     * Sets the base URL, to which {@code /chat/completions} is added; by default OpenAI's, {@code
     * https://api.openai.com/v1}.
     *
     * @param baseUrl absolute, without user-info, query and fragment; {@code http} only to the
     *     loopback unless {@link #allowCleartext()}
     * @return this builder
     */
    public Builder baseUrl(URI baseUrl) {
      this.baseUrl = Objects.requireNonNull(baseUrl, "baseUrl");
      return this;
    }

    /**
     * Sets the header {@code OpenAI-Organization}.
     *
     * @param organization the organization's id
     * @return this builder
     */
    public Builder organization(String organization) {
      this.organization = HeaderValues.requireText("organization", organization);
      return this;
    }

    /**
     * Sets the header {@code OpenAI-Project}.
     *
     * @param project the project's id
     * @return this builder
     */
    public Builder project(String project) {
      this.project = HeaderValues.requireText("project", project);
      return this;
    }

    /**
     * Sets how long a connection may take to be made; 10 seconds by default. Not together with
     * {@link #httpClient(HttpClient)}, which brings its own.
     *
     * @param connectTimeout a positive time
     * @return this builder
     */
    public Builder connectTimeout(Duration connectTimeout) {
      if (!connectTimeout.isPositive()) {
        throw Refusal.configuration(
            "connectTimeout must be positive, but is " + connectTimeout + ".");
      }
      this.connectTimeout = connectTimeout;
      return this;
    }

    /**
     * Lends a client, for a proxy or TLS settings of the program's own. It is not closed with the
     * adapter. Give it a virtual-thread executor: the default one keeps a platform thread per call.
     *
     * @param httpClient a client that follows no redirects
     * @return this builder
     */
    public Builder httpClient(HttpClient httpClient) {
      this.httpClient = Objects.requireNonNull(httpClient, "httpClient");
      return this;
    }

    /**
     * Allows {@code http://} to hosts other than the loopback: key and content travel readable.
     *
     * @return this builder
     */
    public Builder allowCleartext() {
      this.allowCleartext = true;
      return this;
    }

    /**
     * Reads {@code OPENAI_API_KEY} and {@code OPENAI_BASE_URL} from the environment, now. Blank
     * ones count as not set; what the program sets itself wins, before or after this.
     *
     * @return this builder
     */
    public Builder fromEnvironment() {
      return fromEnvironment(System::getenv);
    }

    Builder fromEnvironment(NullableLookup environment) {
      this.environmentKey = nonBlank(environment.get("OPENAI_API_KEY"));
      this.environmentBaseUrl = nonBlank(environment.get("OPENAI_BASE_URL"));
      return this;
    }

    private static @Nullable String nonBlank(@Nullable String text) {
      return text == null || text.isBlank() ? null : text;
    }

    Builder clock(InstantSource clock) {
      this.clock = clock;
      return this;
    }

    /**
     * Makes the adapter; contacts nothing.
     *
     * @return the adapter
     * @throws dev.warpwright.model.InvalidRequestException if a value breaks its rule; the message
     *     says what to do and shows no secret
     */
    public OpenAiChat build() {
      URI base = base();
      Endpoint endpoint = Endpoint.of(base, allowCleartext);
      String key = key();
      if (key == null && base.equals(OPENAI)) {
        throw Refusal.configuration(
            "OpenAI needs an API key: call apiKey(…), or fromEnvironment() with OPENAI_API_KEY set."
                + " For a compatible server that needs none, set its baseUrl(…).");
      }
      Map<String, String> headers = new LinkedHashMap<>();
      put(headers, "Authorization", key == null ? null : "Bearer " + key);
      put(headers, "OpenAI-Organization", organization);
      put(headers, "OpenAI-Project", project);
      return new OpenAiChat(endpoint, headers, transport(), clock);
    }

    private URI base() {
      if (baseUrl != null) {
        return baseUrl;
      }
      if (environmentBaseUrl == null) {
        return OPENAI;
      }
      try {
        return URI.create(environmentBaseUrl);
      } catch (IllegalArgumentException _) {
        throw Refusal.configuration("OPENAI_BASE_URL is no URL.");
      }
    }

    private @Nullable String key() {
      if (apiKey != null || environmentKey == null) {
        return apiKey;
      }
      return HeaderValues.requireToken("OPENAI_API_KEY", environmentKey);
    }

    private static void put(Map<String, String> headers, String name, @Nullable String value) {
      if (value != null) {
        headers.put(name, value);
      }
    }

    private Transport transport() {
      if (httpClient == null) {
        return Transport.own(connectTimeout == null ? CONNECT_TIMEOUT : connectTimeout);
      }
      if (connectTimeout != null) {
        throw Refusal.configuration(
            "connectTimeout(…) cannot change a client that was made elsewhere; set it where the"
                + " HttpClient is built, and leave it out here.");
      }
      return Transport.borrow(httpClient);
    }

    /** Shows whether there is a key, not the key. */
    @Override
    public String toString() {
      boolean hasKey = apiKey != null || environmentKey != null;
      return "OpenAiChat.Builder[key " + (hasKey ? "set" : "not set") + "]";
    }
  }

  /** Looks up a variable of the environment. */
  @FunctionalInterface
  interface NullableLookup {
    /** The value, null if the variable is not set. */
    @Nullable String get(String name);
  }
}
