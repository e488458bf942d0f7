package dev.warpwright.adapters.anthropic;

import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.adapters.http.EnvironmentLookup;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.http.HeaderValues;
import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.ToolHistory;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The Anthropic Messages protocol: Claude, and servers that speak as it does.
 *
 * <pre>{@code
 * var claude = AnthropicMessages.builder().apiKey(key).build();
 * var thinker = AnthropicMessages.builder().fromEnvironment().adaptiveThinking().build();
 * }</pre>
 *
 * <p>The protocol demands a limit of output tokens on every call: 1 024 are sent if the call sets
 * none, the thinking budget and 1 024 with {@link Builder#thinkingBudget}, and 16 384 with {@link
 * Builder#adaptiveThinking}.
 *
 * <p>Its models also tell their answer while it comes ({@link StreamingModel}), thinking included.
 * One event may have 1 048 576 characters.
 *
 * <p>What the model thinks is kept in the answer as {@link dev.warpwright.model.ProviderState}, in
 * its place and byte for byte, and replayed to the same model only; a block without a signature is
 * never sent. A turn that another provider began goes on without a thinking budget.
 *
 * <p>Calls block and set no time limit of their own beyond the connect timeout: an interrupt of the
 * calling thread closes the connection and ends the call. Nothing is retried and no redirect is
 * followed. An answer may have 128 MiB, the arguments of one tool call 1 MiB; more is a PROTOCOL
 * failure. How calls fail: see {@link dev.warpwright.model.ProviderException.Kind}.
 *
 * <p>Thread-safe; one instance serves any number of calls. {@link #close()} aborts open calls
 * without waiting, and leaves a client alone that the program supplied. Source of the format:
 * Anthropic's API reference, version 2023-06-01.
 */
public final class AnthropicMessages implements ProviderAdapter {
  private static final ConnectionSettings.Defaults DEFAULTS =
      new ConnectionSettings.Defaults(
          "Anthropic",
          URI.create("https://api.anthropic.com/v1"),
          "ANTHROPIC_API_KEY",
          "ANTHROPIC_BASE_URL",
          "/v1");

  private static final ModelCapabilities TEXT_AND_TOOLS =
      ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.NATIVE);

  private final Connection connection;
  private final Function<String, ModelCapabilities> capabilities;
  private final Thinking thinking;

  private AnthropicMessages(
      Connection connection, Function<String, ModelCapabilities> capabilities, Thinking thinking) {
    this.connection = connection;
    this.capabilities = capabilities;
    this.thinking = thinking;
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
  public StreamingModel model(String modelId) {
    return new MessagesModel(Objects.requireNonNull(modelId, "modelId"));
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
    return "AnthropicMessages[" + connection + "]";
  }

  private final class MessagesModel implements StreamingModel {
    private final String modelId;

    MessagesModel(String modelId) {
      this.modelId = modelId;
    }

    @Override
    public ModelCapabilities capabilities() {
      return capabilities.apply(modelId);
    }

    @Override
    public ModelResponse generate(ModelCall call) throws InterruptedException {
      return connection.post(
          "/messages",
          MessagesRequest.body(modelId, call, thinking),
          answer -> MessagesResponse.read(connection.failures(), modelId, call, answer));
    }

    @Override
    public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
      Failures failures = connection.failures();
      return connection.stream(
          "/messages",
          MessagesRequest.streamed(modelId, call, thinking),
          EventStream.of(
              failures, events, headers -> new MessagesStream(failures, modelId, call, headers)));
    }

    @Override
    public String toString() {
      return "AnthropicMessages[" + connection + ", " + modelId + "]";
    }
  }

  /** Collects what an {@link AnthropicMessages} needs; not thread-safe. */
  public static final class Builder {
    private final ConnectionSettings settings = new ConnectionSettings(DEFAULTS);
    private Function<String, ModelCapabilities> capabilities = modelId -> TEXT_AND_TOOLS;
    private final Set<String> betas = new LinkedHashSet<>();
    private String version = "2023-06-01";
    private Thinking thinking = new Thinking.Unset();

    private Builder() {}

    /**
     * Sets the API key, sent as {@code x-api-key}. Another server may need none.
     *
     * @param apiKey the key, visible ASCII characters
     * @return this builder
     */
    public Builder apiKey(String apiKey) {
      settings.apiKey(apiKey);
      return this;
    }

    /**
     * Sets the base URL, to which {@code /messages} is added; by default Anthropic's, {@code
     * https://api.anthropic.com/v1}.
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
     * Sets the header {@code anthropic-version}; {@code 2023-06-01} by default.
     *
     * @param version the version
     * @return this builder
     */
    public Builder version(String version) {
      this.version = HeaderValues.requireToken("version", version);
      return this;
    }

    /**
     * Adds features to the header {@code anthropic-beta}.
     *
     * @param features their names; each is sent once, in the order in which they were added
     * @return this builder
     */
    public Builder beta(String... features) {
      for (String feature : features) {
        betas.add(HeaderValues.requireToken("beta", feature));
      }
      return this;
    }

    /**
     * Lets the model think first, within a budget, on every call that asks for no reasoning of its
     * own. Calls then set neither a temperature nor a tool that must be called, and their {@code
     * maxTokens}, if set, is more than the budget: others are refused before anything is sent.
     * Newer models take {@link #adaptiveThinking()} instead.
     *
     * @param tokens 1 024 or more; the provider treats it as a target
     * @return this builder
     */
    public Builder thinkingBudget(int tokens) {
      if (tokens < Thinking.MIN_BUDGET || tokens > Integer.MAX_VALUE / 2) {
        throw Refusal.configuration(
            "thinkingBudget must be between %d and %d tokens, but is %d."
                .formatted(Thinking.MIN_BUDGET, Integer.MAX_VALUE / 2, tokens));
      }
      this.thinking = new Thinking.Budget(tokens);
      return this;
    }

    /**
     * Lets the model decide on every call that asks for no reasoning of its own whether and how
     * much it thinks; takes the place of {@link #thinkingBudget}.
     *
     * @return this builder
     */
    public Builder adaptiveThinking() {
      this.thinking = new Thinking.Adaptive(Optional.empty());
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
     * Reads {@code ANTHROPIC_API_KEY} and {@code ANTHROPIC_BASE_URL} from the environment, now.
     * Blank ones count as not set; what the program sets itself wins, before or after this. The
     * variable holds the URL as Anthropic's own programs expect it, without {@code /v1}: that is
     * added unless it is there.
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
    public AnthropicMessages build() {
      Map<String, String> headers = new LinkedHashMap<>();
      settings.key().ifPresent(key -> headers.put("x-api-key", key));
      headers.put("anthropic-version", version);
      if (!betas.isEmpty()) {
        headers.put("anthropic-beta", String.join(",", betas));
      }
      return new AnthropicMessages(
          settings.connect(headers, MessagesErrors.TABLE), capabilities, thinking);
    }

    /** Shows whether there is a key, not the key. */
    @Override
    public String toString() {
      return "AnthropicMessages.Builder[" + settings + "]";
    }
  }
}
