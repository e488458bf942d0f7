package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class FailuresTest {
  private static final Instant NOW = Instant.ofEpochMilli(1_741_305_590_000L);
  private static final Failures FAILURES =
      new Failures(
          new ErrorTable(
              "Test",
              "x-request-id",
              ErrorTable.COMMON_NAMES,
              ErrorTable.COMMON_CONTEXT_NAMES,
              List.of(ContextForm.of("too long by # tokens"))),
          InstantSource.fixed(NOW),
          Authorization.header("X", Optional.of("own-credential"), ""));
  private static final HttpHeaders HEADERS =
      HttpHeaders.of(Map.of("X-Request-Id", List.of("req_1")), (name, value) -> true);

  private static ProviderException status(int status, String body) {
    return FAILURES.status(status, HEADERS, body.getBytes(StandardCharsets.UTF_8));
  }

  private static ProviderException event(String body) {
    var json = StrictJson.read(body);
    return FAILURES.event(
        ErrorObject.in(json).or(() -> ErrorObject.itself(json)).orElseThrow(), HEADERS);
  }

  @Test
  @Tag("R358")
  void the_connections_own_credential_is_hidden_wherever_a_server_repeats_it() {
    ProviderException failure =
        event("{\"error\":{\"message\":\"Bad key own-credential!\",\"code\":\"own-credential\"}}");

    assertEquals("Bad key [REDACTED]!", failure.providerMessage().orElseThrow());
    assertEquals("[REDACTED]", failure.code().orElseThrow());
  }

  @ParameterizedTest
  @CsvSource({
    "overloaded_error, 529",
    "server_is_overloaded, 503",
    "UNAVAILABLE, 503",
    "rate_limit_error, 429",
    "rate_limit_exceeded, 429",
    "RESOURCE_EXHAUSTED, 429",
    "throttlingException, 429",
    "ThrottlingException, 429",
    "billing_error, 402",
    "insufficient_quota, 402",
    "timeout_error, 408",
    "DEADLINE_EXCEEDED, 504",
    "api_error, 500",
    "server_error, 500",
    "INTERNAL, 500",
    "invalid_request_error, 400",
    "INVALID_ARGUMENT, 400",
    "not_found_error, 404",
    "authentication_error, 401",
    "permission_error, 403",
    "unheard_of, 0"
  })
  @Tag("Y36")
  @Tag("R90")
  void an_error_inside_a_200_stands_for_the_status_of_its_type_or_code(String name, int status) {
    for (String member : List.of("type", "code", "status")) {
      ProviderException failure =
          event("{\"error\":{\"message\":\"m\",\"" + member + "\":\"" + name + "\"}}");
      assertEquals(Kind.PROVIDER_EVENT, failure.kind());
      assertEquals(status, failure.status());
      assertEquals(name, failure.code().orElseThrow());
      assertEquals("req_1", failure.requestId().orElseThrow());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'{\"error\":{\"code\":429}}', 429",
    "'{\"error\":{\"code\":\"503\"}}', 503",
    "'{\"error\":{\"status\":502}}', 502",
    "'{\"error\":{\"code\":408,\"type\":\"overloaded_error\"}}', 408",
    "'{\"error\":{\"code\":\"x\",\"status\":599}}', 599",
    "'{\"error\":{\"code\":600}}', 0",
    "'{\"error\":{\"code\":399}}', 0",
    "'{\"error\":{\"code\":1302}}', 0",
    "'{\"error\":{\"code\":-429}}', 0",
    "'{\"error\":{\"code\":429.0}}', 0",
    "'{\"error\":\"words\",\"status\":404}', 404",
    "'{\"error\":\"rate_limit_error\"}', 0",
    "'[{\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}]', 503",
    "'{\"error\":[{\"code\":503}]}', 503",
    "'{\"code\":429,\"msg\":\"m\"}', 429",
    "'{\"code\":\"DataInspectionFailed\",\"message\":\"m\"}', 0"
  })
  @Tag("Y36")
  @Tag("R90")
  void a_numeric_code_or_status_acts_as_the_status_and_words_do_not(String body, int status) {
    ProviderException failure = event(body);
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(status, failure.status());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":null}",
        "{\"error\":{}}",
        "{\"error\":\"\"}",
        "{\"error\":\"  \"}",
        "{\"error\":false}",
        "{\"error\":[]}",
        "{\"error\":0}",
        "{}",
        "[]",
        "[1]",
        "1",
        "\"error\""
      })
  void an_empty_error_member_is_no_error(String body) {
    assertEquals(Optional.empty(), ErrorObject.in(StrictJson.read(body)));
  }

  @Test
  @Tag("FR-X05")
  void a_rate_limit_in_a_200_body_carries_its_reset_time() {
    ProviderException failure =
        event(
            """
            {"error":{"code":429,"message":"Rate limit exceeded",
             "metadata":{"headers":{"X-RateLimit-Reset":"1741305600000"}}}}
            """);
    assertEquals(429, failure.status());
    assertEquals(Duration.ofSeconds(10), failure.retryAfter().orElseThrow());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":{\"code\":\"insufficient_quota\",\"type\":\"requests\"}}",
        "{\"error\":{\"type\":\"insufficient_quota\",\"code\":null}}",
        "{\"error\":{\"type\":\"insufficient_quota\",\"code\":429}}",
        "{\"error\":{\"type\":\"insufficient_quota\",\"code\":\"rate_limit_exceeded\"}}",
        "{\"error\":{\"type\":\"insufficient_quota\",\"code\":\"context_length_exceeded\"}}"
      })
  @Tag("R89")
  void an_exhausted_quota_is_the_code_wherever_it_stands(String body) {
    assertEquals("insufficient_quota", status(429, body).code().orElseThrow());
    assertEquals(Kind.HTTP_STATUS, status(429, body).kind());
    assertEquals("insufficient_quota", event(body).code().orElseThrow());
    assertEquals(Kind.PROVIDER_EVENT, event(body).kind());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":\"INSUFFICIENT QUOTA\",\"message\":\"You exceeded your current limit of"
            + " concurrent requests.\"}",
        "{\"error\":{\"message\":\"insufficient_quota\"}}",
        "{\"error\":\"insufficient_quota\"}",
        "{\"message\":\"insufficient_quota\"}",
        "insufficient_quota",
        "{\"n\":1e99999999999999}",
        ""
      })
  @Tag("FR-R09")
  @Tag("FR-R15")
  @Tag("R86")
  void words_about_quota_decide_nothing(String body) {
    ProviderException failure = status(429, body);
    assertEquals(Kind.HTTP_STATUS, failure.kind());
    assertEquals(429, failure.status());
    assertEquals(Optional.empty(), failure.code());
  }

  @ParameterizedTest
  @CsvSource({
    "400, '{\"error\":{\"code\":\"context_length_exceeded\"}}'",
    "400, '{\"error\":{\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\"}}'",
    "400, '{\"error\":{\"code\":\"x\",\"type\":\"CONTEXT_WINDOW_EXCEEDED\"}}'",
    "500, '{\"error\":{\"code\":500,\"type\":\"context_window_exceeded\"}}'",
    "413, '{\"error\":{\"type\":\"request_too_large\"}}'",
    "413, ''",
    "429, '{\"error\":{\"code\":\"context_length_exceeded\"}}'"
  })
  @Tag("Y38")
  @Tag("R92")
  void a_structured_code_tells_a_context_overflow_whatever_the_status(int status, String body) {
    ProviderException failure = status(status, body);
    assertEquals(Kind.CONTEXT_LENGTH, failure.kind());
    assertEquals(status, failure.status());
    if (!body.isEmpty()) {
      assertEquals(Kind.CONTEXT_LENGTH, event(body).kind());
    }
  }

  @Test
  @Tag("Y36")
  void an_embedded_413_is_a_context_overflow() {
    assertEquals(Kind.CONTEXT_LENGTH, event("{\"error\":{\"code\":413}}").kind());
  }

  @ParameterizedTest
  @CsvSource({
    "400, CONTEXT_LENGTH",
    "422, CONTEXT_LENGTH",
    "500, CONTEXT_LENGTH",
    "503, CONTEXT_LENGTH",
    "401, HTTP_STATUS",
    "403, HTTP_STATUS",
    "404, HTTP_STATUS",
    "408, HTTP_STATUS",
    "429, HTTP_STATUS"
  })
  @Tag("Y38")
  @Tag("R86")
  void a_form_of_the_closed_table_counts_where_a_server_may_hide_an_overflow(
      int status, Kind kind) {
    assertEquals(kind, status(status, "{\"error\":{\"message\":\"too long by 5 tokens\"}}").kind());
    assertEquals(kind, status(status, "{\"detail\":\"Too  long by 1,000 tokens.\"}").kind());
    assertEquals(kind, status(status, "too long by 5 tokens").kind());
  }

  @Test
  @Tag("Y38")
  @Tag("FR-X09")
  void a_form_inside_a_server_error_of_a_200_turns_it_into_a_context_overflow() {
    ProviderException failure =
        event("{\"error\":{\"code\":\"server_error\",\"message\":\"too long by 5 tokens\"}}");
    assertEquals(Kind.CONTEXT_LENGTH, failure.kind());
    assertEquals("server_error", failure.code().orElseThrow());
    assertEquals(
        Kind.CONTEXT_LENGTH, event("{\"error\":{\"message\":\"too long by 5 tokens\"}}").kind());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "It is too long by 5 tokens",
        "too long by five tokens",
        "too long by 5 tokensand",
        "too long by 5 tokens and bytes",
        "too long",
        "'too long by 5 tokens'"
      })
  @Tag("Y38")
  void a_part_of_a_form_or_a_form_inside_another_sentence_is_no_match(String message) {
    assertEquals(
        Kind.HTTP_STATUS, status(400, "{\"error\":{\"message\":\"" + message + "\"}}").kind());
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529})
  @Tag("Y35")
  void a_status_is_reported_with_code_request_id_wait_and_the_words_apart(int status) {
    HttpHeaders headers =
        HttpHeaders.of(
            Map.of("x-request-id", List.of("r"), "retry-after", List.of("3")), (n, v) -> true);
    ProviderException failure =
        FAILURES.status(
            status,
            headers,
            "{\"error\":{\"message\":\"words\",\"type\":\"t\",\"param\":null,\"code\":\"c\"}}"
                .getBytes(StandardCharsets.UTF_8));
    assertEquals(Kind.HTTP_STATUS, failure.kind());
    assertEquals(status, failure.status());
    assertEquals("Test request failed with status " + status + ".", failure.getMessage());
    assertEquals("c", failure.code().orElseThrow());
    assertEquals("r", failure.requestId().orElseThrow());
    assertEquals("words", failure.providerMessage().orElseThrow());
    assertEquals(Duration.ofSeconds(3), failure.retryAfter().orElseThrow());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":{\"message\":\"see https://h/?key=SECRET now\"}}",
        "{\"error\":\"Bearer SECRET was refused\"}",
        "{\"message\":\"see https://u:SECRET@h/\"}",
        "<html>x-api-key: SECRET</html>"
      })
  @Tag("Y35")
  void what_the_provider_said_is_redacted(String body) {
    ProviderException failure = status(401, body);
    String said = failure.providerMessage().orElseThrow();
    assertFalse(said.contains("SECRET"), said);
    assertTrue(said.contains("[REDACTED]"), said);
    assertFalse(failure.toString().contains("SECRET"), failure.toString());
  }

  @Test
  @Tag("R99")
  void reset_headers_are_a_hint_for_an_embedded_429_too() {
    HttpHeaders headers = HttpHeaders.of(Map.of("ratelimit-reset", List.of("4")), (n, v) -> true);
    ErrorObject error =
        ErrorObject.in(StrictJson.read("{\"error\":{\"type\":\"rate_limit_error\"}}"))
            .orElseThrow();
    assertEquals(Duration.ofSeconds(4), FAILURES.event(error, headers).retryAfter().orElseThrow());
  }
}
