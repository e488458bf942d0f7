package dev.warpwright.adapters.protocol.anthropic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import dev.warpwright.model.ToolSpec;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
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

/** Golden bodies: exact bytes. */
final class MessagesRequestTest {
  private static final Thinking OFF = new Thinking.Unset();
  private static final Thinking BUDGET = new Thinking.Budget(2_000);
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
      "tools":[{"name":"get_weather","description":"The weather in a city.",\
      "input_schema":{"type":"object","properties":{"city":{"type":"string"}},\
      "required":["city"]}}]\
      """;
  private static final String THINKING =
      "{\"type\":\"thinking\",\"thinking\":\"Hm.\\nä😀\",\"signature\":\"sig+/=\"}";
  private static final String REDACTED = "{\"type\":\"redacted_thinking\",\"data\":\"Zm9v+/=\"}";

  private static final Json TRIP =
      Json.parse(
          """
          {"type":"object","properties":{"name":{"type":"string","maxLength":9},
           "days":{"type":["integer","null"],"minimum":0,"description":"How long"},
           "tags":{"type":"array","items":{"type":"string","format":"iri"},"uniqueItems":true}},
           "required":["name","days","tags"],"additionalProperties":false}
          """);

  private static ModelCall call(
      ToolChoice choice, OptionalDouble temperature, OptionalInt maxTokens, Message... messages) {
    List<ToolSpec> tools =
        choice.equals(ToolChoice.AUTO) || choice.equals(ToolChoice.tool("missing"))
            ? List.of()
            : List.of(WEATHER);
    return ModelCall.builder(List.of(messages))
        .tools(tools)
        .toolChoice(choice)
        .temperature(temperature)
        .maxTokens(maxTokens)
        .build();
  }

  private static ModelCall call(Message... messages) {
    return call(ToolChoice.AUTO, OptionalDouble.empty(), OptionalInt.empty(), messages);
  }

  private static String body(ModelCall call, Thinking thinking) {
    return new String(
        MessagesRequest.body(MessagesService.ANTHROPIC, "claude-x", call, thinking),
        StandardCharsets.UTF_8);
  }

  /** The array of messages alone. */
  private static String messages(Message... messages) {
    String body = body(call(messages), OFF);
    String start = "{\"model\":\"claude-x\",\"max_tokens\":1024,\"messages\":";
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

  private static ProviderState state(String block) {
    return ProviderState.of("anthropic-messages", "claude-x", Json.parse(block))
        .issuedBy("anthropic");
  }

  private static ProviderException refused(ModelCall call, Thinking thinking) {
    ProviderException refused = assertThrows(ProviderException.class, () -> body(call, thinking));
    assertEquals(ProviderException.Kind.UNSUPPORTED, refused.kind());
    return refused;
  }

  // --- the conversation
  // ---------------------------------------------------------------------------

  @Test
  @Tag("R77")
  @Tag("C12")
  void an_image_is_a_block_behind_what_stands_before_it() {
    Image picture = Image.of("image/png", new byte[] {1, 2, 3});
    Image remote = new Image("https://example.com/cat.png");
    assertEquals(
        """
        [{"role":"user","content":[{"type":"text","text":"Which?"},\
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}},\
        {"type":"image","source":{"type":"url","url":"https://example.com/cat.png"}}]}]\
        """,
        messages(Message.user("Which?", picture, remote)));
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"NONE", "MINIMAL"})
  @Tag("R372")
  void an_effort_of_reasoning_takes_the_place_of_the_adapters_own_thinking(
      Reasoning.Effort effort) {
    ModelCall call =
        ModelCall.builder(List.of(Message.user("?")))
            .reasoning(Optional.of(Reasoning.effort(effort)))
            .build();
    String body = body(call, new Thinking.Budget(2_000));
    assertTrue(
        body.endsWith(
            "\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":\""
                + effort.name().toLowerCase(Locale.ROOT)
                + "\"},\"stream\":false}"),
        body);
  }

  @Test
  @Tag("R372")
  void no_reasoning_takes_the_place_of_the_adapters_own_thinking() {
    ModelCall call =
        ModelCall.builder(List.of(Message.user("?")))
            .reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.NONE)))
            .build();
    assertEquals(
        "{\"model\":\"claude-x\",\"max_tokens\":1024,\"messages\":[{\"role\":\"user\","
            + "\"content\":\"?\"}],\"thinking\":{\"type\":\"disabled\"},\"stream\":false}",
        body(call, new Thinking.Budget(2_000)));
  }

  @Test
  @Tag("R372")
  void a_budget_of_reasoning_is_written_and_what_the_protocol_has_no_word_for_is_refused() {
    Message question = Message.user("?");
    ModelCall budget =
        ModelCall.builder(List.of(question))
            .reasoning(Optional.of(Reasoning.budget(4_096)))
            .build();
    assertTrue(
        body(budget, OFF).contains("\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":4096}"));
    for (Reasoning unknown :
        List.of(Reasoning.budget(1_023), Reasoning.effort(Reasoning.Effort.MINIMAL))) {
      ModelCall call = ModelCall.builder(List.of(question)).reasoning(Optional.of(unknown)).build();
      assertThrows(ProviderException.class, () -> body(call, OFF));
    }
  }

  @Test
  @Tag("R376")
  void an_option_that_is_added_to_must_be_an_object() {
    ModelCall call =
        ModelCall.builder(List.of(Message.user("?")))
            .reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.LOW)))
            .providerOptions(Json.parse("{\"output_config\":[1]}"))
            .build();
    ProviderException refused = assertThrows(ProviderException.class, () -> body(call, OFF));
    assertEquals(ProviderException.Kind.UNSUPPORTED, refused.kind());
  }

  @Test
  void options_of_the_provider_add_members_and_override_none() {
    ModelCall call =
        ModelCall.builder(List.of(Message.user("?")))
            .providerOptions(
                Json.parse(
                    """
                    {"top_k":5,"model":"other","messages":[],"stream":true,"max_tokens":1}
                    """))
            .build();
    var body = StrictJson.read(body(call, OFF));
    assertEquals("claude-x", body.path("model").stringValue());
    assertEquals(1, body.path("messages").size());
    assertEquals(1_024, body.path("max_tokens").intValue());
    assertFalse(body.path("stream").booleanValue());
    assertEquals(5, body.path("top_k").intValue());
  }

  @Test
  void system_messages_leave_the_conversation_and_texts_are_plain_strings() {
    assertEquals(
        """
        {"model":"claude-x","max_tokens":1024,"system":"Be brief.\\nBe kind.","messages":[\
        {"role":"user","content":"Hi, \\"you\\"/ä🌍\\n"},{"role":"assistant","content":"Hello."},\
        {"role":"user","content":"More"}],"stream":false}\
        """,
        body(
            call(
                Message.system("Be brief."),
                Message.system("Be kind."),
                Message.user("Hi, \"you\"/ä🌍\n"),
                Message.assistant("Hello."),
                Message.user("More")),
            OFF));
  }

  @Test
  void blank_text_is_left_out_and_so_is_a_message_of_which_nothing_is_left() {
    assertEquals(
        """
        [{"role":"user","content":"Hi"},{"role":"assistant","content":[\
        {"type":"tool_use","id":"c1","name":"f","input":{}}]},{"role":"user","content":[\
        {"type":"tool_result","tool_use_id":"c1","content":"1"}]}]\
        """,
        messages(
            Message.system(" "),
            Message.user("Hi"),
            asks(),
            Message.assistant("\n"),
            Message.user(""),
            asks(new Part.Text(" "), toolCall("c1", "{}")),
            Message.tool(List.of(ToolResult.success(toolCall("c1", "{}"), Json.of(1)))),
            Message.user(" ")));
    assertTrue(refused(call(Message.user(" ")), OFF).getMessage().contains("at least one message"));
  }

  @Test
  @Tag("Y43")
  @Tag("R194")
  @Tag("R196")
  void results_of_a_turn_are_one_user_message_in_call_order_before_any_text() {
    ToolCall first = toolCall("c1", "{\"a\":1.50}");
    ToolCall second = toolCall("c2", "{}");
    assertEquals(
        """
        [{"role":"user","content":"?"},{"role":"assistant","content":[\
        {"type":"text","text":"Let me look."},\
        {"type":"tool_use","id":"c1","name":"f","input":{"a":1.50}},\
        {"type":"tool_use","id":"c2","name":"f","input":{}}]},\
        {"role":"user","content":[\
        {"type":"tool_result","tool_use_id":"c1","content":"{\\"n\\":9007199254740993}"},\
        {"type":"tool_result","tool_use_id":"c2","content":"No such city.","is_error":true},\
        {"type":"text","text":"And?"}]}]\
        """,
        messages(
            Message.user("?"),
            asks(new Part.Text("Let me look."), first, second),
            Message.tool(List.of(ToolResult.failure(second, "No such city."))),
            Message.tool(
                List.of(ToolResult.success(first, Json.parse("{\"n\":9007199254740993}")))),
            Message.user("And?")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"3\"                            | false | \"\\\"3\\\"\"",
        "3                                | false | \"3\"",
        "{\"error\":{\"message\":\"x\"}}  | false |"
            + " \"{\\\"error\\\":{\\\"message\\\":\\\"x\\\"}}\"",
        "\"Gone.\"                        | true  | \"Gone.\",\"is_error\":true",
        "{\"why\":\"x\"}                  | true  | \"{\\\"why\\\":\\\"x\\\"}\",\"is_error\":true",
        "\" \"                            | true  | \"The tool failed.\",\"is_error\":true"
      })
  @Tag("R194")
  void an_error_is_marked_natively_and_never_in_an_envelope(
      String output, boolean error, String written) {
    ToolCall asked = toolCall("c1", "{}");
    String all =
        messages(
            Message.user("?"),
            asks(asked),
            Message.tool(List.of(new ToolResult("c1", "f", Json.parse(output), error))));
    String start = "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":";
    assertEquals(start + written + "}]}]", all.substring(all.indexOf(start)));
  }

  @Test
  @Tag("R202")
  void text_after_a_call_stays_where_it_is() {
    assertEquals(
        """
        [{"role":"user","content":"?"},{"role":"assistant","content":[\
        {"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"text","text":"Wait."}]},\
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"1"}]}]\
        """,
        messages(
            Message.user("?"),
            asks(toolCall("c1", "{}"), new Part.Text("Wait.")),
            Message.tool(List.of(ToolResult.success(toolCall("c1", "{}"), Json.of(1))))));
  }

  @Test
  @Tag("FR-T19")
  @Tag("Y31")
  void a_call_that_could_not_be_read_is_replayed_with_the_empty_object() {
    ToolCall broken = ToolCall.malformed("c1", "f", "{\"a\":");
    String all =
        messages(
            Message.user("?"),
            asks(broken),
            Message.tool(List.of(ToolResult.failure(broken, "No JSON."))));
    assertTrue(
        all.contains("{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"f\",\"input\":{}}"), all);
  }

  @ParameterizedTest
  @ValueSource(strings = {"functions.f:0", "call 1", "ä", "", "94"})
  @Tag("Y42")
  @Tag("R70")
  @Tag("FR-T23")
  void an_id_that_is_not_accepted_is_mapped_alike_on_call_and_result(String given) {
    String id = given.equals("94") ? "x".repeat(94) : given;
    String all =
        messages(
            Message.user("?"),
            asks(toolCall(id, "{}"), toolCall("toolu_01-A", "{}")),
            Message.tool(
                List.of(
                    ToolResult.success(toolCall(id, "{}"), Json.of(1)),
                    ToolResult.success(toolCall("toolu_01-A", "{}"), Json.of(2)))));
    List<String> ids =
        Arrays.stream(all.split("\"(?:id|tool_use_id)\":\""))
            .skip(1)
            .map(rest -> rest.substring(0, rest.indexOf('"')))
            .toList();
    assertEquals(4, ids.size());
    assertTrue(ids.getFirst().matches("call_[0-9a-f]{32}"), all);
    assertEquals(ids.subList(0, 2), ids.subList(2, 4));
    assertEquals("toolu_01-A", ids.get(1));
  }

  @Test
  @Tag("Y27")
  @Tag("FR-U01")
  void unpaired_surrogates_are_replaced_everywhere() {
    ToolCall asked = toolCall("c1", "{\"k\":\"\\ud83d\"}");
    String all =
        messages(
            Message.user("a\uD83D"),
            asks(new Part.Text("t\uD83D"), asked),
            Message.tool(List.of(ToolResult.success(asked, Json.of("a\uD83Db")))));
    assertEquals(
        """
        [{"role":"user","content":"a\uFFFD"},{"role":"assistant","content":[\
        {"type":"text","text":"t\uFFFD"},\
        {"type":"tool_use","id":"c1","name":"f","input":{"k":"\uFFFD"}}]},\
        {"role":"user","content":[\
        {"type":"tool_result","tool_use_id":"c1","content":"\\"a\uFFFDb\\""}]}]\
        """,
        all);
  }

  // --- options
  // ------------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "none     | ,\"tool_choice\":{\"type\":\"none\"}",
        "required | ,\"tool_choice\":{\"type\":\"any\"}",
        "named    | ,\"tool_choice\":{\"type\":\"tool\",\"name\":\"get_weather\"}"
      })
  void each_tool_choice_has_its_form(String choice, String written) {
    ToolChoice given =
        switch (choice) {
          case "none" -> ToolChoice.NONE;
          case "required" -> ToolChoice.REQUIRED;
          default -> ToolChoice.tool("get_weather");
        };
    assertEquals(
        "{\"model\":\"claude-x\",\"max_tokens\":99,"
            + "\"messages\":[{\"role\":\"user\",\"content\":\"?\"}],"
            + WEATHER_JSON
            + written
            + ",\"temperature\":0.7,\"stream\":false}",
        body(call(given, OptionalDouble.of(0.7), OptionalInt.of(99), Message.user("?")), OFF));
  }

  @Test
  void auto_is_left_out_and_without_tools_none_can_be_required() {
    ModelCall auto = ModelCall.builder(List.of(Message.user("?"))).tools(List.of(WEATHER)).build();
    assertTrue(body(auto, OFF).endsWith(WEATHER_JSON + ",\"stream\":false}"));
    ModelCall missing =
        call(
            ToolChoice.tool("missing"),
            OptionalDouble.empty(),
            OptionalInt.empty(),
            Message.user("?"));
    assertTrue(refused(missing, OFF).getMessage().contains("offers none"));
  }

  // --- thinking
  // -----------------------------------------------------------------------------------

  @Test
  @Tag("Y47")
  @Tag("R70")
  @Tag("FR-A07")
  void blocks_are_replayed_byte_for_byte_in_their_place_before_the_tool_use() {
    ToolCall first = toolCall("c1", "{}");
    assertEquals(
        """
        [{"role":"user","content":"?"},{"role":"assistant","content":[%s,%s,\
        {"type":"text","text":"Look."},%s,\
        {"type":"tool_use","id":"c1","name":"f","input":{}}]},\
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"1"}]}]\
        """
            .formatted(THINKING, REDACTED, THINKING),
        messages(
            Message.user("?"),
            asks(state(THINKING), state(REDACTED), new Part.Text("Look."), state(THINKING), first),
            Message.tool(List.of(ToolResult.success(first, Json.of(1))))));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"thinking\",\"thinking\":\"Hm.\",\"signature\":\"\"}",
        "{\"type\":\"thinking\",\"thinking\":\"Hm.\",\"signature\":\" \"}",
        "{\"type\":\"thinking\",\"thinking\":\"Hm.\",\"signature\":null}",
        "{\"type\":\"thinking\",\"thinking\":\"Hm.\"}",
        "{\"type\":\"thinking\",\"signature\":\"s\"}",
        "{\"type\":\"redacted_thinking\"}",
        "{\"type\":\"redacted_thinking\",\"data\":\"\"}",
        "{\"type\":\"text\",\"text\":\"Hm.\",\"signature\":\"s\"}",
        "{\"type\":7}",
        "\"opaque\"",
        "[]"
      })
  @Tag("FR-A09")
  void a_block_without_a_signature_or_of_no_known_form_is_never_sent(String block) {
    assertEquals(
        "[{\"role\":\"user\",\"content\":\"?\"},{\"role\":\"assistant\",\"content\":"
            + "[{\"type\":\"text\",\"text\":\"Hi\"}]}]",
        messages(Message.user("?"), asks(state(block), new Part.Text("Hi"))));
  }

  @Test
  @Tag("Y47")
  @Tag("R69")
  @Tag("R70")
  void state_of_another_model_or_protocol_is_left_out() {
    Json block = Json.parse(THINKING);
    assertEquals(
        "[{\"role\":\"user\",\"content\":\"?\"},{\"role\":\"user\",\"content\":\"!\"}]",
        messages(
            Message.user("?"),
            asks(
                ProviderState.of("anthropic-messages", "claude-y", block),
                ProviderState.of("openai-responses", "claude-x", block)),
            Message.user("!")));
  }

  @Test
  void a_budget_is_written_and_added_to_the_default_limit() {
    assertEquals(
        "{\"model\":\"claude-x\",\"max_tokens\":3024,"
            + "\"messages\":[{\"role\":\"user\",\"content\":\"?\"}],"
            + "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000},\"stream\":false}",
        body(call(Message.user("?")), BUDGET));
    assertTrue(
        body(
                call(
                    ToolChoice.NONE,
                    OptionalDouble.empty(),
                    OptionalInt.of(2_001),
                    Message.user("?")),
                BUDGET)
            .contains("\"max_tokens\":2001,"));
    assertEquals(
        "{\"model\":\"claude-x\",\"max_tokens\":16384,"
            + "\"messages\":[{\"role\":\"user\",\"content\":\"?\"}],"
            + "\"thinking\":{\"type\":\"adaptive\"},\"stream\":false}",
        body(call(Message.user("?")), new Thinking.Adaptive(Optional.empty())));
  }

  @Test
  void what_does_not_go_with_a_budget_is_refused_before_anything_is_sent() {
    Message hi = Message.user("?");
    OptionalDouble unset = OptionalDouble.empty();
    OptionalInt none = OptionalInt.empty();
    assertTrue(
        refused(call(ToolChoice.AUTO, unset, OptionalInt.of(2_000), hi), BUDGET)
            .getMessage()
            .contains("2000"));
    for (ModelCall call :
        List.of(
            call(ToolChoice.AUTO, OptionalDouble.of(0.5), none, hi),
            call(ToolChoice.REQUIRED, unset, none, hi),
            call(ToolChoice.tool("get_weather"), unset, none, hi))) {
      assertTrue(refused(call, BUDGET).getMessage().contains("budget"));
      assertTrue(body(call, new Thinking.Adaptive(Optional.empty())).contains("adaptive"));
    }
  }

  private static boolean thinks(Message... messages) {
    return body(call(messages), BUDGET).contains("\"budget_tokens\"");
  }

  @Test
  @Tag("R70")
  @Tag("FR-A07")
  void a_turn_that_others_began_goes_on_without_a_budget() {
    ToolCall asked = toolCall("c1", "{}");
    Message result = Message.tool(List.of(ToolResult.success(asked, Json.of(1))));
    ProviderState own = state(THINKING);
    ProviderState others = ProviderState.of("anthropic-messages", "claude-y", Json.parse(THINKING));

    assertTrue(thinks(Message.user("?"), asks(own, asked), result));
    assertTrue(thinks(Message.user("?"), asks(state(REDACTED), asked), result));
    assertFalse(thinks(Message.user("?"), asks(asked), result));
    assertFalse(thinks(Message.user("?"), asks(others, asked), result));
    assertFalse(thinks(Message.user("?"), asks(new Part.Text("Well."), own, asked), result));
    // What counts is how the turn began: models think once per turn.
    assertTrue(thinks(Message.user("?"), asks(own, asked), result, asks(asked), result));
    assertFalse(thinks(Message.user("?"), asks(asked), result, asks(own, asked), result));
    // A turn that is over does not matter.
    assertTrue(thinks(Message.user("?"), asks(asked), result, Message.user("And?")));
    assertTrue(thinks(Message.user("?")));
  }

  private static ModelCall.Builder objectCall(Json schema) {
    return ModelCall.builder(List.of(Message.user("?")))
        .output(Optional.of(new OutputFormat.JsonSchema("trip", Optional.of("A trip."), schema)));
  }

  @Test
  @Tag("Y48")
  @Tag("R166")
  void a_native_object_is_an_output_format_and_what_the_service_refuses_becomes_words() {
    assertEquals(
        "{\"model\":\"claude-x\",\"max_tokens\":1024,"
            + "\"messages\":[{\"role\":\"user\",\"content\":\"?\"}],"
            + "\"output_config\":{\"format\":{\"type\":\"json_schema\","
            + "\"schema\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"description\":\"{maxLength:"
            + " 9}\"},\"days\":{\"type\":[\"integer\",\"null\"],\"description\":\"How long"
            + " {minimum: 0}\"},"
            + "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"description\":\"{format:"
            + " \\\"iri\\\"}\"},\"description\":\"{uniqueItems: true}\"}},"
            + "\"required\":[\"name\",\"days\",\"tags\"],\"additionalProperties\":false}}},"
            + "\"stream\":false}",
        body(objectCall(TRIP).build(), OFF));
  }

  @Test
  void an_effort_and_a_format_stand_side_by_side_and_json_mode_is_not_written() {
    String both =
        body(
            objectCall(TRIP).reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.LOW))).build(),
            OFF);
    assertTrue(both.contains("\"output_config\":{\"effort\":\"low\",\"format\":{\"type\""), both);
    String any =
        body(
            ModelCall.builder(List.of(Message.user("?")))
                .output(Optional.of(new OutputFormat.JsonObject()))
                .build(),
            OFF);
    assertFalse(any.contains("output_config"), any);
  }

  @Test
  @Tag("Y48")
  void a_schema_that_refers_to_itself_is_refused_and_one_that_only_refers_is_not() {
    ProviderException refused =
        assertThrows(
            ProviderException.class,
            () ->
                body(
                    objectCall(
                            Json.parse(
                                """
                                {"type":"object","properties":{"next":{"anyOf":[
                                {"$ref":"#/$defs/N"},{"type":"null"}]}},"$defs":{"N":{
                                "type":"object","properties":{"n":{"$ref":"#/$defs/N"}}}}}
                                """))
                        .build(),
                    OFF));
    assertTrue(
        String.valueOf(refused.getMessage()).contains("#/$defs/N at #/$defs/N/properties/n"),
        refused::getMessage);
    String twice =
        body(
            objectCall(
                    Json.parse(
                        """
                        {"type":"object","properties":{"a":{"$ref":"#/$defs/N"},
                        "b":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"string"}}}
                        """))
                .build(),
            OFF);
    assertTrue(twice.contains("$defs"), twice);
  }
}
