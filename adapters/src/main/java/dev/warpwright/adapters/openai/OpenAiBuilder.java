package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.adapters.http.EnvironmentLookup;
import dev.warpwright.adapters.http.HeaderValues;
import dev.warpwright.model.ModelCapabilities;
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
 * What the builders of OpenAI's two protocols have in common: one account, one way to it. It is
 * package-private, so each builder shows these methods as its own.
 *
 * @param <B> the builder itself
 */
abstract sealed class OpenAiBuilder<B extends OpenAiBuilder<B>>
    permits OpenAiChat.Builder, OpenAiResponses.Builder {
  private static final ConnectionSettings.Defaults DEFAULTS =
      new ConnectionSettings.Defaults(
          "OpenAI",
          URI.create("https://api.openai.com/v1"),
          "OPENAI_API_KEY",
          "OPENAI_BASE_URL",
          "");

  private static final ModelCapabilities TEXT_AND_TOOLS =
      ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.JSON);

  private final ConnectionSettings settings = new ConnectionSettings(DEFAULTS);
  private Function<String, ModelCapabilities> capabilities = modelId -> TEXT_AND_TOOLS;
  private @Nullable String organization;
  private @Nullable String project;

  OpenAiBuilder() {}

  /** This builder. */
  abstract B self();

  /**
   * Sets the API key, sent as a bearer token. A compatible server may need none.
   *
   * @param apiKey the key, visible ASCII characters
   * @return this builder
   */
  public B apiKey(String apiKey) {
    settings.apiKey(apiKey);
    return self();
  }

  /**
   * Sets the base URL, to which the protocol's path is added; by default OpenAI's, {@code
   * https://api.openai.com/v1}.
   *
   * @param baseUrl absolute, without user-info, query and fragment; {@code http} only to the
   *     loopback unless {@link #allowCleartext()}
   * @return this builder
   */
  public B baseUrl(URI baseUrl) {
    settings.baseUrl(baseUrl);
    return self();
  }

  /**
   * Sets the header {@code OpenAI-Organization}.
   *
   * @param organization the organization's id
   * @return this builder
   */
  public B organization(String organization) {
    this.organization = HeaderValues.requireText("organization", organization);
    return self();
  }

  /**
   * Sets the header {@code OpenAI-Project}.
   *
   * @param project the project's id
   * @return this builder
   */
  public B project(String project) {
    this.project = HeaderValues.requireText("project", project);
    return self();
  }

  /**
   * Declares what each model can do. The protocol cannot be asked, and servers that speak it
   * differ; without this every model counts as one that takes text and tools, and images, requests
   * to reason and requests for objects go elsewhere. Objects need {@code STRUCTURED_OUTPUT} (the
   * schema is sent in strict form) or {@code JSON_MODE}.
   *
   * @param declared the capabilities of a model id; called for every operation and target, must not
   *     block
   * @return this builder
   */
  public B capabilities(Function<String, ModelCapabilities> declared) {
    this.capabilities = Objects.requireNonNull(declared, "declared");
    return self();
  }

  /**
   * Sets how long a connection may take to be made; 10 seconds by default. Not together with {@link
   * #httpClient(HttpClient)}, which brings its own.
   *
   * @param connectTimeout a positive time
   * @return this builder
   */
  public B connectTimeout(Duration connectTimeout) {
    settings.connectTimeout(connectTimeout);
    return self();
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
  public B httpClient(HttpClient httpClient) {
    settings.httpClient(httpClient);
    return self();
  }

  /**
   * Allows {@code http://} to hosts other than the loopback: key and content travel readable.
   *
   * @return this builder
   */
  public B allowCleartext() {
    settings.allowCleartext();
    return self();
  }

  /**
   * Reads {@code OPENAI_API_KEY} and {@code OPENAI_BASE_URL} from the environment, now. Blank ones
   * count as not set; what the program sets itself wins, before or after this.
   *
   * @return this builder
   */
  public B fromEnvironment() {
    return fromEnvironment(System::getenv);
  }

  B fromEnvironment(EnvironmentLookup environment) {
    settings.fromEnvironment(environment);
    return self();
  }

  B clock(InstantSource clock) {
    settings.clock(clock);
    return self();
  }

  Function<String, ModelCapabilities> capabilities() {
    return capabilities;
  }

  Connection connect() {
    Map<String, String> headers = new LinkedHashMap<>();
    settings.key().ifPresent(key -> headers.put("Authorization", "Bearer " + key));
    if (organization != null) {
      headers.put("OpenAI-Organization", organization);
    }
    if (project != null) {
      headers.put("OpenAI-Project", project);
    }
    return settings.connect(headers, OpenAiErrors.TABLE);
  }

  /** Shows whether there is a key, not the key. */
  @Override
  public String toString() {
    return getClass().getEnclosingClass().getSimpleName() + ".Builder[" + settings + "]";
  }
}
