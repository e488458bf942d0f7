package dev.warpwright.control;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.regex.Pattern;

/**
 * What an answer is kept under: a digest of a call and of whom it was made for.
 *
 * <p>Equal keys mean equal calls; {@link Cacheability} says what goes into one. Nothing of that can
 * be read out of the key. It is the same in every process and version that writes calls down in the
 * same way, so a cache may be shared.
 *
 * @param digest SHA-256 as 64 lower-case hex digits
 */
public record CacheKey(String digest) {
  private static final Pattern SHA_256 = Pattern.compile("[0-9a-f]{64}");
  private static final int SHOWN = 12;

  /** Checks the form. */
  public CacheKey {
    if (!SHA_256.matcher(digest).matches()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "A cache key must be 64 lower-case hex digits, but is a text of %d characters."
              .formatted(digest.length()));
    }
  }

  /** Shows the first 12 digits. */
  @Override
  public String toString() {
    return "CacheKey[" + digest.substring(0, SHOWN) + "]";
  }
}
