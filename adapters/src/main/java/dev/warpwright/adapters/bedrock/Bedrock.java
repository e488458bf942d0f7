package dev.warpwright.adapters.bedrock;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.adapters.wire.ConnectedAdapter;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ToolHistory;
import java.net.URI;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Amazon Bedrock: every model behind its Converse protocol, whole and streamed.
 *
 * <pre>{@code
 * var withKey = Bedrock.builder("us-east-1").apiKey(key).build();
 * var signed =
 *     Bedrock.builder("eu-west-3").credentials(AwsCredentials.of(keyId, secretKey)).build();
 * }</pre>
 *
 * <p>A model's id is that of a model, of an inference profile, or the ARN of either; it becomes one
 * segment of the path. Requests prove their right with an API key of Bedrock, sent as a bearer
 * token, or are signed in AWS's Signature Version 4. The environment's variables are {@code
 * AWS_BEARER_TOKEN_BEDROCK}, else {@code AWS_ACCESS_KEY_ID}, {@code AWS_SECRET_ACCESS_KEY} and
 * {@code AWS_SESSION_TOKEN}; {@code AWS_ENDPOINT_URL_BEDROCK_RUNTIME} holds another base URL. Files
 * and roles are not looked at: see {@link AwsCredentials.Source}.
 *
 * <p>What is particular to the protocol:
 *
 * <ul>
 *   <li>Images travel as their bytes; one that is elsewhere is refused before anything is sent.
 *   <li>The service refuses a conversation in which tools were called whose request declares none.
 *       If tools are forbidden or left out then, those that were called are declared as not
 *       available.
 *   <li>Only Claude models, told by their id, are asked to reason; others through provider options,
 *       in {@code additionalModelRequestFields}. What a model has reasoned is kept in the answer as
 *       {@link dev.warpwright.model.ProviderState}, and replayed to the same model only, byte for
 *       byte; a block without a signature is never sent.
 *   <li>Objects are held to their schema by models that take {@code outputConfig}; declare {@code
 *       STRUCTURED_OUTPUT} for them.
 * </ul>
 */
public final class Bedrock {
  private static final ModelCapabilities TEXT_AND_TOOLS =
      ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.NATIVE);
  private static final Pattern REGION = Pattern.compile("[a-z0-9-]{1,32}");

  private Bedrock() {}

  /**
   * Begins an adapter.
   *
   * @param region the AWS region, such as {@code us-east-1}: where requests go unless a base URL is
   *     set, and what they are signed for
   * @return a builder
   * @throws dev.warpwright.model.InvalidRequestException if it has other than 1 to 32 lower-case
   *     letters, digits and hyphens
   */
  public static Builder builder(String region) {
    if (!REGION.matcher(region).matches()) {
      throw Refusal.configuration(
          "A region must have 1 to 32 lower-case letters, digits and hyphens, such as us-east-1,"
              + " but has "
              + region.length()
              + " characters, others among them or none.");
    }
    return new Builder(region);
  }

  /** Collects what an adapter needs; not thread-safe. */
  public static final class Builder extends AdapterBuilder<Builder> {
    private final String region;

    private Builder(String region) {
      super(
          new ConnectionSettings(
              ConnectionSettings.Defaults.bearer(
                  "Bedrock",
                  URI.create("https://bedrock-runtime." + region + ".amazonaws.com"),
                  "AWS_BEARER_TOKEN_BEDROCK",
                  "AWS_ENDPOINT_URL_BEDROCK_RUNTIME")));
      this.region = region;
    }

    @Override
    protected Builder self() {
      return this;
    }

    /**
     * Signs requests with an access key. Not together with an API key.
     *
     * @param credentials the access key
     * @return this builder
     */
    public Builder credentials(AwsCredentials credentials) {
      Objects.requireNonNull(credentials, "credentials");
      return credentials(() -> credentials);
    }

    /**
     * Signs each request with the access key of that moment, which may change. Not together with an
     * API key.
     *
     * @param source gives the access key; an adapter keeps none
     * @return this builder
     */
    public Builder credentials(AwsCredentials.Source source) {
      Objects.requireNonNull(source, "source");
      SignatureV4 signature = new SignatureV4(region, "bedrock");
      settings.authorization(clock -> new SignedRequests(signature, source, clock));
      return this;
    }

    @Override
    public HttpAdapter build() {
      if (!settings.hasCredential()) {
        ofEnvironment().ifPresent(this::credentials);
      }
      Connection connection = settings.connect(Map.of(), BedrockErrors.TABLE);
      Function<String, ModelFacts> facts = facts("bedrock", TEXT_AND_TOOLS);
      return new ConnectedAdapter(
          "Bedrock", connection, id -> new ConverseModel(connection, id, facts.apply(id)));
    }

    private Optional<AwsCredentials> ofEnvironment() {
      Optional<String> id = settings.variable("AWS_ACCESS_KEY_ID");
      Optional<String> secret = settings.variable("AWS_SECRET_ACCESS_KEY");
      return id.isEmpty() || secret.isEmpty()
          ? Optional.empty()
          : Optional.of(
              new AwsCredentials(id.get(), secret.get(), settings.variable("AWS_SESSION_TOKEN")));
    }
  }
}
