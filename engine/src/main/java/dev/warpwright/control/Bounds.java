package dev.warpwright.control;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.time.Duration;

/** Refuses configured values that are out of their bounds, and says which bounds. */
final class Bounds {
  private Bounds() {}

  static int between(String name, int value, int min, int max) {
    if (value < min || value > max) {
      throw refused(name + " must be between " + min + " and " + max + ", but is " + value + ".");
    }
    return value;
  }

  static Duration between(String name, Duration value, Duration min, Duration max) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw refused(name + " must be between " + min + " and " + max + ", but is " + value + ".");
    }
    return value;
  }

  static InvalidRequestException refused(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }
}
