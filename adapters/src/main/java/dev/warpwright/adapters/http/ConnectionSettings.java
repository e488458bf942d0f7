package dev.warpwright.adapters.http;

import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What the builder of every adapter collects about its connection, and the rules for it. A builder
 * hands its values on and says to its users what they mean. Not thread-safe.
 */
public final class ConnectionSettings {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  private final Defaults defaults;
  private final UnaryOperator<String> environmentUrl;
  private final Map<String, String> headers = new LinkedHashMap<>();
  private @Nullable Function<InstantSource, Authorization> authorization;
  private @Nullable String apiKey;
  private @Nullable URI baseUrl;
  private @Nullable Duration connectTimeout;
  private @Nullable HttpClient httpClient;
  private @Nullable EnvironmentLookup environment;
  private @Nullable String environmentKey;
  private @Nullable String environmentBaseUrl;
  private boolean allowCleartext;
  private PublicAddresses.@Nullable Resolver onlyPublic;
  private InstantSource clock = InstantSource.system();

  /**
   * What is particular to a provider.
   *
   * @param provider its name in messages
   * @param baseUrl its own base URL
   * @param keyVariable the variable of the environment that holds a key
   * @param baseUrlVariable the variable of the environment that holds a base URL
   * @param keyHeader the header that carries a key
   * @param keyPrefix what stands before the key there
   * @param environmentPath a path that is added to a base URL of the environment unless it ends so,
   *     for providers whose own programs expect it without; empty for none
   */
  public record Defaults(
      String provider,
      URI baseUrl,
      String keyVariable,
      String baseUrlVariable,
      String keyHeader,
      String keyPrefix,
      String environmentPath) {
    /** What stands before a key that is sent as a bearer token. */
    public static final String BEARER = "Bearer ";

    /**
     * A provider that takes its key as a bearer token, and whose base URL is in the environment as
     * it is used.
     *
     * @param provider its name in messages
     * @param baseUrl its own base URL
     * @param keyVariable the variable of the environment that holds a key
     * @param baseUrlVariable the variable of the environment that holds a base URL
     * @return the defaults
     */
    public static Defaults bearer(
        String provider, URI baseUrl, String keyVariable, String baseUrlVariable) {
      return new Defaults(
          provider, baseUrl, keyVariable, baseUrlVariable, "Authorization", BEARER, "");
    }

    /**
     * Whether it is a server that people run themselves, since its own URL is cleartext: it needs
     * no key, and as long as none is sent, cleartext may go to any host.
     */
    boolean isSelfHosted() {
      return "http".equals(baseUrl.getScheme());
    }
  }

  /**
   * Nothing set yet.
   *
   * @param defaults what is particular to the provider
   */
  public ConnectionSettings(Defaults defaults) {
    this(defaults, UnaryOperator.identity());
  }

  /**
   * Nothing set yet.
   *
   * @param defaults what is particular to the provider
   * @param environmentUrl makes a URL of what the provider's own programs take for one in the
   *     variable of the environment
   */
  public ConnectionSettings(Defaults defaults, UnaryOperator<String> environmentUrl) {
    this.defaults = defaults;
    this.environmentUrl = environmentUrl;
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
   * Sets what requests prove their right with, in place of a key.
   *
   * @param proof makes it, with the clock by which tokens expire
   */
  public void authorization(Function<InstantSource, Authorization> proof) {
    this.authorization = Objects.requireNonNull(proof, "authorization");
  }

  /**
   * Adds a header to every request; one that is there already gets another value.
   *
   * @param name a header's name, of letters, digits and hyphens; not one that the adapter itself or
   *     the JDK's client sets
   * @param value visible ASCII characters and spaces
   */
  public void header(String name, String value) {
    HeaderValues.requireName(name);
    headers.put(name, HeaderValues.requireText("header " + name, value));
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

  /** Refuses hosts with an address that is not public, each time one is called. */
  public void publicHostsOnly() {
    publicHostsOnly(InetAddress::getAllByName);
  }

  void publicHostsOnly(PublicAddresses.Resolver resolver) {
    this.onlyPublic = resolver;
  }

  /**
   * Reads the provider's variables, now; what is set otherwise wins.
   *
   * @param environment where they stand; blank ones count as not set
   */
  public void fromEnvironment(EnvironmentLookup environment) {
    this.environment = environment;
    this.environmentKey = nonBlank(environment.get(defaults.keyVariable()));
    this.environmentBaseUrl = nonBlank(environment.get(defaults.baseUrlVariable()));
  }

  /**
   * A variable beside the key and the base URL.
   *
   * @param name its name
   * @return its value; empty if it is not set or blank, or the environment was not to be read
   */
  public Optional<String> variable(String name) {
    return Optional.ofNullable(environment == null ? null : nonBlank(environment.get(name)));
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
   * Whether anything proves the right to call.
   *
   * @return true if a key or another authorization is set
   */
  public boolean hasCredential() {
    return authorization != null || key().isPresent();
  }

  /**
   * Whether the provider itself is to be called, and nothing proves the right to.
   *
   * @return false for another server, which may need nothing
   */
  public boolean lacksCredential() {
    return !hasCredential() && !defaults.isSelfHosted() && base().equals(defaults.baseUrl());
  }

  /**
   * Makes the connection; contacts nothing.
   *
   * @param own the protocol's own headers, checked
   * @param table what the protocol calls its failures
   * @return the connection
   * @throws dev.warpwright.model.InvalidRequestException if a value breaks its rule
   */
  public Connection connect(Map<String, String> own, ErrorTable table) {
    URI base = base();
    Optional<String> key = key();
    boolean cleartext = allowCleartext || (!hasCredential() && defaults.isSelfHosted());
    Endpoint endpoint = Endpoint.of(base, cleartext);
    if (lacksCredential()) {
      throw Refusal.configuration(
          "%1$s needs an API key: call apiKey(…), or fromEnvironment() with %2$s set. For a compatible server that needs none, set its baseUrl(…)."
              .formatted(defaults.provider(), defaults.keyVariable()));
    }
    if (authorization != null && apiKey != null) {
      throw Refusal.configuration(
          "%s takes an API key or another authorization, but both are set; leave one out."
              .formatted(defaults.provider()));
    }
    Authorization proof =
        authorization == null
            ? Authorization.header(defaults.keyHeader(), key, defaults.keyPrefix())
            : authorization.apply(clock);
    Map<String, String> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    all.putAll(headers);
    all.putAll(own);
    return new Connection(
        endpoint,
        all,
        proof,
        Optional.ofNullable(onlyPublic).map(PublicAddresses::new),
        transport(),
        new Failures(table, clock, proof));
  }

  private URI base() {
    if (baseUrl != null) {
      return baseUrl;
    }
    if (environmentBaseUrl == null) {
      return defaults.baseUrl();
    }
    String text = environmentUrl.apply(environmentBaseUrl);
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
    boolean set = apiKey != null || environmentKey != null || authorization != null;
    return "key " + (set ? "set" : "not set");
  }
}
