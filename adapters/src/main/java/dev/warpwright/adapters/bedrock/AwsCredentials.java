package dev.warpwright.adapters.bedrock;

import dev.warpwright.adapters.http.HeaderValues;
import java.io.IOException;
import java.util.Objects;
import java.util.Optional;

/**
 * An access key of AWS, with which requests are signed. Its text shows neither half.
 *
 * @param accessKeyId the public half
 * @param secretAccessKey the secret half, which never leaves the process
 * @param sessionToken what is sent beside temporary keys
 */
public record AwsCredentials(
    String accessKeyId, String secretAccessKey, Optional<String> sessionToken) {
  /**
   * Where credentials come from.
   *
   * <p>The AWS SDK's chain of providers (profiles, single sign-on, container and instance roles) is
   * one:
   *
   * <pre>{@code
   * var chain = DefaultCredentialsProvider.builder().build(); // software.amazon.awssdk:auth
   * var bedrock =
   *     Bedrock.builder("eu-west-3")
   *         .credentials(
   *             () -> {
   *               var keys = chain.resolveCredentials();
   *               return keys instanceof AwsSessionCredentials session
   *                   ? AwsCredentials.of(
   *                       keys.accessKeyId(), keys.secretAccessKey(), session.sessionToken())
   *                   : AwsCredentials.of(keys.accessKeyId(), keys.secretAccessKey());
   *             })
   *         .build();
   * }</pre>
   */
  @FunctionalInterface
  public interface Source {
    /**
     * The credentials for the next request.
     *
     * <p>It is called for every request, by the thread that makes it and at the same time by
     * several, so it caches what is costly and renews it before it expires. It may block; an
     * interrupt says that nobody waits any more.
     *
     * @return the credentials
     * @throws IOException if they cannot be had; the call then fails as one whose target could not
     *     be reached, as it does for a runtime exception
     * @throws InterruptedException if the thread was interrupted
     */
    AwsCredentials fetch() throws IOException, InterruptedException;
  }

  /** Checks that all parts can stand in a header; no message shows them. */
  public AwsCredentials {
    HeaderValues.requireToken("accessKeyId", accessKeyId);
    HeaderValues.requireToken("secretAccessKey", secretAccessKey);
    sessionToken.ifPresent(token -> HeaderValues.requireToken("sessionToken", token));
  }

  /**
   * A key that lasts.
   *
   * @param accessKeyId the public half
   * @param secretAccessKey the secret half
   * @return the credentials
   * @throws dev.warpwright.model.InvalidRequestException if one is blank or holds other than
   *     visible ASCII characters
   */
  public static AwsCredentials of(String accessKeyId, String secretAccessKey) {
    return new AwsCredentials(accessKeyId, secretAccessKey, Optional.empty());
  }

  /**
   * A key that expires.
   *
   * @param accessKeyId the public half
   * @param secretAccessKey the secret half
   * @param sessionToken what is sent beside them
   * @return the credentials
   * @throws dev.warpwright.model.InvalidRequestException if one is blank or holds other than
   *     visible ASCII characters
   */
  public static AwsCredentials of(String accessKeyId, String secretAccessKey, String sessionToken) {
    return new AwsCredentials(
        accessKeyId,
        secretAccessKey,
        Optional.of(Objects.requireNonNull(sessionToken, "sessionToken")));
  }

  /** Shows whether it is temporary. */
  @Override
  public String toString() {
    return "AwsCredentials[" + (sessionToken.isPresent() ? "temporary]" : "lasting]");
  }
}
