package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** References put into their places. */
@Tag("Y48")
@Tag("FR-G13")
final class SchemaReferencesTest {
  private static String inlined(String schema) {
    return StrictJson.write(SchemaReferences.inlined(Json.parse(schema.replace('\'', '"'))))
        .replace('"', '\'');
  }

  private static String refusal(String schema) {
    ProviderException refused =
        assertThrows(ProviderException.class, () -> inlined(schema), schema);
    assertEquals(ProviderException.Kind.UNSUPPORTED, refused.kind());
    return refused.getMessage();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        // a definition, alone and with rules beside it, which both count; the nearer words win
        "{'items':{'$ref':'#/$defs/P'},'$defs':{'P':{'type':'string'}}}|{'items':{'type':'string'}}",
        "{'items':{'$ref':'#/$defs/P','description':'d','minLength':1},'definitions':{},"
            + "'$defs':{'P':{'type':'string','description':'p','maxLength':9,'minLength':0}}}"
            + "|{'items':{'type':'string','description':'d','maxLength':9,'minLength':1}}",
        // no definition
        "{'properties':{'headers':{'type':'object'},'more':{'$ref':'#/properties/headers'}}}"
            + "|{'properties':{'headers':{'type':'object'},'more':{'type':'object'}}}",
        // names that a pointer escapes
        "{'items':{'$ref':'#/$defs/a~1b%20c~0%2B+'},'$defs':{'a/b c~++':{'type':'null'}}}"
            + "|{'items':{'type':'null'}}",
        // through others, twice, and into a choice
        "{'items':{'$ref':'#/$defs/A'},'anyOf':[{'$ref':'#/$defs/B'},{'$ref':'#/$defs/B'}],"
            + "'$defs':{'A':{'items':{'$ref':'#/$defs/B'}},'B':{'type':'null'}}}"
            + "|{'items':{'items':{'type':'null'}},'anyOf':[{'type':'null'},{'type':'null'}]}",
        // what only looks like a reference
        "{'properties':{'$ref':{'type':'string'}},'const':{'$ref':'#/x'},'enum':[{'$ref':'#'}]}"
            + "|{'properties':{'$ref':{'type':'string'}},'const':{'$ref':'#/x'},'enum':[{'$ref':'#'}]}",
        // anything and nothing
        "{'items':{'$ref':'#/$defs/T','type':'string'},'$defs':{'T':true}}|{'items':{'type':'string'}}",
        "{'items':{'$ref':'#/$defs/F','type':'string'},'$defs':{'F':false}}|{'items':false}",
        // all of several
        "{'type':'object','allOf':[{'properties':{'a':{'type':'string'}},'required':['a']},"
            + "{'properties':{'b':{'type':'null'}},'required':['b','a']}]}"
            + "|{'properties':{'b':{'type':'null'},'a':{'type':'string'}},"
            + "'required':['b','a'],'type':'object'}",
        "{'allOf':[{'additionalProperties':false,'properties':{'a':{},'b':{}}}],"
            + "'properties':{'b':{'type':'null'},'c':{}}}"
            + "|{'additionalProperties':false,'properties':{'a':{},'b':{'type':'null'}}}",
        "{'allOf':[{'type':['number','string','null']},{'type':['integer','null']}]}"
            + "|{'type':['integer','null']}",
        // two rules of a kind that have no common form
        "{'pattern':'^a','allOf':[{'pattern':'b$'}]}|{'pattern':'b$','allOf':[{'pattern':'^a'}]}",
        "{'if':{'type':'null'},'then':{'type':'null'},'allOf':[{'if':true,'else':{'type':'null'}}]}"
            + "|{'if':true,'else':{'type':'null'},"
            + "'allOf':[{'if':{'type':'null'},'then':{'type':'null'}}]}"
      })
  void a_reference_becomes_what_it_refers_to_and_what_stands_beside_it_counts_too(
      String schema, String expected) {
    assertEquals(expected, inlined(schema));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'properties':{'next':{'$ref':'#'}}}|#/properties/next",
        "{'items':{'$ref':'#/$defs/A'},'$defs':{'A':{'items':{'$ref':'#/$defs/B'}},"
            + "'B':{'anyOf':[{'$ref':'#/$defs/A'}]}}}|#/$defs/B/anyOf/0",
        "{'properties':{'a':{'items':{'$ref':'#/properties/a'}}}}|#/properties/a/items",
        "{'$defs':{'A':{'$ref':'#/$defs/A'}},'not':{'$ref':'#/$defs/A'}}|#/$defs/A"
      })
  void a_schema_that_refers_to_itself_is_refused_with_the_path(String schema, String path) {
    String refusal = refusal(schema);
    assertTrue(refusal.contains("itself") && refusal.contains(" at " + path + "."), refusal);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'items':{'$ref':'https://example.com/schema'}}|#/items",
        "{'items':{'$ref':'other.json#/a'}}|#/items",
        "{'items':{'$ref':'#/$defs/missing'}}|#/items",
        "{'items':{'$ref':'#anchor'}}|#/items",
        "{'items':{'$dynamicRef':'#x'}}|#/items"
      })
  void what_cannot_be_found_in_the_schema_is_refused_with_the_path(String schema, String path) {
    assertTrue(refusal(schema).endsWith(" at " + path + "."), refusal(schema));
  }

  @Test
  void references_that_multiply_a_schema_are_bounded_and_so_is_their_depth() {
    StringBuilder doubling = new StringBuilder("{'$defs':{'d0':{'type':'null'}");
    StringBuilder deepening = new StringBuilder("{'$defs':{'d0':{'type':'null'}");
    for (int i = 1; i < 120; i++) {
      String before = "{'$ref':'#/$defs/d" + (i - 1) + "'}";
      doubling.append(",'d%d':{'anyOf':[%s,%s]}".formatted(i, before, before));
      deepening.append(",'d%d':{'items':%s}".formatted(i, before));
    }
    assertTrue(refusal(doubling + "},'$ref':'#/$defs/d20'}").contains("10000"));
    assertTrue(refusal(deepening + "},'$ref':'#/$defs/d119'}").contains("100 levels"));
  }

  @Test
  void the_same_values_are_accepted_before_and_after() {
    int[] compared = {0, 0};
    Fuzz.play(
        random -> {
          Schemas schemas = new Schemas(random);
          ObjectNode schema = schemas.referring(2);
          JsonNode written;
          try {
            written = SchemaReferences.inlined(Json.parse(StrictJson.write(schema)));
          } catch (ProviderException e) {
            assertTrue(e.getMessage().contains("itself") || e.getMessage().contains("10000"));
            return;
          }
          assertFalse(StrictJson.write(written).contains("$ref"));
          for (int i = 0; i < 5; i++) {
            JsonNode value = schemas.value(3);
            boolean accepted = Schemas.accepts(schema, value);
            compared[accepted ? 1 : 0]++;
            assertEquals(
                accepted,
                Schemas.accepts(written, value),
                () -> schema + "\n" + written + "\n" + value);
          }
        });
    assertTrue(compared[0] > 0 && compared[1] > 0);
  }
}
