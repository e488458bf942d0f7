package dev.warpwright.adapters.bedrock;

import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Interrupts;
import dev.warpwright.adapters.http.LastSecrets;
import dev.warpwright.model.ProviderException;
import java.io.IOException;
import java.net.URI;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Signs each request with the credentials of that moment. Thread-safe if their source is. */
final class SignedRequests implements Authorization {
  private final SignatureV4 signature;
  private final AwsCredentials.Source source;
  private final InstantSource clock;

  /** What was sent; a server may quote it when a signature does not fit. */
  private final LastSecrets sent = new LastSecrets();

  SignedRequests(SignatureV4 signature, AwsCredentials.Source source, InstantSource clock) {
    this.signature = signature;
    this.source = source;
    this.clock = clock;
  }

  @Override
  public Map<String, String> headers(URI uri, Map<String, String> headers, byte[] body)
      throws InterruptedException {
    AwsCredentials credentials = fetch();
    credentials.sessionToken().ifPresent(sent::add);
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.put("Content-Type", "application/json"); // which every exchange sends
    return signature.headers(
        new SignatureV4.Request("POST", uri, all, body), credentials, clock.instant());
  }

  private AwsCredentials fetch() throws InterruptedException {
    try {
      return Objects.requireNonNull(source.fetch(), "credentials");
    } catch (ProviderException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      Interrupts.rethrow(e);
      throw ProviderException.builder(
              ProviderException.Kind.CONNECT, "The AWS credentials for Bedrock could not be had.")
          .cause(e)
          .build();
    }
  }

  @Override
  public List<String> secrets() {
    return sent.all();
  }
}
