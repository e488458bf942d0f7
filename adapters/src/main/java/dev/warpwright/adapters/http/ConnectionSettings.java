package dev.warpwright.adapters.http;

import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the builder of every adapter collects about its connection, and the rules for it. A builder
 * hands its values on and says to its users what they mean. Not thread-safe.
 */
public final class ConnectionSettings {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  private final Defaults defaults;
  private @Nullable String apiKey;
  private @Nullable URI baseUrl;
  private @Nullable Duration connectTimeout;
  private @Nullable HttpClient httpClient;
  private @Nullable String environmentKey;
  private @Nullable String environmentBaseUrl;
  private boolean allowCleartext;
  private InstantSource clock = InstantSource.system();

  /**
   * What is particular to a provider.
   *
   * @param provider its name in messages
   * @param baseUrl its own base URL
   * @param keyVariable the variable of the environment that holds a key
   * @param baseUrlVariable the variable of the environment that holds a base URL
   * @param environmentPath a path that is added to a base URL of the environment unless it ends so,
   *     for providers whose own programs expect it without; empty for none
   */
  public record Defaults(
      String provider,
      URI baseUrl,
      String keyVariable,
      String baseUrlVariable,
      String environmentPath) {}

  /**
   * Nothing set yet.
   *
   * @param defaults what is particular to the provider
   */
  public ConnectionSettings(Defaults defaults) {
    this.defaults = defaults;
  }

  /**
   * Sets the API key.
   *
   * @param key visible ASCII characters
   */
  public void apiKey(String key) {
    this.apiKey = HeaderValues.requireToken("apiKey", key);
  }

  /**
   * Sets the base URL.
   *
   * @param url checked when the connection is made
   */
  public void baseUrl(URI url) {
    this.baseUrl = Objects.requireNonNull(url, "baseUrl");
  }

  /**
   * Sets how long a connection may take to be made.
   *
   * @param timeout a positive time
   */
  public void connectTimeout(Duration timeout) {
    if (!timeout.isPositive()) {
      throw Refusal.configuration("connectTimeout must be more than 0, but is " + timeout + ".");
    }
    this.connectTimeout = timeout;
  }

  /**
   * Lends a client.
   *
   * @param client one that follows no redirects
   */
  public void httpClient(HttpClient client) {
    this.httpClient = Objects.requireNonNull(client, "httpClient");
  }

  /** Allows {@code http://} to hosts other than the loopback. */
  public void allowCleartext() {
    this.allowCleartext = true;
  }

  /**
   * Reads the provider's variables, now; what is set otherwise wins.
   *
   * @param environment where they stand; blank ones count as not set
   */
  public void fromEnvironment(EnvironmentLookup environment) {
    this.environmentKey = nonBlank(environment.get(defaults.keyVariable()));
    this.environmentBaseUrl = nonBlank(environment.get(defaults.baseUrlVariable()));
  }

  private static @Nullable String nonBlank(@Nullable String text) {
    return text == null || text.isBlank() ? null : text;
  }

  /**
   * Sets the clock by which points in time in answers become waits.
   *
   * @param source the wall clock
   */
  public void clock(InstantSource source) {
    this.clock = source;
  }

  /**
   * The key.
   *
   * @return the key that was set, else that of the environment
   */
  public Optional<String> key() {
    if (apiKey != null || environmentKey == null) {
      return Optional.ofNullable(apiKey);
    }
    return Optional.of(HeaderValues.requireToken(defaults.keyVariable(), environmentKey));
  }

  /**
   * Makes the connection; contacts nothing.
   *
   * @param headers the protocol's own headers, checked
   * @param table what the protocol calls its failures
   * @return the connection
   * @throws dev.warpwright.model.InvalidRequestException if a value breaks its rule
   */
  public Connection connect(Map<String, String> headers, ErrorTable table) {
    URI base = base();
    Endpoint endpoint = Endpoint.of(base, allowCleartext);
    if (key().isEmpty() && base.equals(defaults.baseUrl())) {
      throw Refusal.configuration(
          "%1$s needs an API key: call apiKey(…), or fromEnvironment() with %2$s set. For a compatible server that needs none, set its baseUrl(…)."
              .formatted(defaults.provider(), defaults.keyVariable()));
    }
    return new Connection(endpoint, headers, transport(), new Failures(table, clock, key()));
  }

  private URI base() {
    if (baseUrl != null) {
      return baseUrl;
    }
    if (environmentBaseUrl == null) {
      return defaults.baseUrl();
    }
    String text = environmentBaseUrl;
    while (text.endsWith("/")) {
      text = text.substring(0, text.length() - 1);
    }
    String path = defaults.environmentPath();
    try {
      return URI.create(text.endsWith(path) ? text : text + path);
    } catch (IllegalArgumentException _) {
      throw Refusal.configuration(defaults.baseUrlVariable() + " is no URL.");
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
    return "key " + (apiKey != null || environmentKey != null ? "set" : "not set");
  }
}
