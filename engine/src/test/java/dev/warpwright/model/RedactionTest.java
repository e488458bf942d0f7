package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RedactionTest {
  private static final String SECRET = "s3cr3tV4lue";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "api_key",
        "api-key",
        "apikey",
        "key",
        "token",
        "access_token",
        "secret",
        "signature",
        "password",
        "API_KEY",
        "Key",
        "PassWord"
      })
  @Tag("R359")
  @Tag("R360")
  void the_value_of_a_credential_parameter_is_replaced_and_the_rest_of_the_url_stays(String name) {
    assertEquals(
        "GET https://host/v1/models?a=1&" + name + "=[REDACTED]&b=2 failed",
        Redaction.redact("GET https://host/v1/models?a=1&" + name + "=" + SECRET + "&b=2 failed"));
    assertEquals(
        "GET /v1?" + name + "=[REDACTED]", Redaction.redact("GET /v1?" + name + "=" + SECRET));
    assertEquals(
        "the request (" + name + "=[REDACTED]) failed",
        Redaction.redact("the request (" + name + "=" + SECRET + ") failed"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"api_key", "key", "token", "password"})
  @Tag("R359")
  void the_parameter_of_an_encoded_url_inside_a_url_is_replaced(String name) {
    assertEquals(
        "https://proxy/?to=https%3A%2F%2Fhost%2Fv1%3F" + name + "%3D[REDACTED]%26page%3D2",
        Redaction.redact(
            "https://proxy/?to=https%3A%2F%2Fhost%2Fv1%3F"
                + name
                + "%3D"
                + SECRET
                + "%26page%3D2"));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "https://user:%s@host/v1,https://[REDACTED]@host/v1",
        "http://%s@localhost:8080/,http://[REDACTED]@localhost:8080/",
        "jdbc:postgresql://u:%s@db/x,jdbc:postgresql://[REDACTED]@db/x",
        "see https://a:p@%s@host?q=1,see https://[REDACTED]@host?q=1",
        "https:\\/\\/user:%s@host\\/v1,https:\\/\\/[REDACTED]@host\\/v1",
        "?to=https%%3A%%2F%%2Fuser%%3A%s%%40host%%2Fv1,?to=https%%3A%%2F%%2F[REDACTED]%%40host%%2Fv1"
      })
  @Tag("R359")
  void user_info_in_a_url_is_replaced(String form, String expected) {
    assertEquals(expected.formatted(), Redaction.redact(form.formatted(SECRET)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"Authorization", "Proxy-Authorization", "authorization", "Cookie", "Set-Cookie"})
  @Tag("R359")
  void the_whole_value_of_a_header_that_may_have_parts_is_replaced(String name) {
    assertEquals(
        name + ": [REDACTED]\nContent-Type: text/plain",
        Redaction.redact(
            name
                + ": Digest user=\"a\", response=\""
                + SECRET
                + "\"; x\nContent-Type: text/plain"));
    String map = Redaction.redact("{" + name + "=[" + SECRET + ", " + SECRET + "]}");
    assertFalse(map.contains(SECRET), map);
  }

  @ParameterizedTest
  @ValueSource(strings = {"x-api-key", "api-key", "x-goog-api-key", "X-API-Key"})
  @Tag("R359")
  void the_value_of_a_key_header_is_replaced_and_the_text_behind_it_stays(String name) {
    assertEquals(
        "curl -H '" + name + ": [REDACTED]' https://host",
        Redaction.redact("curl -H '" + name + ": " + SECRET + "' https://host"));
    assertEquals(
        name + ": \"[REDACTED]\", accept: */*",
        Redaction.redact(name + ": \"" + SECRET + "\", accept: */*"));
    String map = Redaction.redact("{" + name + "=[" + SECRET + "], accept=[*/*]}");
    assertFalse(map.contains(SECRET), map);
    assertTrue(map.endsWith("accept=[*/*]}"), map);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "sent Bearer %s and failed,sent Bearer [REDACTED] and failed",
        "bearer %s,bearer [REDACTED]",
        "BEARER  %s.x-y_z~+/==!,BEARER  [REDACTED]!",
        "auth was Basic dXNlcjpwdw==,auth was Basic [REDACTED]",
        "basic YTpi,basic [REDACTED]",
        "q=Bearer%%20%s,q=Bearer%%20[REDACTED]"
      })
  @Tag("R359")
  void a_bearer_or_basic_token_is_replaced_anywhere(String form, String expected) {
    assertEquals(expected.formatted(), Redaction.redact(form.formatted(SECRET)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "key",
        "api_key",
        "accessToken",
        "client_secret",
        "db_password",
        "credentials",
        "x-authorization",
        "signature",
        "session_cookie",
        "KEY"
      })
  @Tag("R359")
  @Tag("R360")
  void the_value_of_a_json_field_with_a_secret_looking_name_is_replaced(String name) {
    String string = "{\"a\":\"b\",\"" + name + "\" : \"" + SECRET + "\",\"c\":1}";
    assertEquals(
        "{\"a\":\"b\",\"" + name + "\" : \"[REDACTED]\",\"c\":1}", Redaction.redact(string));
    String number = "{\"" + name + "\":12345,\"c\":1}";
    assertEquals("{\"" + name + "\":\"[REDACTED]\",\"c\":1}", Redaction.redact(number));
    String list = "{\"" + name + "\":[\"" + SECRET + "\",{\"]\":\"" + SECRET + "\"}],\"c\":1}";
    assertEquals("{\"" + name + "\":\"[REDACTED]\",\"c\":1}", Redaction.redact(list));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"api_key\":\"%s",
        "{\"api_key\":\"x\\\"%s\",\"b\":1}",
        "{\"api_key\":\"x\\\\\\\"%s\"}",
        "{\"api_key\":[\"x\",\"%s",
        "{\"api_key\":{\"v\":\"}%s\"}}",
        "{'api_key': '%s', 'n': 1}",
        "{'api_key': \"it's %s\"}",
        "{\"body\":\"{\\\"api_key\\\":\\\"%s\\\",\\\"n\\\":1}\"}",
        "{\"body\":\"{\\n  \\\"api_key\\\":\\n\\\"x\\\\\\\"%s\\\"}\"}",
        "{\"a\":\"{\\\"b\\\":\\\"{\\\\\\\"token\\\\\\\":\\\\\\\"%s\\\\\\\"}\\\"}\"}",
        "it said \"no\", then {\"token\":\"%s\"}",
        "don't {\"token\":\"%s\"}",
        "{\"token\"\n:\n\"%s\"}"
      })
  @Tag("R359")
  void a_json_secret_is_found_wherever_and_however_it_stands(String form) {
    String redacted = Redaction.redact(form.formatted(SECRET));
    assertFalse(redacted.contains(SECRET), redacted);
    assertTrue(redacted.contains("[REDACTED]"), redacted);
  }

  @Test
  @Tag("R359")
  void what_follows_a_secret_in_escaped_json_stays() {
    assertEquals(
        "{\"body\":\"{\\\"token\\\":\\\"[REDACTED]\\\",\\\"n\\\":1}\",\"m\":2}",
        Redaction.redact("{\"body\":\"{\\\"token\\\":\\\"a\\\\\\\"b\\\",\\\"n\\\":1}\",\"m\":2}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"max_tokens\":100,\"prompt_tokens\":5,\"completion_tokens_details\":{\"reasoning_tokens\":1}}",
        "{\"total_tokens\":3,\"tokens\":3,\"token_count\":4}",
        "{\"idempotency_key\":\"a\",\"keywords\":[\"a\"]}",
        "The monkey sat; turkey=3, max_tokens=5.",
        "https://host/v1/chat?model=gpt&page=2",
        "mail a@b.example about https://host/x?to=a@b.example",
        "The Basic plan has no basic understanding.",
        "Bearer token is missing. Use bearer authentication.",
        "Rate limit reached for requests; try again in 20ms.",
        "risk-averse task-oriented work",
        "",
        "\"\"\"''''\\\\\\\"",
        "{\"a\":\"b\"}"
      })
  @Tag("R359")
  void a_harmless_text_is_returned_itself(String text) {
    assertSame(text, Redaction.redact(text));
  }

  @Test
  void an_api_key_of_a_well_known_form_is_replaced_in_prose() {
    assertEquals(
        "Incorrect API key provided: [REDACTED].",
        Redaction.redact("Incorrect API key provided: sk-proj-abcdefghijklmnop123456."));
  }

  @ParameterizedTest
  @MethodSource("hostile")
  @DisplayName("a hostile text of 1 MB takes linear time")
  void a_hostile_text_takes_linear_time(String piece) {
    String text = "x" + piece.repeat(1_000_000 / piece.length());
    assertTimeoutPreemptively(Duration.ofSeconds(30), () -> Redaction.redact(text));
  }

  static List<String> hostile() {
    return List.of(
        "a",
        "://",
        "%3A%2F%2F",
        "\"",
        "\\",
        "\\\"",
        "\"key",
        "\"key\":[",
        "\"key\":\"",
        "\"key\":\\",
        "\\\"key\\\":\\\"",
        "\"key\":\\a",
        "[",
        "{\"a\":",
        "key=",
        "%26",
        "bearer ",
        "basic a",
        "cookie",
        "api-key: ",
        "authorization:\n",
        " ",
        "sk-",
        "\"max_" + "tokens".repeat(40) + "\":");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cookie:",
        "api-key:",
        "bearer",
        "basic",
        "\"key\"",
        "\"key\":",
        "://",
        "basic A",
        "sk-",
        "\"key\":[",
        "\"key\":[\"",
        "key=",
        "\"key\":\\",
        "\"",
        "\"key\":[\\"
      })
  void a_word_before_a_long_run_takes_linear_time(String word) {
    for (String filler : List.of(" ", "a", "\\", "\t\"", "%", "A", "=", "'")) {
      String text = word + filler.repeat(50_000) + "\"";
      assertTimeoutPreemptively(
          Duration.ofSeconds(30), () -> Redaction.redact(text), () -> word + " + " + filler);
    }
  }

  @Test
  @Tag("R359")
  @Tag("R360")
  void any_mixture_of_secrets_is_found_and_redacting_twice_changes_nothing_more() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<String> lines =
        List.of(
            "GET https://host/v1?key=" + SECRET + "&a=1",
            "GET https://user:" + SECRET + "@host/v1",
            "Authorization: Bearer " + SECRET,
            "Cookie: a=\"" + SECRET + "\"; b=1",
            "{x-api-key=[" + SECRET + "], accept=[a]}",
            "sent Bearer " + SECRET + ", then failed",
            "{\"api_key\":\"" + SECRET + "\",\"a\":1}",
            "{\"token\":[\"" + SECRET + "\"],\"max_tokens\":1}",
            "{\"b\":\"{\\\"secret\\\":\\\"" + SECRET + "\\\"}\"}",
            "{'password': '" + SECRET + "'}",
            "nothing \"to\" see, don't look");
    for (int i = 0; i < 5_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(6); n >= 0; n--) {
        text.append(lines.get(random.nextInt(lines.size()))).append('\n');
      }
      String once = Redaction.redact(text.toString());
      assertFalse(once.contains(SECRET), () -> "seed " + seed + ": " + once);
      assertEquals(once, Redaction.redact(once), () -> "seed " + seed + ": " + text);
    }
  }
}
