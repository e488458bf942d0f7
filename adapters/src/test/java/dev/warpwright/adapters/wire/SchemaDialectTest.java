package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Schemas in the dialects of providers. */
@Tag("Y48")
final class SchemaDialectTest {
  private static final SchemaDialect NO_BOUNDS =
      new SchemaDialect((keyword, value) -> !keyword.equals("minimum"), false);

  private static String written(String schema) {
    return StrictJson.write(NO_BOUNDS.write(Json.parse(schema.replace('\'', '"'))))
        .replace('"', '\'');
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'type':'integer','minimum':3}|{'type':'integer','description':'{minimum: 3}'}",
        "{'description':'D.','minimum':3}|{'description':'D. {minimum: 3}'}",
        "{'items':{'minimum':3}}|{'items':{'description':'{minimum: 3}'}}",
        "{'anyOf':[{'minimum':3}]}|{'anyOf':[{'description':'{minimum: 3}'}]}",
        "{'$defs':{'minimum':{'minimum':3}}}|{'$defs':{'minimum':{'description':'{minimum: 3}'}}}",
        "{'properties':{'minimum':{'type':'string'}}}|{'properties':{'minimum':{'type':'string'}}}",
        "{'enum':[{'minimum':3}]}|{'enum':[{'minimum':3}]}",
      })
  void a_rule_that_is_not_taken_is_told_and_a_member_of_its_name_is_none(
      String schema, String expected) {
    assertEquals(expected, written(schema));
  }

  @ParameterizedTest
  @CsvSource({
    "^a+$, true",
    "^(?:a|b)$, true",
    "(?=a), false",
    "(?!a), false",
    "(?<=a), false",
    "(a)\\1, false",
    "\\ba, false",
    "\\d{3}, true"
  })
  void what_looks_around_is_not_plain(String pattern, boolean plain) {
    assertEquals(plain, SchemaDialect.isPlain(pattern));
  }

  @Test
  void a_cycle_is_refused_with_its_place() {
    ProviderException refused =
        assertThrows(
            ProviderException.class,
            () ->
                written(
                    "{'properties':{'a':{'$ref':'#/$defs/A'}},"
                        + "'$defs':{'A':{'items':{'$ref':'#/$defs/A'}}}}"));

    assertTrue(
        String.valueOf(refused.getMessage()).contains("#/$defs/A at #/$defs/A/items"),
        refused::getMessage);
    assertThrows(ProviderException.class, () -> written("{'properties':{'a':{'$ref':'#'}}}"));
  }

  @Test
  @Timeout(30) // following every path would take as long as there are paths: 2 to the 60th
  void a_definition_is_followed_once() {
    StringBuilder schema = new StringBuilder("{'properties':{'a':{'$ref':'#/$defs/D0'}},'$defs':{");
    for (int i = 0; i < 60; i++) {
      String next = "{'$ref':'#/$defs/D" + (i + 1) + "'}";
      schema.append("'D%d':{'anyOf':[%s,%s]},".formatted(i, next, next));
    }
    schema.append("'D60':{'type':'string'}}}");

    assertTrue(written(schema.toString()).contains("D60"));
  }
}
