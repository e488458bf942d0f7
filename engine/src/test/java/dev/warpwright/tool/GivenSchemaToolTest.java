package dev.warpwright.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import dev.warpwright.task.Deadline;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tools whose input is JSON under a schema that is given. */
final class GivenSchemaToolTest {
  private static final Json SCHEMA =
      Json.parse(
          """
          {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}\
          """);

  private final Tool tool =
      Tool.builder("t", "Acts.", SCHEMA, EffectClass.PURE, (input, context) -> input).build();

  private CheckedCall check(String input) {
    return ToolSet.of(List.of(tool))
        .check(new ToolCall("c1", "t", Json.parse(input)), new ToolCaller("op", Map.of()));
  }

  @Test
  void the_model_is_told_the_schema_as_it_was_given() {
    assertEquals(SCHEMA, tool.spec().inputSchema());
  }

  @Test
  void an_input_that_breaks_the_schema_is_refused_and_any_other_reaches_the_function()
      throws Exception {
    var refused = assertInstanceOf(CheckedCall.Refused.class, check("{\"n\": 1.5}"));
    assertEquals(
        "The input of tool \"t\" does not match its schema: $.n breaks type at #/properties/n/type"
            + " of the schema",
        refused.message());
    var callable = assertInstanceOf(CheckedCall.Callable.class, check("{\"n\": 2, \"more\": []}"));
    assertEquals(
        Json.parse("{\"n\": 2, \"more\": []}"),
        tool.call(
            callable.call(),
            new ToolContext(new ToolCaller("op", Map.of()), "c1", "key", 1, Deadline.never())));
  }

  @Test
  void a_schema_that_is_none_is_refused() {
    assertThrows(
        InvalidRequestException.class,
        () ->
            Tool.builder(
                "t",
                "Acts.",
                Json.parse("{\"type\": 7}"),
                EffectClass.PURE,
                (input, context) -> input));
  }
}
