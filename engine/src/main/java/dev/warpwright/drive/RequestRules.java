package dev.warpwright.drive;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.Map;

/** What requests for runs of every kind must keep to. */
public final class RequestRules {
  private static final int MAX_KEY = 256;
  private static final String RESERVED = "warpwright.";

  private RequestRules() {}

  /**
   * Checks an idempotency key.
   *
   * @param key the key
   * @return the key
   * @throws InvalidRequestException if it is blank or too long
   */
  public static String idempotencyKey(String key) {
    if (key.isBlank() || key.length() > MAX_KEY) {
      throw new InvalidRequestException(
          FailureKind.INVALID_SCOPE,
          "An idempotency key must have 1 to %d characters and not be blank, but has %d."
              .formatted(MAX_KEY, key.length()));
    }
    return key;
  }

  /**
   * Checks the program's notes on a run.
   *
   * @param metadata names and values
   * @return a copy
   * @throws InvalidRequestException if a name is reserved
   */
  public static Map<String, String> metadata(Map<String, String> metadata) {
    for (String name : metadata.keySet()) {
      if (name.startsWith(RESERVED)) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "Metadata keys that begin with \"%s\" are reserved, such as \"%s\"."
                .formatted(RESERVED, name));
      }
    }
    return Map.copyOf(metadata);
  }
}
