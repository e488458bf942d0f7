package dev.warpwright.cost;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import java.util.Optional;

/** Refuses values outside their range with one form of message. */
final class Bounds {
  private Bounds() {}

  static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }

  static void notNegative(String what, Optional<Money> price) {
    price
        .filter(given -> given.signum() < 0)
        .ifPresent(
            negative -> {
              throw invalid("%s must be 0 or more, but is %s.".formatted(what, negative));
            });
  }

  static void atLeast(long low, String what, long value) {
    if (value < low) {
      throw invalid("%s must be %d or more, but is %d.".formatted(what, low, value));
    }
  }

  static void notBlank(String what, String text) {
    if (text.isBlank()) {
      throw invalid("%s must not be blank.".formatted(what));
    }
  }
}
