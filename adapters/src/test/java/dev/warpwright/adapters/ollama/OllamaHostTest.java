package dev.warpwright.adapters.ollama;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.InvalidRequestException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class OllamaHostTest {
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      textBlock =
          """
          1.2.3.4, http://1.2.3.4:11434
          :1234, http://127.0.0.1:1234
          1.2.3.4:1234, http://1.2.3.4:1234
          example.com, http://example.com:11434
          example.com:1234, http://example.com:1234
          example.com:, http://example.com:11434
          example.com/ollama, http://example.com:11434/ollama
          [::1], http://[::1]:11434
          ::1, http://[::1]:11434
          fe80::1:2, http://[fe80::1:2]:11434
          [::1]:1337, http://[::1]:1337
          [::1]:1337/api, http://[::1]:1337/api
          ` 1.2.3.4 `, http://1.2.3.4:11434
          "1.2.3.4", http://1.2.3.4:11434
          ` " 1.2.3.4 " `, http://1.2.3.4:11434
          '1.2.3.4', http://1.2.3.4:11434
          http://1.2.3.4, http://1.2.3.4
          http://1.2.3.4:4321, http://1.2.3.4:4321
          https://1.2.3.4, https://1.2.3.4
          https://example.com/ollama/, https://example.com/ollama/
          ollama.com, https://ollama.com
          """)
  @Tag("Y34")
  void a_value_means_what_it_means_to_ollama(String value, String url) {
    assertEquals(url, OllamaHost.url(value));
  }

  @ParameterizedTest
  @CsvSource({
    "0.0.0.0, http://127.0.0.1:11434",
    "0.0.0.0:1234, http://127.0.0.1:1234",
    "https://0.0.0.0:4321, https://127.0.0.1:4321",
    "[::], http://[::1]:11434",
    "::, http://[::1]:11434",
    "[0:0:0:0:0:0:0:0]:1234, http://[::1]:1234"
  })
  @Tag("Y34")
  void an_address_of_everybody_is_called_at_the_loopback(String value, String url) {
    assertEquals(url, OllamaHost.url(value));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {":66000", ":-1", "host:x", "host:1234567890123", "[::1]x", "a:b:c/d:e f:g"})
  @Tag("Y34")
  void a_value_that_means_no_place_is_refused_by_name(String value) {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class,
            () ->
                Ollama.builder()
                    .fromEnvironment(name -> name.equals("OLLAMA_HOST") ? value : null)
                    .build());
    assertTrue(
        refused.getMessage().contains("OLLAMA_HOST") || refused.getMessage().contains("host"),
        refused.getMessage());
  }

  @Test
  void a_bad_port_is_named_as_what_it_is() {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> OllamaHost.url("host:x"));
    assertEquals(
        "OLLAMA_HOST must have a port from 0 to 65535, but it is no such number.",
        refused.getMessage());
  }
}
