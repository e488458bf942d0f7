package dev.warpwright.examples;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers, times and sizes as people write them. */
final class Quantity {
  private static final Pattern WRITTEN =
      Pattern.compile("(-?\\d+(?: \\d{3})*(?:\\.\\d+)?)(?: (ms|s|min|h|days|KiB|MiB|GiB))?");

  private static final Map<String, Duration> TIMES =
      Map.of(
          "ms", Duration.ofMillis(1),
          "s", Duration.ofSeconds(1),
          "min", Duration.ofMinutes(1),
          "h", Duration.ofHours(1),
          "days", Duration.ofDays(1));

  private static final Map<String, Long> SIZES =
      Map.of("KiB", 1L << 10, "MiB", 1L << 20, "GiB", 1L << 30);

  private Quantity() {}

  static boolean is(String text) {
    return WRITTEN.matcher(text).matches();
  }

  /** A number without unit, or a size in bytes. */
  static double number(String text) {
    Matcher parts = match(text);
    double digits = Double.parseDouble(parts.group(1).replace(" ", ""));
    return digits * Optional.ofNullable(parts.group(2)).map(SIZES::get).orElse(1L);
  }

  /** A time; zero needs no unit. */
  static Duration time(String text) {
    Matcher parts = match(text);
    long digits = Long.parseLong(parts.group(1).replace(" ", ""));
    Duration unit = Optional.ofNullable(parts.group(2)).map(TIMES::get).orElse(Duration.ZERO);
    if (unit.isZero() && digits != 0) {
      throw new AssertionError("Not a time: " + text);
    }
    return unit.multipliedBy(digits);
  }

  private static Matcher match(String text) {
    Matcher parts = WRITTEN.matcher(text);
    if (!parts.matches()) {
      throw new AssertionError("Not a quantity: " + text);
    }
    return parts;
  }
}
