package dev.warpwright;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.time.Duration;

/** Refuses values outside their range with one form of message. */
final class Bounds {
  private static final Duration MAX_TIMEOUT = Duration.ofMillis(Integer.MAX_VALUE);

  private Bounds() {}

  static int between(String name, int value, int low, int high) {
    if (value < low || value > high) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          "%s must be between %d and %d, but is %d.".formatted(name, low, high, value));
    }
    return value;
  }

  static Duration positive(String name, Duration value) {
    if (!value.isPositive()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          "%s must be more than 0, but is %s.".formatted(name, value));
    }
    return value;
  }

  static Duration between(String name, Duration value, Duration low, Duration high) {
    if (value.compareTo(low) < 0 || value.compareTo(high) > 0) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          "%s must be between %s and %s, but is %s.".formatted(name, low, high, value));
    }
    return value;
  }

  static Duration timeout(FailureKind kind, String name, Duration value) {
    if (value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(MAX_TIMEOUT) > 0) {
      throw new InvalidRequestException(
          kind,
          "%s must be between 1 ms and %d ms, but is %s."
              .formatted(name, MAX_TIMEOUT.toMillis(), value));
    }
    return value;
  }

  static String scope(String name, String value) {
    if (value.isBlank() || value.length() > 256) {
      throw new InvalidRequestException(
          FailureKind.INVALID_SCOPE,
          "%s must have 1 to 256 characters and not be blank, but has %d."
              .formatted(name, value.length()));
    }
    return value;
  }
}
