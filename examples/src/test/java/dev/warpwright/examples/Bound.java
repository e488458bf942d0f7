package dev.warpwright.examples;

import dev.warpwright.model.Money;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the page says of the bounds of a setting: values that must be taken, and values that must be
 * refused, as close to the bounds as they can be.
 *
 * @param inside values that are taken
 * @param outside values that are refused
 */
record Bound(List<Object> inside, List<Refused> outside) {
  private static final Pattern RANGE = Pattern.compile("(.+?) to (.+)");
  private static final Pattern AT_MOST = Pattern.compile("more than 0, at most (.+)");
  private static final Pattern LENGTH = Pattern.compile("(\\d+) to (\\d+) characters, not blank");
  private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
  private static final List<String> BETWEEN = List.of("must be between");
  private static final Duration NANO = Duration.ofNanos(1);

  /**
   * A value that is refused.
   *
   * @param value the value
   * @param said what the message must show beside the name of the setting: for each part, one of
   *     its forms
   */
  record Refused(Object value, List<List<String>> said) {}

  /** Whether values of a type have an order, so that the page must give bounds. */
  static boolean isOrdered(Class<?> type) {
    return type == int.class
        || type == long.class
        || type == double.class
        || type == Duration.class
        || type == Money.class
        || type == OptionalInt.class
        || type == OptionalLong.class;
  }

  /** What a cell says of values of a type; empty if it says it in words only. */
  static Optional<Bound> of(String cell, Class<?> type) {
    String clause = cell.split(";", 2)[0];
    if (type == String.class || type == String[].class) {
      return ofText(clause);
    }
    if (type == Duration.class) {
      return Optional.of(ofTimes(clause));
    }
    if (type == double.class) {
      return Optional.of(ofDoubles(clause));
    }
    if (type == Money.class) {
      return Optional.of(ofMoney(clause));
    }
    return isOrdered(type) ? Optional.of(ofIntegers(clause, type)) : Optional.empty();
  }

  private static Bound ofIntegers(String clause, Class<?> type) {
    boolean wide = type == long.class || type == OptionalLong.class;
    long largest = wide ? Long.MAX_VALUE : Integer.MAX_VALUE;
    Matcher range = RANGE.matcher(clause);
    boolean closed = range.matches();
    long low = (long) Quantity.number(closed ? range.group(1) : floor(clause));
    long high = closed ? (long) Quantity.number(range.group(2)) : largest;
    List<String> least = List.of(Long.toString(low));
    List<List<String>> bounds =
        closed ? List.of(BETWEEN, least, List.of(Long.toString(high))) : List.of(least);
    List<Refused> outside = new ArrayList<>();
    outside.add(refused(integer(low - 1, wide), bounds));
    if (high < largest) {
      outside.add(refused(integer(high + 1, wide), bounds));
    }
    return new Bound(List.of(integer(low, wide), integer(high, wide)), outside);
  }

  private static Object integer(long value, boolean wide) {
    if (wide) {
      return value;
    }
    return Math.toIntExact(value);
  }

  private static Bound ofTimes(String clause) {
    Matcher most = AT_MOST.matcher(clause);
    if (most.matches()) {
      Duration high = Quantity.time(most.group(1));
      return new Bound(
          List.of(NANO, high),
          List.of(
              refused(Duration.ZERO, List.of(List.of("0"))),
              refused(high.plus(NANO), List.of(forms(high)))));
    }
    Matcher range = RANGE.matcher(clause);
    if (!range.matches()) {
      Duration least = clause.equals("more than 0") ? NANO : Quantity.time(floor(clause));
      return new Bound(
          List.of(least, LONGEST),
          List.of(
              refused(least.minus(NANO), List.of(List.of("0"))),
              refused(NANO.negated(), List.of(List.of("0")))));
    }
    Duration low = Quantity.time(range.group(1));
    Duration high = Quantity.time(range.group(2));
    List<List<String>> bounds = List.of(BETWEEN, forms(low), forms(high));
    return new Bound(
        List.of(low, high),
        List.of(refused(low.minus(NANO), bounds), refused(high.plus(NANO), bounds)));
  }

