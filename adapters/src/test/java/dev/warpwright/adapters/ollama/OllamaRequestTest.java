package dev.warpwright.adapters.ollama;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Reasoning.Effort;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolResultFormat;
import dev.warpwright.model.ToolSpec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Golden bodies: exact bytes. */
final class OllamaRequestTest {
  private static final ToolSpec WEATHER =
      new ToolSpec(
          "get_weather",
          "The weather in a city.",
          Json.parse(
              """
              {"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}
              """));

  private static String body(ModelCall call) {
    return new String(OllamaRequest.body("llama", call), StandardCharsets.UTF_8);
  }

  private static String body(UnaryOperator<ModelCall.Builder> with) {
    return body(with.apply(ModelCall.builder(List.of(Message.user("Hi")))).build());
  }

  /** The members behind the conversation of one word. */
  private static String members(UnaryOperator<ModelCall.Builder> with) {
    String start = "{\"model\":\"llama\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],";
    String body = body(with);
    assertTrue(body.startsWith(start), body);
    return body.substring(start.length());
  }

  /** The array of messages alone. */
  private static String messages(Message... messages) {
    String body = body(ModelCall.builder(List.of(messages)).build());
    String start = "{\"model\":\"llama\",\"messages\":";
    String end = ",\"stream\":false}";
    assertTrue(body.startsWith(start) && body.endsWith(end), body);
    return body.substring(start.length(), body.length() - end.length());
  }

  private static ProviderException refused(UnaryOperator<ModelCall.Builder> with) {
    return assertThrows(ProviderException.class, () -> body(with));
  }

  private static Message asks(Part... parts) {
    return new Message(Role.ASSISTANT, List.of(parts));
  }

  private static ToolCall toolCall(String id, String input) {
    return new ToolCall(id, "f", Json.parse(input));
  }

  private static ProviderState thought(String modelId, String text) {
    return PrivateThinking.keep(modelId, text).issuedBy("ollama");
  }

  // --- the conversation
  // ---------------------------------------------------------------------------

  @Test
  void whether_it_streams_is_always_said() {
    ModelCall call = ModelCall.builder(List.of(Message.user("Hi"))).build();
    assertEquals(
        "{\"model\":\"llama\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"stream\":false}",
        body(call));
    assertEquals(
        "{\"model\":\"llama\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"stream\":true}",
        new String(OllamaRequest.streamed("llama", call), StandardCharsets.UTF_8));
  }

  @Test
  @Tag("Y27")
  @Tag("Y28")
  @Tag("Y43")
  void a_tool_round_has_objects_for_arguments_and_a_message_for_each_result_in_call_order() {
    assertEquals(
        """
        [{"role":"system","content":"Be brief."},{"role":"user","content":"Hi \uFFFD"},\
        {"role":"assistant","content":"Look.","tool_calls":[\
        {"id":"a b","function":{"name":"f","arguments":{"id":2512292042121000001,"x":1.50}}},\
        {"id":"b","function":{"name":"f","arguments":{}}}]},\
        {"role":"tool","tool_name":"f","tool_call_id":"a b","content":"{\\"t\\":1.50}"},\
        {"role":"tool","tool_name":"f","tool_call_id":"b",\
        "content":"{\\"error\\":{\\"message\\":\\"No.\\"}}"},\
        {"role":"assistant","content":"So."},{"role":"user","content":"Bye"}]\
        """,
        messages(
            Message.system("Be brief."),
            Message.user("Hi \uD800"),
            asks(
                new Part.Text("Look."),
                toolCall("a b", "{\"id\":2512292042121000001,\"x\":1.50}"),
                ToolCall.malformed("b", "f", "{\"cut")),
            Message.tool(List.of(ToolResult.failure(toolCall("b", "{}"), "No."))),
            Message.tool(
                List.of(ToolResult.success(toolCall("a b", "{}"), Json.parse("{\"t\":1.50}")))),
            Message.assistant("So."),
            Message.user("Bye")));
  }

