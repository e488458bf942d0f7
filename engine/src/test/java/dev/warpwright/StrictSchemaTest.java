package dev.warpwright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.tool.Description;
import dev.warpwright.tool.JsonType;
import dev.warpwright.tool.NotRequired;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rewriting of schemas for strict services, as tables. */
@Tag("R166")
@Tag("FR-H05")
final class StrictSchemaTest {
  private static String strict(String schema) {
    return StrictSchema.of(Json.parse(schema)).text();
  }

  private static String object(String member) {
    return "{\"type\":\"object\",\"properties\":{\"a\":"
        + member
        + "},\"required\":[\"a\"],\"additionalProperties\":false}";
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        // closed, and all members required
        "{'type':'object','properties':{'a':{'type':'string'}},'required':['a']}"
            + "|{'type':'object','properties':{'a':{'type':'string'}},'required':['a'],'additionalProperties':false}",
        "{'type':'object','properties':{}}"
            + "|{'type':'object','properties':{},'required':[],'additionalProperties':false}",
        "{'type':'object','additionalProperties':false}"
            + "|{'type':'object','properties':{},'required':[],'additionalProperties':false}",
        // what may be absent may be null
        "{'type':'object','properties':{'a':{'type':'string'}}}"
            + "|{'type':'object','properties':{'a':{'type':['string','null']}},'required':['a'],'additionalProperties':false}",
        "{'type':'object','properties':{'a':{'type':['string','null']}}}"
            + "|{'type':'object','properties':{'a':{'type':['string','null']}},'required':['a'],'additionalProperties':false}",
        "{'type':'object','properties':{'a':{'type':'string','enum':['x']}}}"
            + "|{'type':'object','properties':{'a':{'type':['string','null'],'enum':['x',null]}},'required':['a'],'additionalProperties':false}",
        "{'type':'object','properties':{'a':{'type':'string','const':'x'}}}"
            + "|{'type':'object','properties':{'a':{'type':['string','null'],'enum':['x',null]}},'required':['a'],'additionalProperties':false}",
        "{'type':'object','properties':{'a':{'$ref':'#'}}}"
            + "|{'type':'object','properties':{'a':{'anyOf':[{'$ref':'#'},{'type':'null'}]}},'required':['a'],'additionalProperties':false}",
        "{'type':'object','properties':{'a':{'anyOf':[{'type':'string'},{'type':'null'}]}}}"
            + "|{'type':'object','properties':{'a':{'anyOf':[{'type':'string'},{'type':'null'}]}},'required':['a'],'additionalProperties':false}",
      })
  void objects_are_closed_and_what_may_be_absent_may_be_null(String schema, String expected) {
    assertEquals(expected.replace('\'', '"'), strict(schema.replace('\'', '"')));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        // constants say their type
        "{'enum':['x',1,1.5,true]}|{'enum':['x',1,1.5,true],'type':['string','integer','number','boolean']}",
        "{'const':'x'}|{'const':'x','type':'string'}",
        // a choice is a choice
        "{'oneOf':[{'type':'string'},{'type':'integer'}]}|{'anyOf':[{'type':'string'},{'type':'integer'}]}",
        // nested objects, lists of them
        "{'type':'array','items':{'type':'object','properties':{}}}"
            + "|{'type':'array','items':{'type':'object','properties':{},'required':[],'additionalProperties':false}}",
        // what restricts nothing is left out, what restricts is kept
        "{'type':'string','$comment':'c','examples':['x'],'default':'x','x-mine':1,'maxLength':3}"
            + "|{'type':'string','maxLength':3}",
        "{'type':'integer','minimum':0,'exclusiveMaximum':10}|{'type':'integer','minimum':0,'exclusiveMaximum':10}",
        // a reference stands alone
        "{'description':'d','$ref':'#'}|{'description':'d','anyOf':[{'$ref':'#'}]}",
      })
  void values_keep_what_they_mean(String schema, String expected) {
    assertEquals(
        object(expected.replace('\'', '"')),
        strict(
            "{\"type\":\"object\",\"properties\":{\"a\":"
                + schema.replace('\'', '"')
                + "},\"required\":[\"a\"]}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'type':'object'}|$.a is a free-form map",
        "{'type':'object','additionalProperties':{'type':'string'}}|$.a is a free-form map",
        "{'type':'object','properties':{},'additionalProperties':true}|$.a is a free-form map",
        "{'type':'array','items':{'type':'object'}}|$.a[] is a free-form map",
        "{'type':'array'}|$.a[] is any JSON value",
        "{}|$.a is any JSON value",
        "true|$.a is any JSON value",
        "{'type':'string','not':{'const':'x'}}|$.a uses not",
        "{'allOf':[{'type':'string'}]}|$.a uses allOf",
        "{'type':'object','properties':{},'patternProperties':{'x':{}}}|$.a uses patternProperties",
        "{'type':'object','properties':{'b':{}}}|$.a.b is any JSON value",
        "{'type':'object','properties':{},'required':['z']}|$.a requires a member",
        "{'$ref':'#/properties/a'}|$.a refers to something other",
        "{'$ref':'#','minimum':1}|$.a combines a reference with minimum",
        "{'anyOf':[{'type':'string'}],'type':'string'}|$.a combines a choice with type",
        "{'anyOf':[{'type':'string'},{}]}|$.a is any JSON value",
        "{'const':{}}|$.a has a constant",
        "{'type':'integer','exclusiveMinimum':true}|$.a uses exclusiveMinimum",
      })
  void what_has_no_strict_form_is_refused_with_its_path(String schema, String reason) {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class, () -> strict(object(schema.replace('\'', '"'))));

    assertTrue(String.valueOf(refused.getMessage()).contains(reason), refused::getMessage);
  }

  @ParameterizedTest
  @CsvSource({"string", "array"})
  void the_root_is_an_object(String type) {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class,
            () -> strict("{\"type\":\"" + type + "\",\"items\":{\"type\":\"string\"}}"));

    assertTrue(String.valueOf(refused.getMessage()).contains("$ is no object"));
  }

  @Test
  void definitions_are_rewritten_and_named_in_a_refusal() {
    assertEquals(
        "{\"type\":\"object\",\"properties\":{},\"required\":[],\"additionalProperties\":false,"
            + "\"$defs\":{\"D\":{\"type\":\"object\",\"properties\":{},\"required\":[],"
            + "\"additionalProperties\":false}}}",
        strict(
            "{\"$defs\":{\"D\":{\"type\":\"object\",\"properties\":{}}},"
                + "\"type\":\"object\",\"properties\":{}}"));
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class,
            () -> strict("{\"$defs\":{\"D\":{}},\"type\":\"object\",\"properties\":{}}"));
    assertTrue(String.valueOf(refused.getMessage()).contains("#/$defs/D is any JSON value"));
  }

  sealed interface Shape {
    record Circle(double radius) implements Shape {}

    record Group(List<Shape> members, @NotRequired @Nullable Shape around) implements Shape {}
  }

  record Drawing(
      @Description("What it shows") Shape shape, Optional<Drawing> next, Optional<Integer> rank) {}

  record Labelled(String name, Map<String, String> labels) {}

  @Test
  void records_unions_and_recursion_have_a_strict_form() {
    Json schema = JsonType.of(Drawing.class, MethodHandles.lookup()).schema();
    Json strict = StrictSchema.of(schema);
    Json answer =
        Json.parse(
            """
            {"shape":{"type":"Group","members":[{"type":"Circle","radius":1.5}],"around":null},
             "next":{"shape":{"type":"Circle","radius":2},"next":null,"rank":3},"rank":null}
            """);

    assertEquals(List.of(), JsonType.ofSchema(strict).violations(answer));
    assertEquals(List.of(), JsonType.of(Drawing.class, MethodHandles.lookup()).violations(answer));
    assertEquals(
        strict, StrictSchema.of(strict), "a strict schema stays as it is, but for its order");
  }

  @Test
  void a_map_in_a_record_is_refused_with_its_path() {
    Json schema = JsonType.of(Labelled.class, MethodHandles.lookup()).schema();

    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> StrictSchema.of(schema));

    assertTrue(String.valueOf(refused.getMessage()).contains("$.labels is a free-form map"));
  }
}
