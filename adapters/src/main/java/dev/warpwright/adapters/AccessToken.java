package dev.warpwright.adapters;

import dev.warpwright.adapters.http.HeaderValues;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * A token that proves a right for some time. Its text is a secret.
 *
 * @param value the token, visible ASCII characters
 * @param expiry when it ends to be valid; without it, it is used until a provider refuses it
 */
public record AccessToken(String value, Optional<Instant> expiry) {
  /** Checks the characters. */
  public AccessToken {
    HeaderValues.requireToken("An access token", value);
    Objects.requireNonNull(expiry, "expiry");
  }

  /**
   * A token that is used until a provider refuses it.
   *
   * @param value the token, visible ASCII characters
   * @return the token
   */
  public static AccessToken of(String value) {
    return new AccessToken(value, Optional.empty());
  }

  /**
   * A token with a known end.
   *
   * @param expiry when it ends to be valid
   * @param value the token, visible ASCII characters
   * @return the token
   */
  public static AccessToken until(Instant expiry, String value) {
    return new AccessToken(value, Optional.of(expiry));
  }

  /** Shows the expiry, not the token. */
  @Override
  public String toString() {
    return "AccessToken[" + expiry.map(Instant::toString).orElse("no expiry") + "]";
  }
}
