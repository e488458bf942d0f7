package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.json.StrictJson;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RetryAfterTest {
  private static final Instant NOW = Instant.parse("2026-10-21T07:27:00Z");

  private static HttpHeaders headers(String... namesAndValues) {
    Map<String, List<String>> map = new TreeMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put(namesAndValues[i], List.of(namesAndValues[i + 1]));
    }
    return HttpHeaders.of(map, (name, value) -> true);
  }

  private static Optional<Duration> read(int status, String... namesAndValues) {
    return RetryAfter.read(headers(namesAndValues), Optional.empty(), status, NOW);
  }

  private static Optional<Duration> read(String error) {
    return RetryAfter.read(headers(), Optional.of(StrictJson.read(error)), 503, NOW);
  }

  @ParameterizedTest
  @CsvSource({
    "retry-after-ms, 250, PT0.25S",
    "retry-after-ms, 12.5, PT0.0125S",
    "Retry-After-Ms, 0, PT0S",
    "retry-after, 0, PT0S",
    "retry-after, 7, PT7S",
    "Retry-After, 1.5, PT1.5S",
    "retry-after, 0.001, PT0.001S",
    "retry-after, 86400, PT24H",
    "retry-after, ' 3 ', PT3S"
  })
  @Tag("Y37")
  @Tag("R99")
  @Tag("FR-R03")
  void a_number_of_milliseconds_or_seconds_is_read(String name, String value, Duration wait) {
    assertEquals(Optional.of(wait), read(503, name, value));
    assertEquals(Optional.of(wait), read(429, name, value));
  }

  @ParameterizedTest
  @CsvSource({
    "'Wed, 21 Oct 2026 07:28:00 GMT', PT1M",
    "'Wed, 21 Oct 2026 07:27:00 GMT', PT0S",
    "'Tue, 20 Oct 2026 07:28:00 GMT', PT0S",
    "'Fri, 21 Oct 2026 07:28:00 GMT', PT1M",
    "'Thu, 22 Oct 2026 07:27:00 GMT', PT24H",
    "'Sun, 1 Nov 2026 07:27:00 GMT', PT264H",
    "'Wednesday, 21-Oct-26 07:28:00 GMT', PT1M",
    "'Sunday, 06-Nov-94 08:49:37 GMT', PT0S",
    "'Wed Oct 21 07:28:00 2026', PT1M",
    "'Sun Nov  1 07:27:00 2026', PT264H"
  })
  @Tag("Y37")
  @Tag("R99")
  @Tag("FR-R01")
  void an_http_date_is_read_and_a_past_one_is_zero(String date, Duration wait) {
    assertEquals(Optional.of(wait), read(503, "retry-after", date));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-1",
        "-0.5",
        "NaN",
        "Infinity",
        "-Infinity",
        "soon",
        "",
        " ",
        "1e3",
        "1,5",
        "0x10",
        "1 s",
        "Wed, 32 Oct 2026 07:28:00 GMT",
        "Wed, 21 Foo 2026 07:28:00 GMT",
        "Wed,",
        ",",
        "21 Oct"
      })
  @Tag("R99")
  void what_is_negative_not_finite_or_not_understood_is_ignored(String value) {
    assertEquals(Optional.empty(), read(503, "retry-after", value));
    assertEquals(Optional.empty(), read(503, "retry-after-ms", value));
    assertEquals(
        Optional.of(Duration.ofSeconds(2)), read(503, "retry-after-ms", value, "retry-after", "2"));
  }

  @Test
  @Tag("R99")
  void milliseconds_win_over_seconds_and_both_over_reset_headers() {
    assertEquals(
        Optional.of(Duration.ofMillis(5)),
        read(429, "retry-after-ms", "5", "retry-after", "9", "ratelimit-reset", "99"));
    assertEquals(
        Optional.of(Duration.ofSeconds(9)), read(429, "retry-after", "9", "ratelimit-reset", "99"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"99999999999", "999999999999999999999999999999"})
  void a_wait_beyond_all_measure_is_cut_to_what_fits_into_nanoseconds(String value) {
    Duration wait = read(503, "retry-after", value).orElseThrow();
    assertEquals(RetryAfter.LONGEST, wait);
    assertEquals(wait, Duration.ofNanos(wait.toNanos()));
  }

  @ParameterizedTest
  @CsvSource({"30s, PT30S", "1.5s, PT1.5S", "0s, PT0S", "0.000000001s, PT0.000000001S"})
  @Tag("Y37")
  void the_retry_info_of_google_is_read(String delay, Duration wait) {
    assertEquals(
        Optional.of(wait),
        read(
            """
            {"details":[{"@type":"x.ErrorInfo","retryDelay":"9s"},
             {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"%s"}]}
            """
                .formatted(delay)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"30", "-1s", "1.s", "s", "1m"})
  void a_retry_info_that_is_not_understood_is_ignored(String delay) {
    assertEquals(
        Optional.empty(),
        read("{\"details\":[{\"@type\":\"RetryInfo\",\"retryDelay\":\"" + delay + "\"}]}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"X-RateLimit-Reset\":\"1792567680000\"}",
        "{\"x-ratelimit-reset\":1792567680000}",
        "{\"x-ratelimit-reset\":[\"1792567680000\"]}",
        "{\"Retry-After\":\"60\"}"
      })
  @Tag("Y37")
  @Tag("FR-X05")
  void a_reset_time_in_the_metadata_of_the_error_is_read(String headers) {
    assertEquals(
        Optional.of(Duration.ofSeconds(60)), read("{\"metadata\":{\"headers\":" + headers + "}}"));
  }

  @Test
  @Tag("FR-X05")
  void a_reset_time_that_has_passed_is_zero() {
    assertEquals(
        Optional.of(Duration.ZERO),
        read("{\"metadata\":{\"headers\":{\"X-RateLimit-Reset\":\"1741305600000\"}}}"));
  }

  @ParameterizedTest
  @CsvSource({
    "ratelimit-reset, 12, PT12S",
    "x-ratelimit-reset-requests, 1s, PT1S",
    "x-ratelimit-reset-tokens, 6m0s, PT6M",
    "x-ratelimit-reset-tokens, 20ms, PT0.02S",
    "x-ratelimit-reset-requests, 1h2m3.5s, PT1H2M3.5S",
    "x-ratelimit-reset-requests, 1d, PT24H",
    "anthropic-ratelimit-requests-reset, 2026-10-21T07:27:30Z, PT30S",
    "anthropic-ratelimit-tokens-reset, 2026-10-21T09:27:30+02:00, PT30S",
    "anthropic-ratelimit-input-tokens-reset, 2026-10-21T07:00:00Z, PT0S"
  })
  @Tag("Y37")
  @Tag("R99")
  @Tag("FR-R07")
  void a_reset_header_is_the_hint_of_a_429_only(String name, String value, Duration wait) {
    assertEquals(Optional.of(wait), read(429, name, value));
    assertEquals(Optional.empty(), read(503, name, value));
  }

  @ParameterizedTest
  @ValueSource(strings = {"6m0", "s", "-1s", "1w", "", "1 s", "1..5s"})
  void a_duration_that_is_not_understood_is_ignored(String value) {
    assertEquals(Optional.empty(), read(429, "x-ratelimit-reset-requests", value));
  }

  @Test
  @Tag("Y37")
  void the_reset_of_the_exhausted_limit_counts() {
    assertEquals(
        Optional.of(Duration.ofSeconds(2)),
        read(
            429,
            "x-ratelimit-reset-requests",
            "23h",
            "x-ratelimit-remaining-requests",
            "199",
            "x-ratelimit-reset-tokens",
            "2s",
            "x-ratelimit-remaining-tokens",
            "0"));
    assertEquals(
        Optional.of(Duration.ofHours(23)),
        read(
            429,
            "x-ratelimit-reset-requests",
            "23h",
            "x-ratelimit-remaining-requests",
            "0",
            "x-ratelimit-reset-tokens",
            "2s",
            "x-ratelimit-remaining-tokens",
            "0"));
  }

  @Test
  @Tag("Y37")
  void without_a_limit_that_is_known_to_be_exhausted_the_unknown_or_else_the_shortest_counts() {
    assertEquals(
        Optional.of(Duration.ofSeconds(5)),
        read(
            429,
            "x-ratelimit-reset-requests",
            "5s",
            "x-ratelimit-reset-tokens",
            "2s",
            "x-ratelimit-remaining-tokens",
            "10"));
    assertEquals(
        Optional.of(Duration.ofSeconds(2)),
        read(
            429,
            "x-ratelimit-reset-requests",
            "5s",
            "x-ratelimit-remaining-requests",
            "10",
            "x-ratelimit-reset-tokens",
            "2s",
            "x-ratelimit-remaining-tokens",
            "10"));
  }

  @Test
  void nothing_said_is_nothing_read() {
    assertEquals(Optional.empty(), read(429));
    assertEquals(Optional.empty(), read("{\"details\":\"x\",\"metadata\":[1]}"));
  }
}
