package dev.warpwright.adapters.protocol.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.wire.AcceptedIds;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolResultFormat;
import dev.warpwright.model.ToolSpec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Golden bodies: exact bytes. */
final class ChatRequestTest {
  private static final ToolSpec WEATHER =
      new ToolSpec(
          "get_weather",
          "The weather in a city.",
          Json.parse(
              """
              {"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}
              """));
  private static final String WEATHER_JSON =
      """
      "tools":[{"type":"function","function":{"name":"get_weather",\
      "description":"The weather in a city.","parameters":{"type":"object",\
      "properties":{"city":{"type":"string"}},"required":["city"]}}}]\
      """;

  private static final Json TRIP =
      Json.parse(
          """
          {"type":"object","properties":{"name":{"type":"string","maxLength":9},
           "days":{"type":["integer","null"],"minimum":0,"description":"How long"},
           "tags":{"type":"array","items":{"type":"string","format":"iri"},"uniqueItems":true}},
           "required":["name","days","tags"],"additionalProperties":false}
          """);

  private static ModelCall call(List<Message> messages, List<ToolSpec> tools, ToolChoice choice) {
    return ModelCall.builder(messages).tools(tools).toolChoice(choice).build();
  }

  private static String body(ModelCall call) {
    return new String(Requests.chat("gpt-x").body(call), StandardCharsets.UTF_8);
  }

  private static String messages(Message... messages) {
    String body = body(call(List.of(messages), List.of(), ToolChoice.AUTO));
    String start = "{\"model\":\"gpt-x\",\"messages\":";
    String end = ",\"stream\":false}";
    assertEquals(start, body.substring(0, start.length()));
    assertEquals(end, body.substring(body.length() - end.length()));
    return body.substring(start.length(), body.length() - end.length());
  }

  private static Message asks(Part... parts) {
    return new Message(Role.ASSISTANT, List.of(parts));
  }

  private static ToolCall toolCall(String id, String input) {
    return new ToolCall(id, "f", Json.parse(input));
  }

  @Test
  void texts_of_each_role_are_plain_strings() {
    assertEquals(
        """
        [{"role":"system","content":"Be brief."},{"role":"user","content":"Hi, \\"you\\"/ä🌍\\n"},\
        {"role":"assistant","content":"Hello."},{"role":"user","content":""}]\
        """,
        messages(
            Message.system("Be brief."),
            Message.user("Hi, \"you\"/ä🌍\n"),
            Message.assistant("Hello."),
            Message.user("")));
  }

  @Test
  void an_assistant_turn_without_any_part_is_an_empty_text() {
    assertEquals("[{\"role\":\"assistant\",\"content\":\"\"}]", messages(asks()));
  }

