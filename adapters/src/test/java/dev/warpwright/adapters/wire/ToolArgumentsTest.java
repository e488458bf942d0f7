package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ToolArgumentsTest {
  private static ToolCall read(String text) {
    ToolCall call = ToolArguments.call("id", "f", text);
    assertEquals("id", call.id());
    assertEquals("f", call.name());
    return call;
  }

  private static void assertInput(String expected, String text) {
    ToolCall call = read(text);
    assertEquals(Optional.empty(), call.malformed());
    assertEquals(expected, call.input().text());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\n\t ", "{}", " { } ", "\"{}\""})
  @Tag("Y31")
  @Tag("FR-T15")
  void nothing_means_the_empty_object(String text) {
    assertInput("{}", text);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "\"{\\\"a\\\":3}\" | {\"a\":3}",
        " \"{ \\\"a\\\" : \\\"\\\\u00e4\\\" }\" | {\"a\":\"ä\"}"
      })
  @Tag("Y31")
  @Tag("FR-T19")
  void an_object_in_a_string_is_unwrapped_once(String text, String input) {
    assertInput(input, text);
  }

  @Test
  @Tag("Y31")
  void an_object_in_a_string_in_a_string_is_malformed() {
    String twice = Json.of(Json.of("{\"a\":3}").text()).text();
    assertEquals(Optional.of(twice), read(twice).malformed());
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "{\"n\":9007199254740993}",
        "{\"n\":9223372036854775817}",
        "{\"n\":1234567890.123456789}",
        "{\"n\":-0.10,\"m\":1E+400}",
        "{\"id\":2512292042121000001,\"s\":\"1234567890123456789\"}",
        "{\"z\":1,\"a\":{\"y\":[1,2.50],\"b\":null}}"
      })
  @Tag("Y28")
  @Tag("FR-N01")
  @Tag("FR-N03")
  void numbers_keep_every_digit_and_members_their_order(String text) {
    assertInput(text, text);
    assertInput(text, Json.of(text).text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"a\":1,\"a\":2}",
        "{\"x\":{\"a\":1,\"a\":1}}",
        "{\"x\":[{\"a\":1,\"b\":2,\"a\":3}]}",
        "\"{\\\"a\\\":1,\\\"a\\\":2}\"",
        "{\"a\":1} {\"a\":2}",
        "{\"a\":1}x",
        "{\"a\":1}}",
        "\"{\\\"a\\\":1} x\""
      })
  @Tag("Y29")
  void a_key_twice_or_text_after_the_object_is_malformed_and_keeps_the_text(String text) {
    ToolCall call = read(text);
    assertEquals(Optional.of(text), call.malformed());
    assertEquals(Json.EMPTY_OBJECT, call.input());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"p\":{\"a\":\"x\"",
        "{",
        "{\"a\":",
        "[1]",
        "1",
        "null",
        "true",
        "\"x\"",
        "\"\"",
        "{a:1}",
        "{'a':1}",
        "{\"a\":NaN}",
        "{\"a\":01}",
        "<tool>",
        "\"{\\\"a\\\":\"",
        "{\"n\":1e99999999999999}"
      })
  @Tag("FR-T21")
  void what_is_no_object_is_malformed(String text) {
    assertEquals(Optional.of(text), read(text).malformed());
  }

  @Test
  @Tag("Y30")
  void nesting_is_accepted_to_100_levels_and_malformed_beyond() {
    String deepest = "{\"a\":".repeat(99) + "{}" + "}".repeat(99);
    assertInput(deepest, deepest);
    String deeper = "{\"a\":" + deepest + "}";
    assertEquals(Optional.of(deeper), read(deeper).malformed());
    String bottomless = "{\"a\":".repeat(100_000);
    assertEquals(Optional.of(bottomless), read(bottomless).malformed());
  }

  @Test
  @Tag("Y32")
  void the_bound_of_1_mib_counts_bytes() {
    assertFalse(ToolArguments.isTooLong("x".repeat(1_048_576)));
    assertTrue(ToolArguments.isTooLong("x".repeat(1_048_577)));
    assertFalse(ToolArguments.isTooLong("ä".repeat(524_288)));
    assertTrue(ToolArguments.isTooLong("ä".repeat(524_289)));
    assertFalse(ToolArguments.isTooLong("€".repeat(349_525)));
    assertTrue(ToolArguments.isTooLong("€".repeat(349_526)));
  }

  @Test
  @Tag("Y27")
  @Tag("FR-U01")
  void a_lone_surrogate_in_an_input_is_replaced_before_it_can_be_replayed() {
    assertInput("{\"a\":\"a\uFFFDb\"}", "{\"a\":\"a\\ud83db\"}");
    assertInput("{\"a\":\"🌍\"}", "{\"a\":\"\\ud83c\\udf0d\"}");
  }
}