  @Test
  @Tag("Y43")
  void results_at_the_end_are_sent_and_stand_in_envelopes_on_request() {
    ToolCall call = toolCall("a", "{}");
    String body =
        body(
            ModelCall.builder(
                    List.of(
                        Message.user("Hi"),
                        asks(call),
                        Message.tool(List.of(ToolResult.success(call, Json.of(7))))))
                .toolResults(ToolResultFormat.ENVELOPE)
                .build());
    assertTrue(
        body.endsWith(
            "{\"role\":\"tool\",\"tool_name\":\"f\",\"tool_call_id\":\"a\","
                + "\"content\":\"{\\\"output\\\":7}\"}],\"stream\":false}"),
        body);
  }

  @Test
  @Tag("Y47")
  @Tag("R70")
  void thinking_goes_back_to_the_model_that_thought_and_to_no_other() {
    ProviderState other =
        ProviderState.of("anthropic-messages", "llama", Json.parse("{\"thinking\":\"C\"}"));
    assertEquals(
        """
        [{"role":"user","content":"Hi"},\
        {"role":"assistant","content":"","thinking":" A\\n\\"ä\\" ","tool_calls":[\
        {"id":"c","function":{"name":"f","arguments":{}}}]}]\
        """,
        messages(
            Message.user("Hi"),
            asks(
                thought("llama", " A\n\"ä\" "), thought("qwen", "B"), other, toolCall("c", "{}"))));
  }

  @Test
  void pictures_stand_beside_the_text_in_base64() {
    assertEquals(
        "[{\"role\":\"user\",\"content\":\"What are these?\",\"images\":[\"AQID\",\"BA==\"]}]",
        messages(
            new Message(
                Role.USER,
                List.of(
                    Image.of("image/png", new byte[] {1, 2, 3}),
                    new Part.Text("What are these?"),
                    Image.of("image/jpeg", new byte[] {4})))));
  }

  @Test
  void a_picture_that_is_elsewhere_is_refused_and_its_url_not_shown() {
    Message shown =
        new Message(Role.USER, List.of(new Image("https://example.com/a.png?signature=secret")));
    ProviderException refused =
        assertThrows(ProviderException.class, () -> messages(Message.user("Hi"), shown));
    assertTrue(refused.getMessage().contains("send its bytes"), refused.getMessage());
    assertTrue(!refused.getMessage().contains("secret"), refused.getMessage());
  }

  @Test
  void text_behind_a_call_is_never_moved() {
    Message mixed = asks(toolCall("a", "{}"), new Part.Text("So."));
    assertThrows(ProviderException.class, () -> messages(Message.user("Hi"), mixed));
  }

  // --- tools
  // --------------------------------------------------------------------------------------

  @Test
  void tools_are_offered_in_the_form_of_functions() {
    assertEquals(
        """
        "tools":[{"type":"function","function":{"name":"get_weather",\
        "description":"The weather in a city.","parameters":{"type":"object",\
        "properties":{"city":{"type":"string"}},"required":["city"]}}}],"stream":false}\
        """,
        members(call -> call.tools(List.of(WEATHER))));
  }

  @Test
  void where_no_tool_may_be_called_none_is_offered_and_where_one_must_the_call_is_refused() {
    assertEquals(
        "\"stream\":false}",
        members(call -> call.tools(List.of(WEATHER)).toolChoice(ToolChoice.NONE)));
    for (ToolChoice choice : List.of(ToolChoice.REQUIRED, ToolChoice.tool("get_weather"))) {
      ProviderException refused = refused(call -> call.tools(List.of(WEATHER)).toolChoice(choice));
      assertTrue(refused.getMessage().contains("leave the choice"), refused.getMessage());
      refused(call -> call.toolChoice(choice));
    }
  }

  private static String parameters(String schema) {
    return ToolParameters.function(new ToolSpec("f", "Does.", Json.parse(schema))).toString();
  }

