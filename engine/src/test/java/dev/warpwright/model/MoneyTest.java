package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Exact amounts: never a double, never a wrap. */
final class MoneyTest {
  private static final Money MAX = new Money(Long.MAX_VALUE, "USD");
  private static final Money MIN = new Money(Long.MIN_VALUE, "USD");

  private static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 0",
    "-0, 0, 0",
    "1, 1000000000, 1",
    "0.0025, 2500000, 0.0025",
    "0.000000001, 1, 0.000000001",
    "-1.5, -1500000000, -1.5",
    "100, 100000000000, 100",
    "007.10, 7100000000, 7.1",
    "9223372036.854775807, 9223372036854775807, 9223372036.854775807",
    "-9223372036.854775808, -9223372036854775808, -9223372036.854775808"
  })
  @Tag("R220")
  void an_amount_is_read_and_shown_exactly(String text, long nanos, String shown) {
    Money amount = usd(text);

    assertEquals(new Money(nanos, "USD"), amount);
    assertEquals(shown + " USD", amount.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "1 ",
        "+1",
        ".5",
        "1.",
        "1,5",
        "NaN",
        "Infinity",
        "0x1",
        "1_000",
        "1E3", // an exponent asks for any number of digits
        "1e999999999",
        "1e-999999999",
        "--1",
        "\u0661",
        "1\n",
        "0.0000000001",
        "9223372036.854775808",
        "-9223372036.854775809",
        "10000000000"
      })
  @Tag("R220")
  void what_is_no_exact_amount_is_refused(String text) {
    var refused = assertThrows(InvalidRequestException.class, () -> usd(text));

    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.contains("at most 9 decimals"), message);
    assertFalse(message.contains("\n"), message);
  }

  @Test
  void a_long_text_is_cut_in_the_message() {
    var refused = assertThrows(InvalidRequestException.class, () -> usd("x".repeat(10_000)));

    assertTrue(String.valueOf(refused.getMessage()).length() < 200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "usd", "US", "USDX", "U\u00a0D", "USD\n", "ÄÖÜ"})
  void what_is_no_currency_is_refused(String currency) {
    assertThrows(InvalidRequestException.class, () -> new Money(1, currency));
    assertThrows(InvalidRequestException.class, () -> Money.of("1", currency));
    assertThrows(InvalidRequestException.class, () -> Money.zero(currency));
  }

  @Test
  @Tag("R220")
  void arithmetic_that_leaves_the_range_is_an_error_and_never_a_wrap() {
    Money least = new Money(1, "USD");

    assertThrows(ArithmeticException.class, () -> MAX.plus(least));
    assertThrows(ArithmeticException.class, () -> MIN.minus(least));
    assertThrows(ArithmeticException.class, () -> Money.zero("USD").minus(MIN));
    assertThrows(ArithmeticException.class, () -> MAX.times(BigInteger.TWO, BigInteger.ONE));
    assertThrows(ArithmeticException.class, () -> MIN.times(BigInteger.TWO, BigInteger.ONE));
    assertThrows(
        ArithmeticException.class, () -> least.times(BigInteger.TWO.pow(200), BigInteger.ONE));
    assertThrows(
        ArithmeticException.class, () -> least.times(BigInteger.TWO.pow(63), BigInteger.ONE));
    assertEquals(MAX, MAX.times(BigInteger.TWO, BigInteger.TWO));
    assertEquals(MAX, MAX.minus(least).plus(least));
  }

  @Test
  @Tag("R220")
  @Tag("FR-M03")
  void reservations_of_a_tenth_add_up_to_exactly_25() {
    Money sum = Money.zero("USD");
    for (int i = 0; i < 250; i++) {
      sum = sum.plus(usd("0.1"));
    }

    assertEquals(usd("25"), sum);
    assertEquals("25 USD", sum.toString());
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1, 2, 1", // half is rounded up
    "1, 499, 1000, 0",
    "1, 500, 1000, 1",
    "3, 1, 2, 2",
    "5, 1, 2, 3",
    "-1, 1, 2, -1",
    "-3, 1, 2, -2",
    "7, 0, 3, 0",
    "7, 1, 3, 2",
    "8, 1, 3, 3"
  })
  @Tag("R222")
  void a_fraction_is_rounded_half_up_to_a_billionth(
      long nanos, long numerator, long denominator, long expected) {
    assertEquals(
        new Money(expected, "USD"),
        new Money(nanos, "USD")
            .times(BigInteger.valueOf(numerator), BigInteger.valueOf(denominator)));
  }

  @Test
  void amounts_in_different_currencies_are_neither_added_nor_compared() {
    Money dollar = usd("1");
    Money euro = Money.of("1", "EUR");

    assertFalse(dollar.sameCurrency(euro));
    assertTrue(dollar.sameCurrency(usd("2")));
    assertThrows(IllegalArgumentException.class, () -> dollar.plus(euro));
    assertThrows(IllegalArgumentException.class, () -> dollar.minus(euro));
    assertThrows(IllegalArgumentException.class, () -> dollar.compareTo(euro));
  }

  @Test
  @Tag("R220")
  void arithmetic_agrees_with_decimal_numbers_or_refuses() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      String at = "seed " + seed + ", round " + i;
      Money a = new Money(random.nextLong() >> random.nextInt(64), "USD");
      Money b = new Money(random.nextLong() >> random.nextInt(64), "USD");
      BigInteger numerator = new BigInteger(random.nextInt(80), random);
      BigInteger denominator = new BigInteger(random.nextInt(80), random).add(BigInteger.ONE);

      BigDecimal exactA = BigDecimal.valueOf(a.nanos());
      BigDecimal exactB = BigDecimal.valueOf(b.nanos());
      check(at, exactA.add(exactB), () -> a.plus(b));
      check(at, exactA.subtract(exactB), () -> a.minus(b));
      check(
          at,
          exactA
              .multiply(new BigDecimal(numerator))
              .divide(new BigDecimal(denominator), 0, RoundingMode.HALF_UP),
          () -> a.times(numerator, denominator));
      assertEquals(Integer.signum(exactA.compareTo(exactB)), a.compareTo(b), at);
      assertEquals(exactA.signum() < 0, a.signum() < 0, at);
      assertEquals(a, usd(a.toString().replace(" USD", "")), at);
    }
  }

  private static void check(String at, BigDecimal exact, Supplier<Money> computed) {
    if (exact.toBigIntegerExact().bitLength() < Long.SIZE) {
      assertEquals(new Money(exact.longValueExact(), "USD"), computed.get(), at);
    } else {
      assertThrows(ArithmeticException.class, computed::get, at);
    }
  }

  @Test
  @Tag("R220")
  @Tag("R222")
  void the_quick_product_of_small_numbers_is_the_exact_one() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      Money amount = new Money(random.nextLong() >> random.nextInt(64), "USD");
      long numerator = random.nextLong() >> random.nextInt(64);
      long denominator = (random.nextLong() >>> (1 + random.nextInt(63))) + 1;
      String at = "seed " + seed + ": " + amount + " x " + numerator + " / " + denominator;
      Money exact;
      try {
        exact = amount.times(BigInteger.valueOf(numerator), BigInteger.valueOf(denominator));
      } catch (ArithmeticException tooLarge) {
        assertThrows(ArithmeticException.class, () -> amount.times(numerator, denominator), at);
        continue;
      }
      assertEquals(exact, amount.times(numerator, denominator), at);
    }
    assertThrows(ArithmeticException.class, () -> Money.zero("USD").times(1, 0));
  }
}
