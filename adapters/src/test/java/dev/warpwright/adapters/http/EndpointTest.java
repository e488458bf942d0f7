package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.net.URI;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class EndpointTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://api.openai.com/v1",
        "HTTPS://host",
        "http://localhost:8080/v1",
        "http://LOCALHOST/",
        "http://127.0.0.1",
        "http://127.8.9.10:1/v1",
        "http://[::1]:8080/v1",
        "http://[0:0:0:0:0:0:0:1]",
        "http://[::ffff:127.0.0.1]/"
      })
  @Tag("R377")
  void tls_to_any_host_and_cleartext_to_the_loopback_are_allowed(String url) {
    assertFalse(Endpoint.of(URI.create(url), false).base().toString().endsWith("/"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://example.com/v1",
        "http://10.0.0.1",
        "http://192.168.1.2:11434",
        "http://128.0.0.1",
        "http://0.0.0.0:8000",
        "http://[fe80::1]",
        "http://localhost.example.com",
        "http://sub.localhost",
        "http://127.0.0.1.example.com",
        "HTTP://example.com"
      })
  @Tag("R377")
  void cleartext_to_another_host_needs_to_be_allowed(String url) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> Endpoint.of(URI.create(url), false));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    assertTrue(refused.getMessage().contains("allowCleartext()"), refused.getMessage());
    assertEquals(URI.create(url), Endpoint.of(URI.create(url), true).base());
  }

  @ParameterizedTest
  @CsvSource({
    "v1, absolute",
    "//host/v1, absolute",
    "ftp://host, absolute",
    "file:///etc, absolute",
    "https:host, host",
    "https:///v1, host",
    "https://my_host/v1, underscore",
    "https://host/v1?api-version=1, query",
    "https://host/v1#x, query",
    "https://host:70000, port",
    "https://user:s3cr3t@host/v1, user-info",
    "https://s3cr3t@host/v1, user-info",
    "http://s3cr3t@localhost/v1, user-info",
    "https://us_er:s3cr3t@my_host, user-info"
  })
  @Tag("R377")
  void what_is_no_base_url_is_refused_and_the_message_says_why(String url, String reason) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> Endpoint.of(URI.create(url), true));
    assertTrue(refused.getMessage().contains(reason), refused.getMessage());
    assertFalse(refused.getMessage().contains("s3cr3t"), refused.getMessage());
  }

  @Test
  void a_path_is_added_whatever_slashes_the_base_ends_with() {
    for (String base : new String[] {"https://h/v1", "https://h/v1/", "https://h/v1//"}) {
      assertEquals(
          URI.create("https://h/v1/chat"), Endpoint.of(URI.create(base), false).resolve("/chat"));
    }
    assertEquals(
        URI.create("https://h/chat"), Endpoint.of(URI.create("https://h"), false).resolve("/chat"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", " ", "key\n", "\rkey", "k\0ey", "k\u007fey", "schlüssel", "a b", "\tkey"})
  void a_token_with_anything_but_visible_ascii_is_refused_without_being_shown(String key) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> HeaderValues.requireToken("apiKey", key));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    assertTrue(refused.getMessage().startsWith("apiKey "), refused.getMessage());
    assertFalse(refused.getMessage().substring(6).contains("ey"), refused.getMessage());
    assertFalse(refused.getMessage().contains("schl"), refused.getMessage());
  }

  @Test
  void a_header_text_may_have_spaces_but_no_line_break() {
    assertEquals("a b", HeaderValues.requireText("x", "a b"));
    assertThrows(
        InvalidRequestException.class, () -> HeaderValues.requireText("x", "a\r\nEvil: 1"));
  }
}
