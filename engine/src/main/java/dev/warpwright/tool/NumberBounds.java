package dev.warpwright.tool;

import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * How long a big number may be.
 *
 * <p>{@code 1e999999999} is twelve characters of JSON and a small {@code BigDecimal}, but its first
 * addition or conversion to {@code BigInteger} takes a billion digits. The bound is somewhat below
 * the longest number that JSON text may hold here, so that what is read can be written and read
 * again in another notation.
 */
final class NumberBounds {
  static final int DIGITS = 900;

  static final String RULE =
      "must have at most " + DIGITS + " digits and an exponent from -" + DIGITS + " to " + DIGITS;

  private NumberBounds() {}

  static boolean holdFor(BigDecimal number) {
    return Math.abs((long) number.scale()) <= DIGITS && number.precision() <= DIGITS;
  }

  static boolean holdFor(BigInteger number) {
    return number.bitLength() <= 4 * DIGITS && holdFor(new BigDecimal(number));
  }

  /** Whether the number is mathematically an integer; cheap for any exponent. */
  static boolean isInteger(BigDecimal number) {
    return number.scale() <= 0 || number.signum() == 0 || number.stripTrailingZeros().scale() <= 0;
  }
}
