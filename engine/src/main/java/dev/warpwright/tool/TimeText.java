package dev.warpwright.tool;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Times as strings: RFC 3339 for dates and instants, of the years 0000 to 9999, and ISO 8601 for
 * durations of an exact length.
 *
 * <p>The patterns come first because {@code java.time} accepts more: years of ten digits, times
 * without seconds. What is read can be written, and the other way round. A leap second is refused,
 * since an {@code Instant} has none, and so is an offset beyond ±18:00, the JDK's bound.
 */
final class TimeText {
  /**
   * Days, hours, minutes and seconds, each optional, not all of them. {@code format: duration}
   * would forbid fractions of a second and allow months, which have no exact length.
   */
  static final String DURATION_PATTERN =
      "^-?P(\\d{1,12}D|(\\d{1,12}D)?T(\\d{1,12}H|(\\d{1,12}H)?\\d{1,12}M"
          + "|(\\d{1,12}H)?(\\d{1,12}M)?\\d{1,12}(\\.\\d{1,9})?S))$";

  private static final Pattern DURATION = Pattern.compile(DURATION_PATTERN);
  private static final Pattern DATE = Pattern.compile("\\d{4}-\\d{2}-\\d{2}");
  private static final Pattern DATE_TIME =
      Pattern.compile(
          "\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})");

  private static final Instant FIRST = Instant.parse("0000-01-01T00:00:00Z");
  private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999999Z");
  private static final int MAX_YEAR = 9999;
  private static final long MAX_HOURS = 999_999_999_999L;

  private TimeText() {}

  static @Nullable Instant instant(String text) {
    if (!DATE_TIME.matcher(text).matches()) {
      return null;
    }
    try {
      Instant instant = OffsetDateTime.parse(text).toInstant();
      return isWritable(instant) ? instant : null;
    } catch (DateTimeException e) {
      return null;
    }
  }

  static @Nullable String write(Instant instant) {
    return isWritable(instant) ? instant.toString() : null;
  }

  private static boolean isWritable(Instant instant) {
    return !instant.isBefore(FIRST) && !instant.isAfter(LAST);
  }

  static @Nullable LocalDate date(String text) {
    if (!DATE.matcher(text).matches()) {
      return null;
    }
    try {
      return LocalDate.parse(text);
    } catch (DateTimeException e) {
      return null;
    }
  }

  static @Nullable String write(LocalDate date) {
    return date.getYear() < 0 || date.getYear() > MAX_YEAR ? null : date.toString();
  }

  static @Nullable Duration duration(String text) {
    Matcher matcher = DURATION.matcher(text);
    return matcher.matches() ? Duration.parse(text) : null;
  }

  /** Writes one sign for the whole, where {@code Duration.toString} writes one for each part. */
  static @Nullable String write(Duration duration) {
    if (duration.toSeconds() < 0) {
      String positive = duration.toSeconds() == Long.MIN_VALUE ? null : write(duration.negated());
      return positive == null ? null : "-" + positive;
    }
    return duration.toHours() > MAX_HOURS ? null : duration.toString();
  }
}
