package dev.warpwright.adapters.http;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What requests prove their right with. Thread-safe. */
public interface Authorization {
  /** No proof: servers that need none. */
  Authorization NONE = header("Authorization", Optional.empty(), "");

  /**
   * The headers that prove the right of one request.
   *
   * <p>It may block to fetch them; an interrupt ends that.
   *
   * @param uri where the request goes
   * @param headers the request's other headers
   * @param body the request's body
   * @return headers to add
   * @throws dev.warpwright.model.ProviderException if they cannot be had
   * @throws InterruptedException if the thread was interrupted
   */
  Map<String, String> headers(URI uri, Map<String, String> headers, byte[] body)
      throws InterruptedException;

  /**
   * Says that a request was refused with status 401, so that what proved it is not used again.
   *
   * @param headers what {@link #headers} returned for it
   */
  default void refused(Map<String, String> headers) {}

  /**
   * Whether {@link #headers} neither blocks nor runs code of the program.
   *
   * @return false by default
   */
  default boolean atHand() {
    return false;
  }

  /**
   * The secrets that were last sent, which a server may echo.
   *
   * @return the secrets
   */
  List<String> secrets();

  /**
   * A secret that stays as it is, in one header.
   *
   * @param name the header's name
   * @param secret the secret; without one no header is sent
   * @param prefix what stands before the secret, such as {@code "Bearer "}
   * @return the authorization
   */
  static Authorization header(String name, Optional<String> secret, String prefix) {
    Map<String, String> headers =
        secret.isPresent() ? Map.of(name, prefix + secret.get()) : Map.of();
    List<String> secrets = secret.stream().toList();
    return new Authorization() {
      @Override
      public Map<String, String> headers(URI uri, Map<String, String> others, byte[] body) {
        return headers;
      }

      @Override
      public boolean atHand() {
        return true;
      }

      @Override
      public List<String> secrets() {
        return secrets;
      }
    };
  }
}
