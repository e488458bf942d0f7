package dev.warpwright.route;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Target;
import java.time.Duration;

/** Refuses values outside their range with one form of message. */
final class Bounds {
  private Bounds() {}

  static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }

  static InvalidRequestException notFinite(String what, Target target, double score) {
    return invalid(what + " of " + target + " must be finite, but is " + score + ".");
  }

  static int between(String name, int value, int low, int high) {
    if (value < low || value > high) {
      throw invalid("%s must be between %d and %d, but is %d.".formatted(name, low, high, value));
    }
    return value;
  }

  static int atLeast(String name, int value, int low) {
    if (value < low) {
      throw invalid("%s must be %d or more, but is %d.".formatted(name, low, value));
    }
    return value;
  }

  /** Refuses infinities and NaN as well. */
  static double atLeast(String name, double value, double low) {
    if (!(value >= low) || Double.isInfinite(value)) {
      throw invalid(name + " must be finite and " + low + " or more, but is " + value + ".");
    }
    return value;
  }

  static double fraction(String name, double value) {
    if (!(value >= 0 && value <= 1)) {
      throw invalid(name + " must be between 0 and 1, but is " + value + ".");
    }
    return value;
  }

  static double positive(String name, double value) {
    if (!(value > 0) || Double.isInfinite(value)) {
      throw invalid(name + " must be finite and more than 0, but is " + value + ".");
    }
    return value;
  }

  static Duration positive(String name, Duration value) {
    if (!value.isPositive()) {
      throw invalid(name + " must be more than 0, but is " + value + ".");
    }
    return value;
  }

  static String notBlank(String name, String text) {
    if (text.isBlank()) {
      throw invalid(name + " must not be blank.");
    }
    return text;
  }
}
