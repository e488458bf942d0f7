package dev.warpwright.model;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.regex.Pattern;

/**
 * An amount in one currency, exact to a billionth of its unit.
 *
 * <p>Fixed-point: no {@code double} takes part in anything, and arithmetic that leaves the range of
 * about ±9.2 billion units is an {@link ArithmeticException}, never a wrap. Amounts of different
 * currencies cannot be added or compared; {@link #sameCurrency} asks first.
 *
 * @param nanos the amount in billionths of the currency's unit
 * @param currency three capital letters, an ISO 4217 code such as {@code USD}
 */
public record Money(long nanos, String currency) implements Comparable<Money> {
  private static final int SCALE = 9;

  /** No exponent: a few characters of one would ask for gigabytes of digits. */
  private static final Pattern AMOUNT = Pattern.compile("-?[0-9]{1,10}(\\.[0-9]{1,9})?");

  /** Checks the currency. */
  public Money {
    requireCurrency(currency);
  }

  /**
   * An amount as people write it.
   *
   * @param amount digits with an optional minus sign and at most nine decimals, such as {@code
   *     0.0025}
   * @param currency the currency's code
   * @return the amount
   * @throws InvalidRequestException if the text is no such number, does not fit, or the currency is
   *     no code
   */
  public static Money of(String amount, String currency) {
    if (AMOUNT.matcher(amount).matches()) {
      BigInteger nanos = new BigDecimal(amount).setScale(SCALE).unscaledValue();
      if (nanos.bitLength() < Long.SIZE) {
        return new Money(nanos.longValue(), currency);
      }
    }
    throw invalid(
        "An amount must be a decimal number with at most 9 decimals between ±9.2 billion, but is \""
            + printable(amount)
            + "\".");
  }

  /**
   * Nothing.
   *
   * @param currency the currency's code
   * @return zero
   */
  public static Money zero(String currency) {
    return new Money(0, currency);
  }

  /**
   * Checks a currency code.
   *
   * @param currency the code
   * @return the same code
   * @throws InvalidRequestException if it is not three capital letters
   */
  public static String requireCurrency(String currency) {
    boolean isCode = currency.length() == 3; // without a pattern: this is on every amount's way
    for (int i = 0; isCode && i < 3; i++) {
      isCode = currency.charAt(i) >= 'A' && currency.charAt(i) <= 'Z';
    }
    if (!isCode) {
      throw invalid(
          "A currency must be three capital letters, but is \"" + printable(currency) + "\".");
    }
    return currency;
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }

  private static String printable(String text) {
    String cut = text.length() <= 40 ? text : text.substring(0, 40) + "…";
    return cut.replaceAll("\\p{Cntrl}", "?");
  }

  /**
   * Adds.
   *
   * @param other an amount in the same currency
   * @return the sum
   * @throws ArithmeticException if it does not fit
   * @throws IllegalArgumentException if the currencies differ
   */
  public Money plus(Money other) {
    requireSame(other);
    return new Money(Math.addExact(nanos, other.nanos), currency);
  }

  /**
   * Subtracts.
   *
   * @param other an amount in the same currency
   * @return the difference
   * @throws ArithmeticException if it does not fit
   * @throws IllegalArgumentException if the currencies differ
   */
  public Money minus(Money other) {
    requireSame(other);
    return new Money(Math.subtractExact(nanos, other.nanos), currency);
  }

  /**
   * This amount times a fraction, rounded half up to a billionth: the one place in which money is
   * rounded. Half of a negative billionth is rounded away from zero.
   *
   * @param numerator the fraction's numerator
   * @param denominator the fraction's denominator
   * @return the product
   * @throws ArithmeticException if it does not fit, or the denominator is zero
   */
  public Money times(BigInteger numerator, BigInteger denominator) {
    BigDecimal product = new BigDecimal(BigInteger.valueOf(nanos).multiply(numerator));
    BigDecimal rounded = product.divide(new BigDecimal(denominator), 0, RoundingMode.HALF_UP);
    return new Money(rounded.longValueExact(), currency);
  }

  /**
   * This amount times a fraction, rounded half up to a billionth as by {@link #times(BigInteger,
   * BigInteger)}.
   *
   * @param numerator the fraction's numerator
   * @param denominator the fraction's denominator, more than zero
   * @return the product
   * @throws ArithmeticException if it does not fit, or the denominator is not more than zero
   */
  public Money times(long numerator, long denominator) {
    if (denominator <= 0) {
      throw new ArithmeticException("The denominator must be more than 0, but is " + denominator);
    }
    long product = nanos * numerator;
    if (Math.multiplyHigh(nanos, numerator) != product >> 63 || denominator > Long.MAX_VALUE / 2) {
      return times(BigInteger.valueOf(numerator), BigInteger.valueOf(denominator));
    }
    long rest = product % denominator;
    long up = Math.abs(rest) * 2 >= denominator ? Long.signum(product) : 0;
    return new Money(product / denominator + up, currency);
  }

  /**
   * Whether two amounts can be added and compared.
   *
   * @param other another amount
   * @return true if it has the same currency
   */
  public boolean sameCurrency(Money other) {
    return currency.equals(other.currency);
  }

  /**
   * Whether this is less than nothing, nothing, or more.
   *
   * @return −1, 0 or 1
   */
  public int signum() {
    return Long.signum(nanos);
  }

  private void requireSame(Money other) {
    if (!sameCurrency(other)) {
      throw new IllegalArgumentException(
          "Amounts in "
              + currency
              + " and "
              + other.currency
              + " can be neither added nor compared.");
    }
  }

  /**
   * Compares amounts.
   *
   * @throws IllegalArgumentException if the currencies differ
   */
  @Override
  public int compareTo(Money other) {
    requireSame(other);
    return Long.compare(nanos, other.nanos);
  }

  /** Shows the amount without trailing zeros, then the currency: {@code 0.0025 USD}. */
  @Override
  public String toString() {
    BigDecimal value = BigDecimal.valueOf(nanos, SCALE).stripTrailingZeros();
    return (value.scale() < 0 ? value.setScale(0) : value).toPlainString() + " " + currency;
  }
}
