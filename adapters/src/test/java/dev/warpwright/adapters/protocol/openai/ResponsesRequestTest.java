package dev.warpwright.adapters.protocol.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.wire.AcceptedIds;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Digest;
import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
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
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Golden bodies: exact bytes. */
final class ResponsesRequestTest {
  private static final String START = "{\"model\":\"gpt-x\",\"input\":";
  private static final String END = ",\"store\":false,\"stream\":false}";
  private static final String HI =
      "[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"?\"}]}]";
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
      {"type":"function","name":"get_weather","description":"The weather in a city.",\
      "parameters":{"type":"object","properties":{"city":{"type":"string"}},\
      "required":["city"]},"strict":false}\
      """;

  private static ModelCall.Builder ask() {
    return ModelCall.builder(List.of(Message.user("?")));
  }

  private static String body(ModelCall call) {
    return new String(Requests.responses("gpt-x", call, false), StandardCharsets.UTF_8);
  }

  private static String input(Message... messages) {
    String body = body(ModelCall.builder(List.of(messages)).build());
    assertEquals(START, body.substring(0, START.length()));
    assertEquals(END, body.substring(body.length() - END.length()));
    return body.substring(START.length(), body.length() - END.length());
  }

  private static Message asks(Part... parts) {
    return new Message(Role.ASSISTANT, List.of(parts));
  }

  private static ToolCall toolCall(String id, String input) {
    return new ToolCall(id, "f", Json.parse(input));
  }

  private static void assertRefused(ModelCall call) {
    ProviderException refused = assertThrows(ProviderException.class, () -> body(call));
    assertEquals(ProviderException.Kind.UNSUPPORTED, refused.kind());
  }

  // --- messages, calls and results
  // -----------------------------------------------------------------

  @Test
  void each_role_has_its_kind_of_text_and_an_empty_answer_is_left_out() {
    assertEquals(
        """
        [{"role":"system","content":[{"type":"input_text","text":"Be brief."}]},\
        {"role":"user","content":[{"type":"input_text","text":"Hi, \\"you\\"/ä🌍\\n"}]},\
        {"role":"assistant","content":[{"type":"output_text","text":"Hello."}]},\
        {"role":"user","content":[{"type":"input_text","text":""}]}]\
        """,
        input(
            Message.system("Be brief."),
            Message.user("Hi, \"you\"/ä🌍\n"),
            Message.assistant("Hello."),
            Message.assistant(""),
            asks(),
            Message.user("")));
  }

  @Test
  @Tag("R77")
  void images_stand_among_the_texts_in_their_order() {
    Image picture = Image.of("image/png", new byte[] {1, 2, 3});
    Image remote = new Image("https://example.com/cat.png");
    assertEquals(
        """
        [{"role":"user","content":[{"type":"input_text","text":"Which?"},\
        {"type":"input_image","image_url":"data:image/png;base64,AQID","detail":"auto"},\
        {"type":"input_image","image_url":"https://example.com/cat.png","detail":"auto"}]}]\
        """,
        input(Message.user("Which?", picture, remote)));
  }

  @Test
  @Tag("Y28")
  @Tag("Y31")
  @Tag("FR-N01")
  @Tag("FR-N03")
  void texts_before_between_and_after_calls_keep_their_places_and_calls_every_digit() {
    assertEquals(
        """
        [{"role":"assistant","content":[{"type":"output_text","text":"Let me "},\
        {"type":"output_text","text":"look."}]},\
        {"type":"function_call","call_id":"c1","name":"f","arguments":\
        "{\\"z\\":9007199254740993,\\"a\\":[1.50,\\"1234567890123456789\\"]}"},\
        {"role":"assistant","content":[{"type":"output_text","text":"And here."}]},\
        {"type":"function_call","call_id":"c2","name":"f","arguments":"{}"},\
        {"role":"assistant","content":[{"type":"output_text","text":"Wait."}]}]\
        """,
        input(
            asks(
                new Part.Text("Let me "),
                new Part.Text("look."),
                toolCall(
                    "c1", "{ \"z\" : 9007199254740993, \"a\": [1.50, \"1234567890123456789\"]}"),
                new Part.Text("And here."),
                ToolCall.malformed("c2", "f", "{\"a\":"),
                new Part.Text("Wait."))));
  }

  @Test
  @Tag("R195")
  void a_failure_has_an_envelope_and_a_success_that_looks_like_one_has_its_own() {
    ToolCall call = toolCall("c1", "{}");
    assertEquals(
        "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"{\\\"t\\\":21.50}\"}",
        result(ToolResult.success(call, Json.parse("{ \"t\": 21.50 }"))));
    assertEquals("\"3\"", output(ToolResult.success(call, Json.of("3"))));
    assertEquals("3", output(ToolResult.success(call, Json.of(3))));
    assertEquals(
        "{\"error\":{\"message\":\"No such \\\"city\\\".\"}}",
        output(ToolResult.failure(call, "No such \"city\".")));
    assertEquals(
        "{\"output\":{\"error\":{\"message\":\"No.\"}}}",
        output(ToolResult.success(call, Json.parse("{\"error\":{\"message\":\"No.\"}}"))));
  }

  @Test
  @Tag("R195")
  @Tag("R198")
  void every_result_stands_in_an_envelope_if_the_call_asks_for_it() {
    ToolCall one = toolCall("c1", "{}");
    ToolCall two = toolCall("c2", "{}");
    String body =
        body(
            ModelCall.builder(
                    List.of(
                        asks(one, two),
                        Message.tool(
                            List.of(
                                ToolResult.success(one, Json.of("3")),
                                ToolResult.failure(two, "No.")))))
                .toolResults(ToolResultFormat.ENVELOPE)
                .build());
    assertTrue(
        body.contains("\"call_id\":\"c1\",\"output\":\"{\\\"output\\\":\\\"3\\\"}\"}"), body);
    assertTrue(
        body.contains(
            "\"call_id\":\"c2\",\"output\":\"{\\\"error\\\":{\\\"message\\\":\\\"No.\\\"}}\"}"),
        body);
  }

  private static String result(ToolResult result) {
    String all = input(Message.tool(List.of(result)));
    return all.substring(1, all.length() - 1);
  }

  private static String output(ToolResult result) {
    return StrictJson.read(result(result)).path("output").stringValue();
  }

  @Test
  @Tag("Y43")
  @Tag("R196")
  void results_follow_in_call_order_each_once_also_from_several_messages() {
    Message asks = asks(toolCall("c1", "{}"), toolCall("c2", "{}"), toolCall("c3", "{}"));
    Message more = Message.user("go on");
    assertEquals(
        input(
            asks,
            Message.tool(
                List.of(
                    ToolResult.success(toolCall("c1", "{}"), Json.of(1)),
                    ToolResult.success(toolCall("c2", "{}"), Json.of(2)),
                    ToolResult.success(toolCall("c3", "{}"), Json.of(3)))),
            more),
        input(
            asks,
            Message.tool(
                List.of(
                    ToolResult.success(toolCall("c3", "{}"), Json.of(3)),
                    ToolResult.success(toolCall("c1", "{}"), Json.of(1)))),
            Message.tool(List.of(ToolResult.success(toolCall("c2", "{}"), Json.of(2)))),
            more));
  }

  @Test
  @Tag("Y42")
  @Tag("R70")
  @Tag("R196")
  @Tag("FR-T23")
  void an_id_of_more_than_64_characters_is_mapped_on_call_and_result() {
    ToolCall longId = toolCall("i".repeat(94), "{}");
    String mapped = AcceptedIds.matching("a").map(longId.id());
    ToolCall fits = toolCall("functions.f:0/" + "i".repeat(50), "{}");
    assertEquals(
        input(
            asks(toolCall(mapped, "{}"), fits),
            Message.tool(
                List.of(
                    ToolResult.success(toolCall(mapped, "{}"), Json.of(1)),
                    ToolResult.success(fits, Json.of(2))))),
        input(
            asks(longId, fits),
            Message.tool(
                List.of(
                    ToolResult.success(longId, Json.of(1)),
                    ToolResult.success(fits, Json.of(2))))));
  }

  @Test
  @Tag("Y27")
  @Tag("FR-U01")
  void lone_surrogates_are_replaced_on_every_path() {
    ToolSpec tool = new ToolSpec("f", "d\uD83D", Json.of(Map.of("description", "\uDE00x")));
    ToolCall asked = new ToolCall("c\uD83D", "f", Json.of(Map.of("k\uD83D", "v\uDE00")));
    ModelCall call =
        ModelCall.builder(
                List.of(
                    Message.system("s\uD83D"),
                    Message.user("u\uDE00 \uD83D\uDE00"),
                    asks(new Part.Text("t\uD83D"), asked),
                    Message.tool(List.of(ToolResult.success(asked, Json.of("a\uD83Db")))),
                    asks(asked),
                    Message.tool(List.of(ToolResult.failure(asked, "e\uD83D")))))
            .tools(List.of(tool))
            .build();
    String body = new String(Requests.responses("m\uD83D", call, false), StandardCharsets.UTF_8);
    assertEquals(16, body.chars().filter(c -> c == '\uFFFD').count(), body);
    assertEquals(1, body.split("\uD83D\uDE00", -1).length - 1);
    assertEquals(0, body.split("(?i)\\\\ud[89a-f]", -1).length - 1, body);
  }

  // --- options
  // -------------------------------------------------------------------------------------

  @Test
  void tools_and_options_are_written_when_they_are_set() {
    ModelCall call =
        ask()
            .tools(List.of(WEATHER))
            .toolChoice(ToolChoice.REQUIRED)
            .temperature(OptionalDouble.of(0.7))
            .maxTokens(OptionalInt.of(100))
            .build();
    assertEquals(
        START
            + HI
            + ",\"tools\":["
            + WEATHER_JSON
            + "],\"tool_choice\":\"required\",\"temperature\":0.7,\"max_output_tokens\":100"
            + END,
        body(call));
  }

  @Test
  void each_tool_choice_has_its_form_and_auto_is_the_protocols_default() {
    String start = START + HI + ",\"tools\":[" + WEATHER_JSON + "]";
    assertEquals(start + END, body(ask().tools(List.of(WEATHER)).build()));
    assertEquals(
        start + ",\"tool_choice\":\"none\"" + END,
        body(ask().tools(List.of(WEATHER)).toolChoice(ToolChoice.NONE).build()));
    assertEquals(
        start + ",\"tool_choice\":{\"type\":\"function\",\"name\":\"get_weather\"}" + END,
        body(ask().tools(List.of(WEATHER)).toolChoice(ToolChoice.tool("get_weather")).build()));
  }

  @Test
  void without_tools_there_is_no_tool_choice_and_none_can_be_required() {
    assertEquals(START + HI + END, body(ask().toolChoice(ToolChoice.NONE).build()));
    assertRefused(ask().toolChoice(ToolChoice.REQUIRED).build());
    assertRefused(ask().toolChoice(ToolChoice.tool("f")).build());
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R372")
  void an_effort_of_reasoning_asks_for_encrypted_reasoning_too(Reasoning.Effort effort) {
    assertEquals(
        START
            + HI
            + ",\"reasoning\":{\"effort\":\""
            + (effort == Reasoning.Effort.MAX ? "xhigh" : effort.name().toLowerCase(Locale.ROOT))
            + "\"},\"include\":[\"reasoning.encrypted_content\"]"
            + END,
        body(ask().reasoning(Optional.of(Reasoning.effort(effort))).build()));
  }

  @Test
  void a_model_that_reasons_unasked_gives_its_reasoning_back_encrypted() {
    assertEquals(
        START + HI + ",\"include\":[\"reasoning.encrypted_content\"]" + END,
        new String(Requests.responses("gpt-x", ask().build(), true), StandardCharsets.UTF_8));
  }

  @Test
  @Tag("R372")
  void a_budget_of_reasoning_is_refused_and_not_guessed_at() {
    assertRefused(ask().reasoning(Optional.of(Reasoning.budget(2_000))).build());
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
  void a_temperature_that_is_no_number_is_refused(double temperature) {
    assertRefused(ask().temperature(OptionalDouble.of(temperature)).build());
  }

  @Test
  @Tag("R376")
  void options_of_the_provider_add_members_and_override_none() {
    JsonNode body =
        StrictJson.read(
            body(
                ask()
                    .providerOptions(
                        Json.parse(
                            """
                            {"top_p":0.50,"model":"other","input":"?!","stream":true,"store":true}
                            """))
                    .build()));
    assertEquals("0.50", body.path("top_p").toString());
    assertEquals("gpt-x", body.path("model").stringValue());
    assertEquals(HI, body.path("input").toString());
    assertFalse(body.path("stream").booleanValue());
    assertFalse(body.path("store").booleanValue());
  }

  @Test
  @Tag("R376")
  void hosted_tools_a_summary_and_more_to_include_stand_beside_those_of_the_call() {
    JsonNode body =
        StrictJson.read(
            body(
                ask()
                    .tools(List.of(WEATHER))
                    .reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.LOW)))
                    .providerOptions(
                        Json.parse(
                            """
                            {"tools":[{"type":"web_search"}],"reasoning":{"summary":"auto"},
                             "include":["web_search_call.action.sources"]}
                            """))
                    .build()));
    assertEquals("[{\"type\":\"web_search\"}," + WEATHER_JSON + "]", body.path("tools").toString());
    assertEquals("{\"summary\":\"auto\",\"effort\":\"low\"}", body.path("reasoning").toString());
    assertEquals(
        "[\"web_search_call.action.sources\",\"reasoning.encrypted_content\"]",
        body.path("include").toString());
  }

  @Test
  @Tag("R376")
  void hosted_tools_alone_are_sent_and_what_is_included_is_asked_for_once() {
    String body =
        new String(
            Requests.responses(
                "gpt-x",
                ask()
                    .providerOptions(
                        Json.parse(
                            """
                            {"tools":[{"type":"web_search"}],
                             "include":["reasoning.encrypted_content"]}
                            """))
                    .build(),
                true),
            StandardCharsets.UTF_8);
    assertTrue(body.contains("\"tools\":[{\"type\":\"web_search\"}]"), body);
    assertTrue(body.contains("\"include\":[\"reasoning.encrypted_content\"]"), body);
  }

  @ParameterizedTest
  @ValueSource(strings = {"previous_response_id", "conversation"})
  @Tag("R376")
  void options_that_would_add_a_stored_conversation_are_refused(String member) {
    ModelCall call = ask().providerOptions(Json.of(Map.of(member, "x_1"))).build();
    assertRefused(call);
    assertTrue(
        assertThrows(ProviderException.class, () -> body(call)).getMessage().contains(member));
  }

  // --- private state
  // -------------------------------------------------------------------------------

  private static final String THOUGHT =
      "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"ä==\","
          + "\"n\":1.0}";
  private static final String HI_TEXT = "text " + Digest.hex("Hi").substring(0, 16);
  private static final String SEARCH =
      "{\"id\":\"ws_1\",\"type\":\"web_search_call\",\"status\":\"completed\"}";

  private static ProviderState state(String protocol, String model, String items, String before) {
    return ProviderState.of(
        protocol, model, Json.parse("{\"items\":[" + items + "],\"before\":\"" + before + "\"}"));
  }

  private static ProviderState state(String items, String before) {
    return state("openai-responses", "gpt-x", items, before);
  }

  private static final String CALL =
      "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}\"}";
  private static final String TEXT =
      "{\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\"}]}";

  @Test
  @Tag("FR-Q01")
  @Tag("Y47")
  void items_go_back_byte_for_byte_in_front_of_what_followed_them() {
    assertEquals(
        "[" + THOUGHT + "," + TEXT + "," + THOUGHT + "," + SEARCH + "," + THOUGHT + "," + CALL
            + "]",
        input(
            asks(
                state(THOUGHT, HI_TEXT),
                new Part.Text("Hi"),
                state(THOUGHT + "," + SEARCH + "," + THOUGHT, "call c1"),
                toolCall("c1", "{}"))));
  }

  @Test
  @Tag("FR-Q01")
  void a_pair_that_was_parted_is_not_replayed_and_what_the_model_said_stays() {
    Part thought = state(THOUGHT + "," + SEARCH + "," + THOUGHT, "call c1");
    assertEquals(
        "[" + TEXT + "," + CALL + "]",
        input(asks(thought, new Part.Text("Hi"), toolCall("c1", "{}"))));
    assertEquals("[" + CALL.replace("c1", "c2") + "]", input(asks(thought, toolCall("c2", "{}"))));
    assertEquals("[" + TEXT + "]", input(asks(new Part.Text("Hi"), thought)));
    assertEquals("[" + CALL + "]", input(asks(state(THOUGHT, HI_TEXT), toolCall("c1", "{}"))));
    assertEquals(
        "[" + TEXT + "," + TEXT.replace("Hi", "Ho") + "]",
        input(asks(new Part.Text("Hi"), thought), asks(new Part.Text("Ho"))));
  }

  @Test
  @Tag("FR-Q01")
  @Tag("Y42")
  void a_call_whose_id_is_mapped_is_still_the_one_that_followed() {
    String id = "i".repeat(94);
    assertTrue(input(asks(state(THOUGHT, "call " + id), toolCall(id, "{}"))).contains(THOUGHT));
  }

  @Test
  void items_that_end_in_no_reasoning_need_nothing_behind_them() {
    assertEquals(
        "[" + THOUGHT + "," + SEARCH + "]", input(asks(state(THOUGHT + "," + SEARCH, ""))));
  }

  @Test
  @Tag("R69")
  @Tag("R70")
  @Tag("Y47")
  void state_of_another_protocol_or_model_is_left_out() {
    for (ProviderState foreign :
        List.of(
            state("anthropic-messages", "gpt-x", THOUGHT, HI_TEXT),
            state("openai-responses", "gpt-y", THOUGHT, HI_TEXT))) {
      assertEquals("[" + TEXT + "]", input(asks(foreign, new Part.Text("Hi"))));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "[]", "1", "{\"items\":{}}", "{\"items\":null}"})
  void state_that_is_none_of_ours_fails_no_call(String data) {
    ProviderState odd = ProviderState.of("openai-responses", "gpt-x", Json.parse(data));
    assertEquals("[" + TEXT + "]", input(asks(odd, new Part.Text("Hi"))));
  }
}
