package dev.warpwright.adapters.bedrock;

import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.model.ProviderException;
import java.io.IOException;
import java.net.URI;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Signs each request with the credentials of that moment. Thread-safe if their source is. */
final class SignedRequests implements Authorization {
  private final SignatureV4 signature;
  private final AwsCredentials.Source source;
  private final InstantSource clock;

  /** The token that was last sent; a server may quote it when a signature does not fit. */
  private volatile @Nullable String token;

  SignedRequests(SignatureV4 signature, AwsCredentials.Source source, InstantSource clock) {
    this.signature = signature;
    this.source = source;
    this.clock = clock;
  }

  @Override
  public Map<String, String> headers(URI uri, Map<String, String> headers, byte[] body)
      throws InterruptedException {
    AwsCredentials credentials = fetch();
    credentials.sessionToken().ifPresent(sent -> token = sent);
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.put("Content-Type", "application/json"); // which every exchange sends
    return signature.headers(
        new SignatureV4.Request("POST", uri, all, body), credentials, clock.instant());
  }

  private AwsCredentials fetch() throws InterruptedException {
    try {
      return source.fetch();
    } catch (ProviderException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      if (wasInterrupted(e)) {
        throw new InterruptedException();
      }
      throw ProviderException.builder(
              ProviderException.Kind.CONNECT, "The AWS credentials for Bedrock could not be had.")
          .cause(e)
          .build();
    }
  }

  /** Whether an interrupt hides in a failure, as libraries that cannot throw it let it. */
  private static boolean wasInterrupted(Exception failure) {
    boolean interrupted = Thread.interrupted();
    for (Throwable cause = failure; cause != null && !interrupted; cause = cause.getCause()) {
      interrupted = cause instanceof InterruptedException;
    }
    return interrupted;
  }

  @Override
  public Optional<String> secret() {
    return Optional.ofNullable(token);
  }
}
