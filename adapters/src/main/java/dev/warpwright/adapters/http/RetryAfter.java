package dev.warpwright.adapters.http;

import static java.time.temporal.ChronoField.MONTH_OF_YEAR;
import static java.time.temporal.ChronoField.YEAR;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * Reads how long a provider asks to wait. Pure.
 *
 * <p>The forms, first one found wins:
 *
 * <ol>
 *   <li>header {@code retry-after-ms}: milliseconds, may have a fraction
 *   <li>header {@code retry-after}: seconds, may have a fraction
 *   <li>header {@code retry-after}: an HTTP date in one of the three forms of RFC 9110
 *   <li>{@code error.details[].retryDelay} of Google's {@code RetryInfo}, such as {@code "1.5s"}
 *   <li>{@code error.metadata.headers}: the forms above, or {@code X-RateLimit-Reset} as epoch
 *       milliseconds
 *   <li>only with status 429: the reset headers of the limit that is used up: {@code
 *       ratelimit-reset} in seconds, {@code x-ratelimit-reset-requests} and {@code -tokens} as
 *       durations such as {@code 6m0s}, {@code anthropic-ratelimit-*-reset} as RFC 3339 times
 * </ol>
 *
 * <p>A time in the past is zero. What is negative, not finite or not understood is ignored. A wait
 * is cut at {@link #LONGEST}, so that it fits into nanoseconds.
 *
 * <p>Of several reset headers the longest one counts whose {@code remaining} header says 0; if none
 * says so, the longest one without such a header; else the shortest.
 */
public final class RetryAfter {
  /** No wait is reported as longer than this. */
  public static final Duration LONGEST = Duration.ofDays(36_500);

  private static final int TOO_MANY_REQUESTS = 429;

  private static final Pattern NUMBER = Pattern.compile("\\d{1,30}(?:\\.\\d{1,30})?");
  private static final Pattern PROTOBUF_DURATION = Pattern.compile("(\\d{1,12}(?:\\.\\d{1,9})?)s");
  private static final Pattern GO_DURATION =
      Pattern.compile("(?:\\d{1,12}(?:\\.\\d{1,12})?(?:d|h|ms|m|s|us|µs|ns)){1,8}");
  private static final Pattern GO_DURATION_PART = Pattern.compile("([\\d.]+)([a-zµ]+)");

  private static final BigDecimal NANOS_PER_SECOND = BigDecimal.valueOf(1_000_000_000L);
  private static final BigDecimal NANOS_PER_MILLI = BigDecimal.valueOf(1_000_000L);

  private static final Map<Long, String> MONTHS =
      Map.ofEntries(
          Map.entry(1L, "Jan"),
          Map.entry(2L, "Feb"),
          Map.entry(3L, "Mar"),
          Map.entry(4L, "Apr"),
          Map.entry(5L, "May"),
          Map.entry(6L, "Jun"),
          Map.entry(7L, "Jul"),
          Map.entry(8L, "Aug"),
          Map.entry(9L, "Sep"),
          Map.entry(10L, "Oct"),
          Map.entry(11L, "Nov"),
          Map.entry(12L, "Dec"));
  private static final DateTimeFormatter IMF_FIXDATE =
      new DateTimeFormatterBuilder()
          .appendPattern("d ")
          .appendText(MONTH_OF_YEAR, MONTHS)
          .appendPattern(" uuuu HH:mm:ss 'GMT'")
          .toFormatter(Locale.ROOT);
  private static final DateTimeFormatter ASCTIME =
      new DateTimeFormatterBuilder()
          .appendText(MONTH_OF_YEAR, MONTHS)
          .appendPattern(" d HH:mm:ss uuuu")
          .toFormatter(Locale.ROOT);

  private static final List<String> ANTHROPIC_LIMITS =
      List.of("requests", "tokens", "input-tokens", "output-tokens");

  private RetryAfter() {}

  /**
   * Reads the wait.
   *
   * @param headers the response's headers
   * @param error the structured error object, if there is one
   * @param status the status, real or embedded
   * @param now the current time
   * @return the wait, zero or more
   */
  public static Optional<Duration> read(
      HttpHeaders headers, Optional<JsonNode> error, int status, Instant now) {
    return explicit(headers::allValues, now)
        .or(() -> error.flatMap(RetryAfter::retryInfo))
        .or(() -> error.flatMap(e -> metadata(e, now)))
        .or(() -> status == TOO_MANY_REQUESTS ? resetHeaders(headers, now) : Optional.empty());
  }

  private static Optional<Duration> explicit(Function<String, List<String>> headers, Instant now) {
    return first(headers.apply("retry-after-ms"), text -> number(text, NANOS_PER_MILLI))
        .or(
            () ->
                first(
                    headers.apply("retry-after"),
                    text ->
                        number(text, NANOS_PER_SECOND).or(() -> until(httpDate(text, now), now))));
  }

  private static Optional<Duration> first(
      List<String> values, Function<String, Optional<Duration>> form) {
    return values.stream()
        .map(value -> form.apply(value.strip()))
        .flatMap(Optional::stream)
        .findFirst();
  }

  private static Optional<Duration> number(String text, BigDecimal nanosPerUnit) {
    return NUMBER.matcher(text).matches()
        ? Optional.of(nanos(new BigDecimal(text).multiply(nanosPerUnit)))
        : Optional.empty();
  }

  private static Duration nanos(BigDecimal nanos) {
    BigDecimal longest = BigDecimal.valueOf(LONGEST.toNanos());
    return Duration.ofNanos(nanos.min(longest).setScale(0, RoundingMode.UP).longValueExact());
  }

  private static Optional<Duration> until(Optional<Instant> instant, Instant now) {
    return instant.map(
        at -> {
          if (!at.isAfter(now)) {
            return Duration.ZERO;
          }
          Duration wait = Duration.between(now, at);
          return wait.compareTo(LONGEST) > 0 ? LONGEST : wait;
        });
  }

  /** The weekday is not looked at: it carries nothing, and some servers get it wrong. */
  private static Optional<Instant> httpDate(String text, Instant now) {
    int comma = text.indexOf(',');
    if (comma >= 0) {
      String date = text.substring(comma + 1).strip();
      return parse(date, IMF_FIXDATE).or(() -> parse(date, rfc850(now)));
    }
    int weekday = text.indexOf(' ');
    return weekday < 0
        ? Optional.empty()
        : parse(text.substring(weekday).strip().replaceAll(" {2,}", " "), ASCTIME);
  }

  /** RFC 9110: a two-digit year that seems more than 50 years ahead is the last such year. */
  private static DateTimeFormatter rfc850(Instant now) {
    return new DateTimeFormatterBuilder()
        .appendPattern("dd-")
        .appendText(MONTH_OF_YEAR, MONTHS)
        .appendLiteral('-')
        .appendValueReduced(YEAR, 2, 2, now.atZone(ZoneOffset.UTC).getYear() - 49)
        .appendPattern(" HH:mm:ss 'GMT'")
        .toFormatter(Locale.ROOT);
  }

  private static Optional<Instant> parse(String text, DateTimeFormatter form) {
    try {
      return Optional.of(LocalDateTime.parse(text, form).toInstant(ZoneOffset.UTC));
    } catch (DateTimeException _) {
      return Optional.empty();
    }
  }

  private static Optional<Duration> retryInfo(JsonNode error) {
    return error
        .path("details")
        .valueStream()
        .filter(detail -> detail.path("@type").asString("").endsWith("RetryInfo"))
        .map(detail -> PROTOBUF_DURATION.matcher(detail.path("retryDelay").asString("")))
        .filter(Matcher::matches)
        .map(delay -> nanos(new BigDecimal(delay.group(1)).multiply(NANOS_PER_SECOND)))
        .findFirst();
  }

  private static Optional<Duration> metadata(JsonNode error, Instant now) {
    JsonNode headers = error.path("metadata").path("headers");
    Function<String, List<String>> values =
        name ->
            headers
                .propertyStream()
                .filter(header -> header.getKey().equalsIgnoreCase(name))
                .flatMap(header -> texts(header.getValue()))
                .toList();
    return explicit(values, now)
        .or(() -> first(values.apply("x-ratelimit-reset"), text -> until(epochMillis(text), now)));
  }

  private static Stream<String> texts(JsonNode value) {
    return value.isArray()
        ? value.valueStream().map(element -> element.asString(""))
        : Stream.of(value.asString(""));
  }

  private static Optional<Instant> epochMillis(String text) {
    return NUMBER.matcher(text).matches() && text.length() <= 15
        ? Optional.of(Instant.ofEpochMilli(new BigDecimal(text).longValue()))
        : Optional.empty();
  }

  private record Limit(Duration reset, Optional<String> remaining) {
    boolean isUsedUp() {
      return remaining.filter(text -> text.matches("-?0+(?:\\.0+)?|-\\d+")).isPresent();
    }
  }

  private static Optional<Duration> resetHeaders(HttpHeaders headers, Instant now) {
    List<Limit> limits = new ArrayList<>();
    limit(headers, "ratelimit-reset", text -> number(text, NANOS_PER_SECOND), limits);
    limit(headers, "x-ratelimit-reset-requests", RetryAfter::goDuration, limits);
    limit(headers, "x-ratelimit-reset-tokens", RetryAfter::goDuration, limits);
    for (String name : ANTHROPIC_LIMITS) {
      limit(
          headers,
          "anthropic-ratelimit-" + name + "-reset",
          text -> until(rfc3339(text), now),
          limits);
    }
    return longest(limits, Limit::isUsedUp)
        .or(() -> longest(limits, limit -> limit.remaining().isEmpty()))
        .or(() -> limits.stream().map(Limit::reset).min(Duration::compareTo));
  }

  private static Optional<Duration> longest(List<Limit> limits, Predicate<Limit> which) {
    return limits.stream().filter(which).map(Limit::reset).max(Duration::compareTo);
  }

  private static void limit(
      HttpHeaders headers,
      String name,
      Function<String, Optional<Duration>> form,
      List<Limit> limits) {
    first(headers.allValues(name), form)
        .map(
            reset ->
                new Limit(
                    reset,
                    headers.firstValue(name.replace("reset", "remaining")).map(String::strip)))
        .ifPresent(limits::add);
  }

  private static Optional<Instant> rfc3339(String text) {
    try {
      return Optional.of(DateTimeFormatter.ISO_OFFSET_DATE_TIME.parse(text, Instant::from));
    } catch (DateTimeException _) {
      return Optional.empty();
    }
  }

  private static Optional<Duration> goDuration(String text) {
    if (!GO_DURATION.matcher(text).matches()) {
      return Optional.empty();
    }
    BigDecimal sum = BigDecimal.ZERO;
    Matcher part = GO_DURATION_PART.matcher(text);
    while (part.find()) {
      sum = sum.add(new BigDecimal(part.group(1)).multiply(nanosPer(part.group(2))));
    }
    return Optional.of(nanos(sum));
  }

  private static BigDecimal nanosPer(String unit) {
    return switch (unit) {
      case "d" -> NANOS_PER_SECOND.multiply(BigDecimal.valueOf(86_400));
      case "h" -> NANOS_PER_SECOND.multiply(BigDecimal.valueOf(3_600));
      case "m" -> NANOS_PER_SECOND.multiply(BigDecimal.valueOf(60));
      case "s" -> NANOS_PER_SECOND;
      case "ms" -> NANOS_PER_MILLI;
      case "us", "µs" -> BigDecimal.valueOf(1_000);
      default -> BigDecimal.ONE;
    };
  }
}