  @Test
  @Tag("R77")
  @Tag("C12")
  void an_image_makes_the_content_a_list_of_parts_in_their_order() {
    Image picture = Image.of("image/png", new byte[] {1, 2, 3});
    Image remote = new Image("https://example.com/cat.png");
    assertEquals(
        """
        [{"role":"user","content":[{"type":"text","text":"Which?"},\
        {"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},\
        {"type":"image_url","image_url":{"url":"https://example.com/cat.png"}}]}]\
        """,
        messages(Message.user("Which?", picture, remote)));
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R372")
  void an_effort_of_reasoning_is_written_with_its_own_limit_of_tokens(Reasoning.Effort effort) {
    ModelCall call =
        ModelCall.builder(List.of())
            .reasoning(Optional.of(Reasoning.effort(effort)))
            .maxTokens(OptionalInt.of(100))
            .build();
    assertEquals(
        "{\"model\":\"gpt-x\",\"messages\":[],\"max_completion_tokens\":100,"
            + "\"reasoning_effort\":\""
            + (effort == Reasoning.Effort.MAX ? "xhigh" : effort.name().toLowerCase(Locale.ROOT))
            + "\",\"stream\":false}",
        body(call));
  }

  @Test
  @Tag("R372")
  void a_budget_of_reasoning_is_refused_and_not_guessed_at() {
    ModelCall call =
        ModelCall.builder(List.of()).reasoning(Optional.of(Reasoning.budget(2_000))).build();
    ProviderException refused = assertThrows(ProviderException.class, () -> body(call));
    assertEquals(ProviderException.Kind.UNSUPPORTED, refused.kind());
  }

  @Test
  @Tag("R376")
  void options_of_the_provider_add_members_and_override_none() {
    ModelCall call =
        ModelCall.builder(List.of(Message.user("?")))
            .providerOptions(
                Json.parse(
                    """
                    {"seed":7,"model":"other","messages":[],"stream":true,"top_p":0.50}
                    """))
            .build();
    String body = body(call);
    assertEquals("gpt-x", StrictJson.read(body).path("model").stringValue());
    assertEquals(1, StrictJson.read(body).path("messages").size());
    assertFalse(StrictJson.read(body).path("stream").booleanValue());
    assertTrue(body.contains("\"seed\":7"), body);
    assertTrue(body.contains("\"top_p\":0.50"), body);
  }

  @Test
  @Tag("Y33")
  @Tag("R376")
  void a_stream_asks_for_usage_and_takes_other_options_of_streams_along() {
    for (String options :
        List.of("{}", "{\"stream\":false,\"stream_options\":{\"include_usage\":false,\"x\":1}}")) {
      ModelCall call =
          ModelCall.builder(List.of(Message.user("?")))
              .providerOptions(Json.parse(options))
              .build();
      JsonNode body =
          StrictJson.read(
              new String(Requests.chat("gpt-x").streamed(call), StandardCharsets.UTF_8));
      assertTrue(body.path("stream").booleanValue());
      assertTrue(body.path("stream_options").path("include_usage").booleanValue());
      assertEquals(options.contains("x"), body.path("stream_options").has("x"));
    }
  }

  @Test
  void tools_and_options_are_written_when_they_are_set() {
    ModelCall call =
        ModelCall.builder(List.of(Message.user("?")))
            .tools(List.of(WEATHER))
            .toolChoice(ToolChoice.REQUIRED)
            .temperature(OptionalDouble.of(0.7))
            .maxTokens(OptionalInt.of(100))
            .build();
    assertEquals(
        "{\"model\":\"gpt-x\",\"messages\":[{\"role\":\"user\",\"content\":\"?\"}],"
            + WEATHER_JSON
            + ",\"tool_choice\":\"required\",\"temperature\":0.7,\"max_tokens\":100,"
            + "\"stream\":false}",
        body(call));
  }

  @Test
  void each_tool_choice_has_its_form_and_auto_is_the_protocols_default() {
    String start =
        "{\"model\":\"gpt-x\",\"messages\":[{\"role\":\"user\",\"content\":\"?\"}]," + WEATHER_JSON;
    List<Message> messages = List.of(Message.user("?"));
    assertEquals(
        start + ",\"stream\":false}", body(call(messages, List.of(WEATHER), ToolChoice.AUTO)));
    assertEquals(
        start + ",\"tool_choice\":\"none\",\"stream\":false}",
        body(call(messages, List.of(WEATHER), ToolChoice.NONE)));
    assertEquals(
        start
            + ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"get_weather\"}}"
            + ",\"stream\":false}",
        body(call(messages, List.of(WEATHER), ToolChoice.tool("get_weather"))));
  }

  @Test
  void without_tools_there_is_no_tool_choice_and_none_can_be_required() {
    List<Message> messages = List.of(Message.user("?"));
    String plain = body(call(messages, List.of(), ToolChoice.AUTO));
    assertEquals(plain, body(call(messages, List.of(), ToolChoice.NONE)));
    for (ToolChoice choice : List.of(ToolChoice.REQUIRED, ToolChoice.tool("f"))) {
      ProviderException refused =
          assertThrows(ProviderException.class, () -> body(call(messages, List.of(), choice)));
      assertEquals(ProviderException.Kind.UNSUPPORTED, refused.kind());
    }
  }

  @ParameterizedTest
  @CsvSource({"0.0, 0.0", "1.0, 1.0", "0.1, 0.1", "2.0, 2.0", "1.0E-5, 0.000010"})
  @Tag("Y28")
  void a_temperature_is_written_as_it_reads(double temperature, String written) {
    ModelCall call =
        ModelCall.builder(List.of()).temperature(OptionalDouble.of(temperature)).build();
    assertEquals(
        "{\"model\":\"gpt-x\",\"messages\":[],\"temperature\":" + written + ",\"stream\":false}",
        body(call));
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
  void a_temperature_that_is_no_number_is_refused(double temperature) {
    ModelCall call =
        ModelCall.builder(List.of()).temperature(OptionalDouble.of(temperature)).build();
    assertThrows(ProviderException.class, () -> body(call));
  }

  @Test
  @Tag("Y28")
  @Tag("Y31")
  @Tag("FR-N03")
  void calls_are_replayed_as_compact_texts_with_every_digit_and_the_order_of_members() {
    assertEquals(
        """
        [{"role":"assistant","content":"Let me look.","tool_calls":[\
        {"id":"c1","type":"function","function":{"name":"f","arguments":\
        "{\\"z\\":9007199254740993,\\"a\\":[1.50,\\"1234567890123456789\\"]}"}},\
        {"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}]}]\
        """,
        messages(
            asks(
                new Part.Text("Let me look."),
                toolCall(
                    "c1", "{ \"z\" : 9007199254740993, \"a\": [1.50, \"1234567890123456789\"]}"),
                toolCall("c2", "{}"))));
  }

  @Test
  void a_turn_of_calls_only_has_the_content_null() {
    assertEquals(
        """
        [{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",\
        "function":{"name":"f","arguments":"{\\"a\\":1}"}}]}]\
        """,
        messages(asks(toolCall("c1", "{\"a\":1}"))));
  }

  @Test
  void a_malformed_call_is_replayed_with_the_empty_object() {
    assertEquals(
        """
        [{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",\
        "function":{"name":"f","arguments":"{}"}}]}]\
        """,
        messages(asks(ToolCall.malformed("c1", "f", "{\"a\":"))));
  }

  @Test
  @Tag("R195")
  void a_result_is_the_json_text_of_its_output_and_a_failure_says_so() {
    ToolCall one = toolCall("c1", "{}");
    assertEquals(
        """
        {"role":"tool","tool_call_id":"c1","content":"{\\"t\\":21.50}"}\
        """,
        result(ToolResult.success(one, Json.parse("{ \"t\": 21.50 }"))));
    assertEquals(
        """
        {"role":"tool","tool_call_id":"c1","content":"\\"3\\""}\
        """,
        result(ToolResult.success(one, Json.of("3"))));
    assertEquals(
        """
        {"role":"tool","tool_call_id":"c1","content":"3"}\
        """,
        result(ToolResult.success(one, Json.of(3))));
    assertEquals(
        """
        {"role":"tool","tool_call_id":"c1","content":"null"}\
        """,
        result(ToolResult.success(one, Json.of(null))));
    assertEquals(
        """
        {"role":"tool","tool_call_id":"c1",\
        "content":"{\\"error\\":{\\"message\\":\\"No such \\\\\\"city\\\\\\".\\"}}"}\
        """,
        result(ToolResult.failure(one, "No such \"city\".")));
    assertEquals(
        """
        {"role":"tool","tool_call_id":"c1","content":"{\\"error\\":{\\"message\\":\\"[1]\\"}}"}\
        """,
        result(new ToolResult("c1", "f", Json.parse("[1]"), true)));
    assertEquals(
        """
        {"role":"tool","tool_call_id":"c1","content":"{\\"output\\":{\\"error\\":1}}"}\
        """,
        result(ToolResult.success(one, Json.parse("{\"error\":1}"))));
  }

  @Test
  @Tag("R195")
  @Tag("R198")
  void every_result_stands_in_an_envelope_if_the_call_asks_for_it() {
    ToolCall one = toolCall("c1", "{}");
    ToolCall two = toolCall("c2", "{}");
    ModelCall call =
        ModelCall.builder(
                List.of(
                    asks(one, two),
                    Message.tool(
                        List.of(
                            ToolResult.success(one, Json.of("3")),
                            ToolResult.failure(two, "No.")))))
            .toolResults(ToolResultFormat.ENVELOPE)
            .build();
    assertTrue(
        body(call)
            .contains(
                """
                {"role":"tool","tool_call_id":"c1","content":"{\\"output\\":\\"3\\"}"},\
                {"role":"tool","tool_call_id":"c2",\
                "content":"{\\"error\\":{\\"message\\":\\"No.\\"}}"}]\
                """),
        body(call));
  }

  private static String result(ToolResult result) {
    String all = messages(Message.tool(List.of(result)));
    return all.substring(1, all.length() - 1);
  }

  @Test
  @Tag("Y43")
  void results_follow_in_call_order_each_once_also_from_several_messages() {
    Message asks = asks(toolCall("c1", "{}"), toolCall("c2", "{}"), toolCall("c3", "{}"));
    String expected =
        messages(
            asks,
            Message.tool(
                List.of(
                    ToolResult.success(toolCall("c1", "{}"), Json.of(1)),
                    ToolResult.success(toolCall("c2", "{}"), Json.of(2)),
                    ToolResult.success(toolCall("c3", "{}"), Json.of(3)))),
            Message.user("go on"));
    assertEquals(
        expected,
        messages(
            asks,
            Message.tool(
                List.of(
                    ToolResult.success(toolCall("c3", "{}"), Json.of(3)),
                    ToolResult.success(toolCall("c1", "{}"), Json.of(1)))),
            Message.tool(List.of(ToolResult.success(toolCall("c2", "{}"), Json.of(2)))),
            Message.user("go on")));
  }

  @Test
  @Tag("Y43")
  void the_order_of_a_later_turn_is_its_own() {
    String body =
        messages(
            asks(toolCall("a", "{}"), toolCall("b", "{}")),
            Message.tool(
                List.of(
                    ToolResult.success(toolCall("a", "{}"), Json.of(1)),
                    ToolResult.success(toolCall("b", "{}"), Json.of(2)))),
            asks(toolCall("d", "{}"), toolCall("c", "{}")),
            Message.tool(
                List.of(
                    ToolResult.success(toolCall("c", "{}"), Json.of(4)),
                    ToolResult.success(toolCall("d", "{}"), Json.of(3)))));
    assertEquals(
        List.of("a", "b", "d", "c"),
        java.util.regex.Pattern.compile("\"tool_call_id\":\"(.)\"")
            .matcher(body)
            .results()
            .map(match -> match.group(1))
            .toList());
  }

  @Test
  void text_after_a_call_is_refused_rather_than_moved() {
    Message turn = asks(toolCall("c1", "{}"), new Part.Text("later"));
    ProviderException refused = assertThrows(ProviderException.class, () -> messages(turn));
    assertEquals(ProviderException.Kind.UNSUPPORTED, refused.kind());
  }

  @Test
  @Tag("Y27")
  @Tag("FR-U01")
  void lone_surrogates_are_replaced_on_every_path() {
    ToolSpec tool =
        new ToolSpec("f", "d\uD83D", Json.of(java.util.Map.of("description", "\uDE00x")));
    ToolCall asked = new ToolCall("c\uD83D", "f", Json.of(java.util.Map.of("k\uD83D", "v\uDE00")));
    ModelCall call =
        call(
            List.of(
                Message.system("s\uD83D"),
                Message.user("u\uDE00 \uD83D\uDE00"),
                asks(new Part.Text("t\uD83D"), asked),
                Message.tool(List.of(ToolResult.success(asked, Json.of("a\uD83Db")))),
                asks(asked),
                Message.tool(List.of(ToolResult.failure(asked, "e\uD83D")))),
            List.of(tool),
            ToolChoice.AUTO);
    String body = new String(Requests.chat("m\uD83D").body(call), StandardCharsets.UTF_8);
    assertEquals(16, body.chars().filter(c -> c == '\uFFFD').count(), body);
    assertEquals(1, body.split("\uD83D\uDE00", -1).length - 1);
    assertEquals(0, body.split("(?i)\\\\ud[89a-f]", -1).length - 1, body);
    assertEquals(0, body.chars().filter(c -> c == '?').count(), body);
  }

  @Test
  @Tag("R70")
  @Tag("Y47")
  void private_state_of_any_provider_has_no_place_here() {
    ProviderState state =
        ProviderState.of("anthropic-messages", "gpt-x", Json.parse("{\"s3cr3t\":1}"));
    assertEquals(
        messages(asks(new Part.Text("Hi")), asks(toolCall("c1", "{}")), asks()),
        messages(asks(state, new Part.Text("Hi")), asks(state, toolCall("c1", "{}")), asks(state)));
  }

  @Test
  @Tag("Y42")
  @Tag("R70")
  @Tag("FR-T23")
  void an_id_of_more_than_64_characters_is_mapped_on_call_and_result() {
    ToolCall longId = toolCall("i".repeat(94), "{}");
    String mapped = AcceptedIds.matching("a").map(longId.id());
    ToolCall fits = toolCall("functions.f:0/" + "i".repeat(50), "{}");
    assertEquals(
        messages(
            asks(toolCall(mapped, "{}"), fits),
            Message.tool(
                List.of(
                    ToolResult.success(toolCall(mapped, "{}"), Json.of(1)),
                    ToolResult.success(fits, Json.of(2))))),
        messages(
            asks(longId, fits),
            Message.tool(
                List.of(
                    ToolResult.success(longId, Json.of(1)),
                    ToolResult.success(fits, Json.of(2))))));
    assertEquals(37, mapped.length());
  }

  private static String bodyWith(OutputFormat format) {
    return body(ModelCall.builder(List.of()).output(Optional.of(format)).build());
  }

  @Test
  @Tag("Y48")
  @Tag("R166")
  void a_native_object_is_a_strict_json_schema_and_what_strict_mode_refuses_becomes_words() {
    assertEquals(
        "{\"model\":\"gpt-x\",\"messages\":[],\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"trip\",\"description\":\"A"
            + " trip.\",\"strict\":true,"
            + "\"schema\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"description\":\"{maxLength:"
            + " 9}\"},\"days\":{\"type\":[\"integer\",\"null\"],\"minimum\":0,\"description\":\"How"
            + " long\"},"
            + "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"description\":\"{format:"
            + " \\\"iri\\\"}\"},\"description\":\"{uniqueItems: true}\"}},"
            + "\"required\":[\"name\",\"days\",\"tags\"],\"additionalProperties\":false}}},"
            + "\"stream\":false}",
        bodyWith(new OutputFormat.JsonSchema("trip", Optional.of("A trip."), TRIP)));
  }

  @Test
  void json_mode_is_an_object_of_any_kind_and_free_text_names_no_format() {
    assertEquals(
        "{\"model\":\"gpt-x\",\"messages\":[],\"response_format\":{\"type\":\"json_object\"},"
            + "\"stream\":false}",
        bodyWith(new OutputFormat.JsonObject()));
    assertFalse(body(ModelCall.builder(List.of()).build()).contains("response_format"));
  }

  @Test
  void a_service_of_its_own_words_is_asked_in_them() {
    ChatDialect dialect =
        ChatDialect.OPENAI.with(
            Quirk.REQUIRED_IS_ANY, Quirk.NO_STREAM_OPTIONS, Quirk.MODEL_IN_PATH);
    ModelCall call =
        ModelCall.builder(List.of(Message.user("Hi")))
            .tools(List.of(WEATHER))
            .toolChoice(ToolChoice.REQUIRED)
            .providerOptions(Json.parse("{\"model\":\"other\"}"))
            .build();
    assertEquals(
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
            + WEATHER_JSON
            + ",\"tool_choice\":\"any\",\"stream\":true}",
        new String(
            new ChatRequest(dialect, "gpt-x", Requests.UNKNOWN).streamed(call),
            StandardCharsets.UTF_8));
  }
}
