package dev.warpwright.adapters.google;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.wire.Fuzz;
import dev.warpwright.adapters.wire.SchemaReferences;
import dev.warpwright.adapters.wire.Schemas;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Schemas in the two forms of the service. */
@Tag("Y48")
final class GeminiSchemaTest {
  private static String written(ObjectNode out) {
    return StrictJson.write(out).replace('"', '\'');
  }

  private static String parameters(String schema) {
    ObjectNode function = StrictJson.mapper().createObjectNode();
    GeminiSchema.writeParameters(Json.parse(schema.replace('\'', '"')), function);
    return written(function);
  }

  private static String response(String schema) {
    ObjectNode config = StrictJson.mapper().createObjectNode();
    GeminiSchema.writeResponse(
        Json.parse(schema.replace('\'', '"')), Optional.of("A thing."), config);
    return written(config);
  }

  private static String member(String schema) {
    String written = parameters("{'type':'object','properties':{'a':" + schema + "}}");
    String start = "{'parameters':{'type':'OBJECT','properties':{'a':";
    return written.startsWith(start)
        ? written.substring(start.length(), written.length() - 3)
        : written;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'type':'object'}",
        "{'type':'object','properties':{}}",
        "{'type':'object','properties':{},'required':[],'additionalProperties':false}",
        "{'$schema':'https://json-schema.org/draft/2020-12/schema','type':'object','$defs':{},"
            + "'description':'Nothing.'}",
        "{'$ref':'#/$defs/N','$defs':{'N':{'type':'object'}}}"
      })
  @Tag("FR-G11")
  void a_tool_without_parameters_has_none(String schema) {
    assertEquals("{}", parameters(schema));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'type':'string'}|{'type':'STRING'}",
        "{'type':['string','null']}|{'type':'STRING','nullable':true}",
        "{'type':['null','string'],'enum':['x',null]}|{'type':'STRING','enum':['x'],'nullable':true}",
        "{'type':['string','null'],'enum':['x']}|{'type':'STRING','enum':['x']}",
        "{'const':'x'}|{'type':'STRING','enum':['x']}",
        "{'type':'integer','const':5}|{'type':'INTEGER','minimum':5,'maximum':5}",
        "{'type':'null'}|{'type':'NULL'}",
        "{'type':['integer','string'],'minimum':1,'maxLength':2,'description':'D.'}"
            + "|{'anyOf':[{'type':'INTEGER','minimum':1,'description':'D.'},"
            + "{'type':'STRING','maxLength':2,'description':'D.'}]}",
        "{'type':['integer','string','null']}"
            + "|{'anyOf':[{'type':'INTEGER','nullable':true},{'type':'STRING'}]}",
        "{'anyOf':[{'type':'string'},{'type':'null'}],'description':'D.'}"
            + "|{'type':'STRING','description':'D.','nullable':true}",
        "{'oneOf':[{'type':'string','description':'S.'},{'type':'boolean'}],'description':'D.'}"
            + "|{'anyOf':[{'type':'STRING','description':'D. S.'},"
            + "{'type':'BOOLEAN','description':'D.'}]}",
        "{'type':'object','anyOf':[{'required':['x']},{'required':['y']}],"
            + "'properties':{'x':{'type':'null'},'y':{'type':'null'}}}"
            + "|{'anyOf':[{'type':'OBJECT','required':['x'],'properties':{'x':{'type':'NULL'},"
            + "'y':{'type':'NULL'}}},{'type':'OBJECT','required':['y'],"
            + "'properties':{'x':{'type':'NULL'},'y':{'type':'NULL'}}}]}",
        "{'type':'array','items':{'type':'number'},'minItems':1,'uniqueItems':true}"
            + "|{'type':'ARRAY','items':{'type':'NUMBER'},'minItems':1,"
            + "'description':'{uniqueItems: true}'}",
        "{'type':'object','properties':{'b':{'type':'boolean'}},'required':['b'],"
            + "'additionalProperties':false,'propertyNames':{'type':'string'}}"
            + "|{'type':'OBJECT','properties':{'b':{'type':'BOOLEAN'}},'required':['b']}",
        "{'type':'object','properties':{'b':{'type':'boolean'}},'propertyNames':{'maxLength':3}}"
            + "|{'type':'OBJECT','properties':{'b':{'type':'BOOLEAN'}},"
            + "'description':'{propertyNames: {'maxLength':3}}'}",
        "{'type':'string','format':'date-time','pattern':'^a','default':'a'}|{'type':'STRING','format':'date-time','pattern':'^a','description':'{default:"
            + " 'a'}'}",
        "{'type':'string','format':'uuid','pattern':'(?=a)','$comment':'c'}"
            + "|{'type':'STRING','description':'{format: 'uuid', pattern: '(?=a)'}'}",
        "{'type':'integer','format':'int64','multipleOf':2,'minLength':3}"
            + "|{'type':'INTEGER','format':'int64','description':'{multipleOf: 2}'}"
      })
  @Tag("FR-G15")
  @Tag("FR-H05")
  void what_has_a_form_in_the_subset_is_written_so(String schema, String expected) {
    assertEquals(expected, member(schema).replace("\\'", "'"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}|{}",
        "true|true",
        "{'type':'object','additionalProperties':{'type':'string','minLength':1}}"
            + "|{'type':'object','additionalProperties':{'type':'string',"
            + "'description':'{minLength: 1}'}}",
        "{'type':'object'}|{'type':'object'}",
        "{'type':'array'}|{'type':'array'}",
        "{'type':'array','prefixItems':[{'const':1},{'const':'x'}]}"
            + "|{'type':'array','prefixItems':[{'enum':[1]},{'enum':['x']}]}",
        "{'type':'array','items':[{'type':'null'}],'additionalItems':false}"
            + "|{'type':'array','prefixItems':[{'type':'null'}],'items':false}",
        "{'type':'integer','enum':[1,2]}|{'type':'integer','enum':[1,2]}",
        "{'type':'boolean','const':true}|{'type':'boolean','description':'{const: true}'}",
        "{'enum':['']}|{'enum':['']}",
        "{'anyOf':[{'type':'string'},{}],'pattern':'a'}"
            + "|{'anyOf':[{'type':'string'},{}],'description':'{pattern: 'a'}'}",
        "{'properties':{'b':{'type':'null'}},'required':['c']}"
            + "|{'properties':{'b':{'type':'null'}},'required':['c']}"
      })
  @Tag("FR-G15")
  @Tag("FR-H05")
  void what_has_none_is_written_as_json_schema(String schema, String expected) {
    assertEquals(
        "{'parametersJsonSchema':{'type':'object','properties':{'a':" + expected + "}}}",
        member(schema).replace("\\'", "'"));
  }

  @Test
  @Tag("FR-G13")
  void references_are_put_into_their_places_in_both_forms_and_cycles_are_refused() {
    String definitions = "'$defs':{'P':{'type':%s,'properties':{'x':{'type':'integer'}}}}";
    String refers =
        "{'type':'object','properties':{'p':{'$ref':'#/$defs/P','description':'d'},"
            + "'q':{'$ref':'#/properties/p'}},";
    assertEquals(
        "{'parameters':{'type':'OBJECT','properties':{"
            + "'p':{'type':'OBJECT','description':'d','properties':{'x':{'type':'INTEGER'}}},"
            + "'q':{'type':'OBJECT','description':'d','properties':{'x':{'type':'INTEGER'}}}}}}",
        parameters(refers + definitions.formatted("'object'") + "}"));
    String json =
        parameters(refers + definitions.formatted("'object','additionalProperties':true") + "}");
    assertTrue(json.startsWith("{'parametersJsonSchema':") && !json.contains("$"), json);
    ProviderException refused =
        assertThrows(
            ProviderException.class,
            () -> parameters("{'type':'object','properties':{'next':{'$ref':'#'}}}"));
    assertTrue(refused.getMessage().contains("#/properties/next"), refused.getMessage());
  }

  @Test
  void the_schema_of_an_answer_has_the_same_forms_and_says_what_it_is() {
    assertEquals(
        "{'responseSchema':{'type':'OBJECT','description':'A thing.',"
            + "'properties':{'a':{'type':'STRING','nullable':true}},'required':['a']}}",
        response(
            "{'type':'object','properties':{'a':{'type':['string','null']}},'required':['a'],"
                + "'additionalProperties':false}"));
    assertEquals(
        "{'responseJsonSchema':{'type':'object','description':'Mine.',"
            + "'properties':{'a':{'enum':[1,2]}},'required':['a'],'additionalProperties':false}}",
        response(
            "{'type':'object','description':'Mine.','properties':{'a':{'enum':[1,2]}},"
                + "'required':['a'],'additionalProperties':false}"));
  }

  /** A form of the subset as JSON Schema; objects are closed there. */
  private static JsonNode asJsonSchema(JsonNode typed) {
    ObjectNode schema = StrictJson.mapper().createObjectNode();
    for (Map.Entry<String, JsonNode> member : typed.properties()) {
      JsonNode value = member.getValue();
      switch (member.getKey()) {
        case "type" -> {
          schema.put("type", value.stringValue().toLowerCase(Locale.ROOT));
          if (value.stringValue().equals("OBJECT")) {
            schema.put("additionalProperties", false);
          }
        }
        case "properties" -> {
          ObjectNode members = schema.putObject("properties");
          value.properties().forEach(m -> members.set(m.getKey(), asJsonSchema(m.getValue())));
        }
        case "items" -> schema.set("items", asJsonSchema(value));
        case "anyOf" -> value.forEach(v -> schema.withArrayProperty("anyOf").add(asJsonSchema(v)));
        case "nullable" -> {}
        default -> schema.set(member.getKey(), value);
      }
    }
    if (!typed.path("nullable").asBoolean(false)) {
      return schema;
    }
    ObjectNode orNull = StrictJson.mapper().createObjectNode();
    ArrayNode both = orNull.putArray("anyOf").add(schema);
    both.addObject().put("type", "null");
    return orNull;
  }

  @Test
  void no_rule_is_lost_without_a_word() {
    int[] counts = {0, 0, 0};
    Fuzz.play(
        random -> {
          Schemas schemas = new Schemas(random);
          ObjectNode plain = schemas.plain(2);
          JsonNode schema = SchemaReferences.inlined(Json.parse(StrictJson.write(plain)));
          Optional<ObjectNode> typed = TypedSchema.of(schema);
          String text = typed.map(StrictJson::write).orElse(" {");
          if (text.contains("\"{") || text.contains(" {") || plain.toString().contains("oneOf")) {
            counts[2]++;
            return; // has no form, or is told in words
          }
          JsonNode form = asJsonSchema(typed.orElseThrow());
          for (int i = 0; i < 6; i++) {
            JsonNode value = schemas.value(2);
            boolean accepted = Schemas.accepts(form, value);
            counts[accepted ? 1 : 0]++;
            assertTrue(
                !accepted || Schemas.accepts(plain, value),
                () -> plain + "\n" + form + "\n" + value);
          }
        });
    assertTrue(counts[0] > 0 && counts[1] > 0 && counts[2] > 0);
  }
}