  /** A time as messages may write it. */
  private static List<String> forms(Duration time) {
    return List.of(
        time.isZero() ? "0" : time.toString(),
        time.toString(),
        time.toMillis() + " ms",
        time.toSeconds() + " s",
        time.toHours() + " h",
        time.toDays() + " days");
  }

  private static Bound ofDoubles(String clause) {
    if (clause.equals("finite")) {
      List<List<String>> finite = List.of(List.of("finite"));
      return new Bound(
          List.of(-Double.MAX_VALUE, 0.0, Double.MAX_VALUE),
          List.of(
              refused(Double.NaN, finite),
              refused(Double.POSITIVE_INFINITY, finite),
              refused(Double.NEGATIVE_INFINITY, finite)));
    }
    if (clause.endsWith(", finite")) {
      return ofFinite(clause.substring(0, clause.length() - ", finite".length()));
    }
    Matcher range = RANGE.matcher(clause);
    if (!range.matches()) {
      throw new AssertionError("No bounds of a fraction: " + clause);
    }
    double low = Quantity.number(range.group(1));
    double high = Quantity.number(range.group(2));
    List<List<String>> bounds = List.of(BETWEEN, List.of(range.group(1)), List.of(range.group(2)));
    return new Bound(
        List.of(low, high),
        List.of(
            refused(Math.nextDown(low), bounds),
            refused(Math.nextUp(high), bounds),
            refused(Double.NaN, bounds)));
  }

  private static Bound ofFinite(String clause) {
    boolean open = clause.equals("more than 0");
    double floor = open ? 0 : Quantity.number(floor(clause));
    List<List<String>> bounds =
        List.of(List.of("finite"), List.of(Double.toString(floor), Long.toString((long) floor)));
    return new Bound(
        List.of(open ? Double.MIN_VALUE : floor, Double.MAX_VALUE),
        List.of(
            refused(open ? 0.0 : Math.nextDown(floor), bounds),
            refused(Double.POSITIVE_INFINITY, bounds),
            refused(Double.NaN, bounds)));
  }

  private static Bound ofMoney(String clause) {
    long least = clause.equals("more than 0") ? 1 : (long) Quantity.number(floor(clause));
    List<List<String>> bounds = List.of(List.of("0"));
    return new Bound(
        List.of(usd(least), usd(Long.MAX_VALUE)),
        List.of(refused(usd(least - 1), bounds), refused(usd(Long.MIN_VALUE), bounds)));
  }

  private static Money usd(long nanos) {
    return new Money(nanos, "USD");
  }

  private static Optional<Bound> ofText(String clause) {
    Matcher length = LENGTH.matcher(clause);
    if (length.matches()) {
      int most = Integer.parseInt(length.group(2));
      List<String> bound = List.of(length.group(2));
      return Optional.of(
          new Bound(
              List.of("x", "x".repeat(most)),
              List.of(
                  new Refused("", List.of(bound, List.of("0"))),
                  new Refused("  ", List.of(bound, List.of("2"))),
                  new Refused(
                      "x".repeat(most + 1), List.of(bound, List.of(String.valueOf(most + 1)))))));
    }
    Refused empty = new Refused("", List.of(List.of("blank")));
    Refused blank = new Refused(" ", List.of(List.of("blank")));
    return switch (clause) {
      case "not blank" -> Optional.of(new Bound(List.of("x"), List.of(empty, blank)));
      case "visible ASCII, not blank" ->
          Optional.of(
              new Bound(
                  List.of("!x~"),
                  List.of(
                      empty,
                      blank,
                      new Refused("x\n", List.of(List.of("U+000A"))),
                      new Refused("x\u007f", List.of(List.of("U+007F"))))));
      default -> Optional.empty();
    };
  }

  /** The number in "1 or more" or "more than 0". */
  private static String floor(String clause) {
    if (!clause.endsWith(" or more")) {
      throw new AssertionError("No bounds: " + clause);
    }
    return clause.substring(0, clause.length() - " or more".length());
  }

  /** Refused with its bounds and with the value itself in the message. */
  private static Refused refused(Object value, List<List<String>> bounds) {
    List<List<String>> said = new ArrayList<>(bounds);
    said.add(List.of(value.toString()));
    return new Refused(value, said);
  }
}
