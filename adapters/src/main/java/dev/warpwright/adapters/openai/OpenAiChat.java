package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.adapters.http.EnvironmentLookup;
import dev.warpwright.adapters.http.HeaderValues;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ToolHistory;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
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
  private static final ConnectionSettings.Defaults DEFAULTS =
      new ConnectionSettings.Defaults(
          "OpenAI",
          URI.create("https://api.openai.com/v1"),
          "OPENAI_API_KEY",
          "OPENAI_BASE_URL",
          "");

  private static final ModelCapabilities TEXT_AND_TOOLS =
      ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.JSON);

  private final Connection connection;
  private final Function<String, ModelCapabilities> capabilities;

  private OpenAiChat(Connection connection, Function<String, ModelCapabilities> capabilities) {
    this.connection = connection;
    this.capabilities = capabilities;
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

  /**
   * How many exchanges with the provider are open: begun, and their answer neither read to its end
   * nor given up. None of a call that has returned is.
   *
   * @return the number at this moment
   */
  public int openExchanges() {
    return connection.openExchanges();
  }

  /** Refuses new calls and aborts open ones; a client that the program supplied stays open. */
  @Override
  public void close() {
    connection.close();
  }

  /** Shows the base URL, no credential. */
  @Override
  public String toString() {
    return "OpenAiChat[" + connection + "]";
  }

  private final class ChatModel implements LanguageModel {
    private final String modelId;

    ChatModel(String modelId) {
      this.modelId = modelId;
    }

    @Override
    public ModelCapabilities capabilities() {
      return capabilities.apply(modelId);
    }

    @Override
    public ModelResponse generate(ModelCall call) throws InterruptedException {
      return connection.post(
          "/chat/completions",
          ChatRequest.body(modelId, call),
          answer -> ChatResponse.read(connection.failures(), call, answer));
    }

    @Override
    public String toString() {
      return "OpenAiChat[" + connection + ", " + modelId + "]";
    }
  }

  /** Collects what an {@link OpenAiChat} needs; not thread-safe. */
  public static final class Builder {
    private final ConnectionSettings settings = new ConnectionSettings(DEFAULTS);
    private Function<String, ModelCapabilities> capabilities = modelId -> TEXT_AND_TOOLS;
    private @Nullable String organization;
    private @Nullable String project;

    private Builder() {}

    /**
     * Sets the API key, sent as a bearer token. A compatible server may need none.
     *
     * @param apiKey the key, visible ASCII characters
     * @return this builder
     */
    public Builder apiKey(String apiKey) {
      settings.apiKey(apiKey);
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
      settings.baseUrl(baseUrl);
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
     * Declares what each model can do. The protocol cannot be asked, and servers that speak it
     * differ; without this every model counts as one that takes text and tools, and images,
     * requests to reason and requests for objects go elsewhere. Objects need {@code
     * STRUCTURED_OUTPUT} (the schema is sent in strict form) or {@code JSON_MODE}.
     *
     * @param declared the capabilities of a model id; called once per operation and target, must
     *     not block
     * @return this builder
     */
    public Builder capabilities(Function<String, ModelCapabilities> declared) {
      this.capabilities = Objects.requireNonNull(declared, "declared");
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
      settings.connectTimeout(connectTimeout);
      return this;
    }

    /**
     * Lends a client, for a proxy or TLS settings of the program's own. It is not closed with the
     * adapter. Give it a virtual-thread executor: the default one keeps a platform thread per call.
     *
     * <p>The JDK's client keeps a connection on which an answer came that is no HTTP open until the
     * client is closed. The adapter replaces its own client then; a lent one it cannot.
     *
     * @param httpClient a client that follows no redirects
     * @return this builder
     */
    public Builder httpClient(HttpClient httpClient) {
      settings.httpClient(httpClient);
      return this;
    }

    /**
     * Allows {@code http://} to hosts other than the loopback: key and content travel readable.
     *
     * @return this builder
     */
    public Builder allowCleartext() {
      settings.allowCleartext();
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

    Builder fromEnvironment(EnvironmentLookup environment) {
      settings.fromEnvironment(environment);
      return this;
    }

    Builder clock(InstantSource clock) {
      settings.clock(clock);
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
      Map<String, String> headers = new LinkedHashMap<>();
      put(headers, "Authorization", settings.key().map(key -> "Bearer " + key).orElse(null));
      put(headers, "OpenAI-Organization", organization);
      put(headers, "OpenAI-Project", project);
      return new OpenAiChat(settings.connect(headers, ChatErrors.TABLE), capabilities);
    }

    private static void put(Map<String, String> headers, String name, @Nullable String value) {
      if (value != null) {
        headers.put(name, value);
      }
    }

    /** Shows whether there is a key, not the key. */
    @Override
    public String toString() {
      return "OpenAiChat.Builder[" + settings + "]";
    }
  }
}