  private static String properties(String properties) {
    String function = parameters("{\"type\":\"object\",\"properties\":" + properties + "}");
    String start =
        "{\"name\":\"f\",\"description\":\"Does.\",\"parameters\":{\"type\":\"object\",\"properties\":";
    assertTrue(function.startsWith(start), function);
    return function.substring(start.length(), function.length() - 2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"a":{"type":["string","null"],"description":"d","title":"T","default":"x"}} | {"a":{"type":["string","null"],"description":"d"}}
          {"a":{"const":7}} | {"a":{"enum":[7]}}
          {"a":{"oneOf":[{"type":"string"},{"const":null}]}} | {"a":{"anyOf":[{"type":"string"},{"enum":[null]}]}}
          {"a":{"type":"integer","minimum":1,"maximum":9,"description":"How many"}} | {"a":{"type":"integer","description":"How many {minimum: 1, maximum: 9}"}}
          {"a":{"type":"object","additionalProperties":{"type":"integer"}}} | {"a":{"type":"object","description":"{additionalProperties: {\\"type\\":\\"integer\\"}}"}}
          {"a":{"type":"array","items":{"type":"object","properties":{"const":{"pattern":"x"}},"additionalProperties":false}}} | {"a":{"type":"array","items":{"type":"object","properties":{"const":{"description":"{pattern: \\"x\\"}"}}}}}
          {"a":true} | {"a":{}}
          """)
  @Tag("Y48")
  void rules_that_the_server_would_drop_become_others_or_words(String schema, String written) {
    assertEquals(written.replace("\\\\", "\\"), properties(schema.replace("\\\\", "\\")));
  }

  @Test
  @Tag("Y48")
  @Tag("FR-G13")
  void references_are_replaced_by_what_they_refer_to_with_what_stands_beside_them() {
    assertEquals(
        """
        {"name":"f","description":"Does. All of it. {minProperties: 1}","parameters":\
        {"type":"object","properties":{"a":{"type":"object","description":"mine",\
        "properties":{"x":{"type":"string"}}},"b":{"type":"object","description":"theirs",\
        "properties":{"x":{"type":"string"}}}}}}\
        """,
        parameters(
            """
            {"type":"object","description":"All of it.","minProperties":1,
             "properties":{"a":{"$ref":"#/$defs/P","description":"mine"},
                           "b":{"$ref":"#/definitions/Q~1Q"}},
             "definitions":{"Q/Q":{"$ref":"#/$defs/P"}},
             "$defs":{"P":{"type":"object","description":"theirs",
                           "properties":{"x":{"type":"string"}}}}}
            """));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}}}",
        "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/P\"}},"
            + "\"$defs\":{\"P\":{\"properties\":{\"next\":{\"$ref\":\"#/$defs/P\"}}}}}",
        "{\"properties\":{\"a\":{\"$ref\":\"#/properties/a\"}}}",
        "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/none\"}}}",
        "{\"properties\":{\"a\":{\"$ref\":\"https://example.com/s.json\"}}}",
        "{\"properties\":{\"a\":{\"$ref\":\"#anchor\"}}}",
        "{\"properties\":{\"a\":{\"$ref\":7}}}"
      })
  @Tag("Y48")
  @Tag("FR-G13")
  void a_schema_that_refers_to_itself_or_elsewhere_is_refused_naming_the_path(String schema) {
    ProviderException refused = assertThrows(ProviderException.class, () -> parameters(schema));
    assertTrue(refused.getMessage().contains(" at #/"), refused.getMessage());
  }

  @Test
  @Tag("Y48")
  void references_that_would_make_a_schema_without_end_large_are_refused() {
    StringBuilder schema =
        new StringBuilder("{\"properties\":{\"x\":{\"$ref\":\"#/$defs/d0\"}},\"$defs\":{");
    for (int i = 0; i < 40; i++) { // each doubles what comes
      String next = "{\"$ref\":\"#/$defs/d" + (i + 1) + "\"}";
      schema.append("\"d%d\":{\"properties\":{\"l\":%s,\"r\":%s}},".formatted(i, next, next));
    }
    schema.append("\"d40\":{\"type\":\"string\"}}}");
    ProviderException refused =
        assertThrows(ProviderException.class, () -> parameters(schema.toString()));
    assertTrue(refused.getMessage().contains("at most 10000 parts"), refused.getMessage());
  }

  @Test
  @Tag("Y48")
  void parts_that_all_hold_become_one_schema_and_an_unknown_rule_is_told_without_references() {
    assertEquals(
        """
        {"a":{"required":["x"],"properties":{"x":{"type":"string"}},"type":"object"},\
        "b":{"description":"{not: {\\"type\\":\\"null\\"}}"}}\
        """,
        properties(
                "{\"a\":{\"allOf\":[{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"}}},"
                    + "{\"required\":[\"x\"]}]},\"b\":{\"not\":{\"$ref\":\"#/properties/c\"}},"
                    + "\"c\":{\"type\":\"null\"}}")
            .replace(",\"c\":{\"type\":\"null\"}", ""));
  }

  // --- the rest
  // -----------------------------------------------------------------------------------

  @Test
  void sampling_stands_in_the_options_beside_those_of_the_provider_which_cannot_override() {
    assertEquals(
        "\"options\":{\"temperature\":0.2,\"num_predict\":50},\"stream\":false}",
        members(call -> call.temperature(OptionalDouble.of(0.2)).maxTokens(OptionalInt.of(50))));
    assertEquals(
        """
        {"keep_alive":"5m","options":{"num_ctx":8192,"temperature":0.0},"stream":false,\
        "model":"llama","messages":[{"role":"user","content":"Hi"}],"think":false}\
        """,
        body(
            call ->
                call.providerOptions(
                        Json.parse(
                            "{\"keep_alive\":\"5m\",\"options\":{\"num_ctx\":8192,"
                                + "\"temperature\":1},\"stream\":7,\"model\":\"x\","
                                + "\"messages\":[],\"think\":true}"))
                    .temperature(OptionalDouble.of(0))
                    .reasoning(Optional.of(Reasoning.effort(Effort.NONE)))));
    assertEquals(
        "{\"options\":{\"num_ctx\":9},\"model\":\"llama\","
            + "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"stream\":false}",
        body(call -> call.providerOptions(Json.parse("{\"options\":{\"num_ctx\":9}}"))));
    refused(
        call -> call.providerOptions(Json.parse("{\"options\":[]}")).maxTokens(OptionalInt.of(1)));
    refused(call -> call.temperature(OptionalDouble.of(Double.NaN)));
  }

  @ParameterizedTest
  @CsvSource({
    "NONE,false",
    "LOW,'\"low\"'",
    "MEDIUM,'\"medium\"'",
    "HIGH,'\"high\"'",
    "MAX,'\"max\"'"
  })
  void an_effort_is_a_level_of_thinking(Effort effort, String think) {
    assertEquals(
        "\"think\":" + think + ",\"stream\":false}",
        members(call -> call.reasoning(Optional.of(Reasoning.effort(effort)))));
  }

  @Test
  void what_the_protocol_has_no_word_for_is_refused() {
    refused(call -> call.reasoning(Optional.of(Reasoning.effort(Effort.MINIMAL))));
    refused(call -> call.reasoning(Optional.of(Reasoning.budget(2_000))));
  }

  @Test
  @Tag("Y48")
  void an_object_is_asked_for_by_its_schema_or_as_any_json() {
    assertEquals(
        "\"format\":\"json\",\"stream\":false}",
        members(call -> call.output(Optional.of(new OutputFormat.JsonObject()))));
    Json schema =
        Json.parse(
            """
            {"type":"object","properties":{"n":{"type":"integer","minimum":1},
             "a":{"type":"string","pattern":"^x+$"},"b":{"type":"string","pattern":"x"},
             "c":{"type":"string","pattern":"^(?=x).$"},"d":{"$ref":"#/$defs/D"}},
             "$defs":{"D":{"type":"null"}},"required":["n"],"additionalProperties":false}
            """);
    assertEquals(
        """
        "format":{"type":"object","properties":{"n":{"type":"integer","minimum":1},\
        "a":{"type":"string","pattern":"^x+$"},\
        "b":{"type":"string","description":"{pattern: \\"x\\"}"},\
        "c":{"type":"string","description":"{pattern: \\"^(?=x).$\\"}"},\
        "d":{"$ref":"#/$defs/D"}},"$defs":{"D":{"type":"null"}},"required":["n"],\
        "additionalProperties":false},"stream":false}\
        """,
        members(
            call ->
                call.output(
                    Optional.of(new OutputFormat.JsonSchema("trip", Optional.empty(), schema)))));
  }
}
