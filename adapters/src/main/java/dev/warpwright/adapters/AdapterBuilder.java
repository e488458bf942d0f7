package dev.warpwright.adapters;

import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.model.ModelCapabilities;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the builders of all adapters have in common: one account, one way to it. Each provider's
 * builder adds what is particular to it; only this library can make others. Not thread-safe.
 *
 * @param <B> the builder itself
 */
public abstract class AdapterBuilder<B extends AdapterBuilder<B>> {
  /** Collects what is said about the connection. */
  @SuppressWarnings("exports") // only this library's builders see it
  protected final ConnectionSettings settings;

  private @Nullable Function<String, ModelCapabilities> declared;
  private @Nullable ModelFile models;

  /**
   * Begins with nothing set.
   *
   * @param settings collects what is said about the connection
   */
  @SuppressWarnings("exports") // which keeps this class to this library
  protected AdapterBuilder(ConnectionSettings settings) {
    this.settings = settings;
  }

  /**
   * This builder.
   *
   * @return itself
   */
  protected abstract B self();

  /**
   * Makes the adapter; contacts nothing.
   *
   * @return the adapter
   * @throws dev.warpwright.model.InvalidRequestException if a value breaks its rule; the message
   *     says what to do and shows no secret
   */
  public abstract HttpAdapter build();

  /**
   * Sets the API key, sent in the header that the provider wants. A compatible server may need
   * none.
   *
   * @param apiKey the key, visible ASCII characters
   * @return this builder
   */
  public final B apiKey(String apiKey) {
    settings.apiKey(apiKey);
    return self();
  }

  /**
   * Sets where access tokens come from, which are sent as bearer tokens in place of a key.
   *
   * @param tokens fetches a token when one is needed
   * @return this builder
   */
  public final B tokens(TokenSource tokens) {
    Objects.requireNonNull(tokens, "tokens");
    settings.authorization(clock -> new BearerTokens(tokens, clock));
    return self();
  }

  /**
   * Sets the base URL, to which the protocol's path is added; by default the provider's own.
   *
   * @param baseUrl absolute, without user-info, query and fragment; {@code http} only to the
   *     loopback unless {@link #allowCleartext()}
   * @return this builder
   */
  public final B baseUrl(URI baseUrl) {
    settings.baseUrl(baseUrl);
    return self();
  }

  /**
   * Adds a header to every request, such as the id of a project.
   *
   * @param name 1 to 100 letters, digits and hyphens; not a header that the adapter or the HTTP
   *     client sets, of which those that prove the right and name a version win
   * @param value visible ASCII characters and spaces; it is never logged, but is no place for a
   *     secret, which {@link #apiKey} hides in what servers echo
   * @return this builder
   */
  public final B header(String name, String value) {
    settings.header(name, value);
    return self();
  }

  /**
   * Declares what each model can do, in place of what is known of it; its efforts and its own rules
   * stay as they are known.
   *
   * <p>No protocol can be asked. Of a model that is not {@linkplain #models(ModelFile) known} an
   * adapter assumes that it takes text and tools, and images, requests to reason and requests for
   * objects go elsewhere. Objects need {@code STRUCTURED_OUTPUT} or {@code JSON_MODE}.
   *
   * @param declared the capabilities of a model id; called for every operation and target, must not
   *     block
   * @return this builder
   */
  public final B capabilities(Function<String, ModelCapabilities> declared) {
    this.declared = Objects.requireNonNull(declared, "declared");
    return self();
  }

  /**
   * Sets what is known of models; by default the {@linkplain ModelFile#supplied() file that this
   * library brings}.
   *
   * @param models the file, in which the provider's models stand under its vendor's id
   * @return this builder
   */
  public final B models(ModelFile models) {
    this.models = Objects.requireNonNull(models, "models");
    return self();
  }

  /**
   * Sets how long a connection may take to be made; 10 seconds by default. Not together with {@link
   * #httpClient(HttpClient)}, which brings its own.
   *
   * @param connectTimeout a positive time
   * @return this builder
   */
  public final B connectTimeout(Duration connectTimeout) {
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
  public final B httpClient(HttpClient httpClient) {
    settings.httpClient(httpClient);
    return self();
  }

  /**
   * Allows {@code http://} to hosts other than the loopback: key and content travel readable.
   *
   * @return this builder
   */
  public final B allowCleartext() {
    settings.allowCleartext();
    return self();
  }

  /**
   * Refuses hosts that have a private, loopback or other special address, for base URLs that come
   * from outside the program: else whoever sets one reaches the program's own network. Names are
   * resolved before each call, which fails with kind OTHER; nothing is sent.
   *
   * <p>It relies on the JVM's cache of names, which is on by default: with {@code
   * networkaddress.cache.ttl} 0 a hostile name server could still show the client another address.
   * A proxy resolves names itself and is outside this check.
   *
   * @return this builder
   */
  public final B publicHostsOnly() {
    settings.publicHostsOnly();
    return self();
  }

  /**
   * Reads the provider's variables from the environment, now: its key and its base URL, as
   * docs/providers.md lists them. Blank ones count as not set; what the program sets itself wins,
   * before or after this.
   *
   * @return this builder
   */
  public final B fromEnvironment() {
    return fromEnvironment(System::getenv);
  }

  /**
   * Reads the provider's variables from elsewhere than the environment, now, such as a file of
   * settings; see {@link #fromEnvironment()}.
   *
   * @param variables gives the value of a variable, null for one that is not set
   * @return this builder
   */
  public final B fromEnvironment(Function<String, @Nullable String> variables) {
    settings.fromEnvironment(variables::apply);
    return self();
  }

  /**
   * Sets the wall clock: by it points in time that a provider names become waits, and tokens end.
   * The system's by default.
   *
   * @param clock the clock
   * @return this builder
   */
  public final B clock(InstantSource clock) {
    settings.clock(clock);
    return self();
  }

  /**
   * What is known of models: what the program declares, before what the file knows, before what the
   * protocol lets one assume.
   *
   * @param vendor under which id the file knows the provider's models
   * @param otherwise what counts for a model of which nothing is known
   * @return the facts of a model id
   */
  protected final Function<String, ModelFacts> facts(String vendor, ModelCapabilities otherwise) {
    ModelFacts unknown = ModelFacts.of(otherwise);
    ModelFile file = models == null ? ModelFile.supplied() : models;
    Function<String, ModelCapabilities> own = declared;
    return modelId -> {
      ModelFacts known = file.facts(vendor, modelId).orElse(unknown);
      return own == null ? known : known.with(own.apply(modelId));
    };
  }

  /** Shows whether there is a key, not the key. */
  @Override
  public final String toString() {
    return getClass().getEnclosingClass().getSimpleName() + ".Builder[" + settings + "]";
  }
}
