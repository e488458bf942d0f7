package dev.warpwright.store.jdbc;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.time.Instant;

/** Instants as the numbers in the tables: nanoseconds since 1970, from 1677 to 2262. */
final class Times {
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private Times() {}

  static long nanos(Instant instant) {
    try {
      // Written so that instants before 1970, whose seconds are rounded down, do not overflow
      // early.
      long seconds = instant.getEpochSecond();
      return seconds < 0
          ? Math.addExact(
              Math.multiplyExact(seconds + 1, NANOS_PER_SECOND),
              instant.getNano() - NANOS_PER_SECOND)
          : Math.addExact(Math.multiplyExact(seconds, NANOS_PER_SECOND), instant.getNano());
    } catch (ArithmeticException e) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The time of an event must be between the years 1677 and 2262, but is " + instant + ".");
    }
  }

  static Instant instant(long nanos) {
    return Instant.ofEpochSecond(
        Math.floorDiv(nanos, NANOS_PER_SECOND), Math.floorMod(nanos, NANOS_PER_SECOND));
  }
}
