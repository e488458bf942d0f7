package dev.warpwright.adapters.bedrock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Golden bodies: exact bytes. */
final class ConverseRequestTest {
  private static final String CLAUDE = "us.anthropic.claude-x-v1:0";
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
      {"toolSpec":{"name":"get_weather","description":"The weather in a city.",\
      "inputSchema":{"json":{"type":"object","properties":{"city":{"type":"string"}},\
      "required":["city"]}}}}\
      """;
  private static final String REASONED =
      "{\"reasoningContent\":{\"reasoningText\":{\"text\":\"Hm.\\n"
          + "ä😀\",\"signature\":\"sig+/=\"}}}";
  private static final String REDACTED = "{\"reasoningContent\":{\"redactedContent\":\"Zm9v+/=\"}}";
  private static final Message HI = Message.user("Hi");
  private static final String HI_JSON = "{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}]}";

  private static String body(ModelCall call) {
    return new String(ConverseRequest.body(CLAUDE, call), StandardCharsets.UTF_8);
  }

  private static ModelCall.Builder call(Message... messages) {
    return ModelCall.builder(List.of(messages));
  }

  /** The array of messages alone. */
  private static String messages(Message... messages) {
    String body = body(call(messages).build());
    String start = "{\"messages\":";
    assertEquals(start, body.substring(0, start.length()));
    int end = body.indexOf(",\"toolConfig\":{");
    return body.substring(start.length(), end < 0 ? body.length() - 1 : end);
  }

  private static String with(String members) {
    return "{\"messages\":[" + HI_JSON + "]" + members + "}";
  }

  private static Message said(Part... parts) {
    return new Message(Role.ASSISTANT, List.of(parts));
  }

  private static ToolCall toolCall(String id, String input) {
    return new ToolCall(id, "f", Json.parse(input));
  }

  private static ProviderState state(String block) {
    return ProviderState.of("bedrock-converse", CLAUDE, Json.parse(block)).issuedBy("bedrock");
  }

  private static String refused(ModelCall call) {
    ProviderException refused = assertThrows(ProviderException.class, () -> body(call));
    return refused.getMessage();
  }

  // --- the conversation
  // ---------------------------------------------------------------------------

  @Test
  void a_question_and_what_goes_with_it() {
    assertEquals(with(""), body(call(HI).build()));
    assertEquals(
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}]}],"
            + "\"system\":[{\"text\":\"Be brief.\"},{\"text\":\"Be kind.\"}],"
            + "\"inferenceConfig\":{\"maxTokens\":99,\"temperature\":0.2}}",
        body(
            call(Message.system("Be brief."), HI, Message.system(" "), Message.system("Be kind."))
                .maxTokens(OptionalInt.of(99))
                .temperature(OptionalDouble.of(0.2))
                .build()));
  }

  @Test
  void provider_options_stand_first_and_are_replaced_by_what_the_call_says() {
    assertEquals(
        "{\"performanceConfig\":{\"latency\":\"optimized\"},"
            + "\"additionalModelRequestFields\":{\"top_k\":5,\"thinking\":{\"type\":\"adaptive\"}"
            + ",\"output_config\":{\"effort\":\"low\"}},\"messages\":["
            + HI_JSON
            + "]}",
        body(
            call(HI)
                .reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.LOW)))
                .providerOptions(
                    Json.parse(
                        "{\"performanceConfig\":{\"latency\":\"optimized\"},"
                            + "\"additionalModelRequestFields\":{\"top_k\":5},\"messages\":7}"))
                .build()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"additionalModelRequestFields\":\"x\"}",
        "{\"additionalModelRequestFields\":{\"thinking\":[]}}",
        "{\"inferenceConfig\":7}"
      })
  void an_option_that_is_added_to_must_be_an_object(String options) {
    ModelCall call =
        call(HI)
            .maxTokens(OptionalInt.of(9_000))
            .reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.LOW)))
            .providerOptions(Json.parse(options))
            .build();
    ProviderException refused = assertThrows(ProviderException.class, () -> body(call));
    assertEquals(ProviderException.Kind.UNSUPPORTED, refused.kind());
  }

  @Test
  void roles_alternate_and_what_is_blank_is_left_out() {
    assertEquals(
        "[{\"role\":\"user\",\"content\":[{\"text\":\"a\"},{\"text\":\"b\"}]},"
            + "{\"role\":\"assistant\",\"content\":[{\"text\":\"c\"},{\"text\":\"d\"}]},"
            + "{\"role\":\"user\",\"content\":[{\"text\":\"e\"},{\"text\":\"f\"}]}]",
        messages(
            Message.user("a"),
            Message.user(" \n"),
            Message.user("b"),
            Message.assistant("c"),
            Message.assistant("d"),
            Message.user("e"),
            Message.assistant("\t"), // of which nothing is left: its neighbours become one
            Message.user("f")));
    assertTrue(refused(call(Message.user(" ")).build()).contains("not blank"));
  }

  @Test
  @Tag("R77")
  void an_image_is_a_block_with_its_bytes() {
    assertEquals(
        "[{\"role\":\"user\",\"content\":[{\"text\":\"Which?\"},"
            + "{\"image\":{\"format\":\"png\",\"source\":{\"bytes\":\"AQID\"}}},"
            + "{\"image\":{\"format\":\"jpeg\",\"source\":{\"bytes\":\"BA==\"}}}]}]",
        messages(
            Message.user(
                "Which?",
                Image.of("image/png", new byte[] {1, 2, 3}),
                Image.of("image/jpeg", new byte[] {4}))));
  }

  @ParameterizedTest
  @CsvSource({"png, png", "jpeg, jpeg", "jpg, jpeg", "gif, gif", "webp, webp"})
  void images_of_four_formats_are_taken(String type, String format) {
    String body = messages(Message.user("x", Image.of("image/" + type, new byte[1])));
    assertTrue(body.contains("\"format\":\"" + format + "\""), body);
  }

  @Test
  void other_images_are_refused_before_anything_is_sent() {
    assertTrue(
        refused(call(Message.user("x", new Image("https://example.com/cat.png"))).build())
            .contains("pass the picture itself"));
    assertTrue(
        refused(call(Message.user("x", Image.of("image/tiff", new byte[1]))).build())
            .contains("image/tiff"));
  }

  // --- tools
  // --------------------------------------------------------------------------------------

  @Test
  void tools_are_declared_and_chosen() {
    String tools = ",\"toolConfig\":{\"tools\":[" + WEATHER_JSON + "]";
    ModelCall.Builder call = call(HI).tools(List.of(WEATHER));
    assertEquals(with(tools + "}"), body(call.build()));
    assertEquals(
        with(tools + ",\"toolChoice\":{\"any\":{}}}"),
        body(call.toolChoice(ToolChoice.REQUIRED).build()));
    assertEquals(
        with(tools + ",\"toolChoice\":{\"tool\":{\"name\":\"get_weather\"}}}"),
        body(call.toolChoice(ToolChoice.tool("get_weather")).build()));
    assertEquals(with(""), body(call.toolChoice(ToolChoice.NONE).build()));
    assertTrue(refused(call(HI).toolChoice(ToolChoice.REQUIRED).build()).contains("offers none"));
  }

  @Test
  void a_blank_description_is_left_out() {
    ToolSpec plain = new ToolSpec("f", " ", Json.parse("{\"type\":\"object\"}"));
    assertEquals(
        with(
            ",\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"f\",\"inputSchema\":{\"json\":"
                + "{\"type\":\"object\"}}}}]}"),
        body(call(HI).tools(List.of(plain)).build()));
  }

  /** The service refuses calls and results in a request that declares no tool. */
  @Test
  void tools_that_were_called_stay_declared_when_none_may_be_called() {
    ToolCall asked = toolCall("t1", "{\"a\":1}");
    Message[] history = {
      HI, said(asked), Message.tool(List.of(ToolResult.success(asked, Json.of("x"))))
    };
    String expected =
        "\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"f\",\"description\":"
            + "\"Not available any more. Do not call it.\",\"inputSchema\":{\"json\":{\"type\":"
            + "\"object\"}}}}]}}";
    String none = body(call(history).build());
    assertTrue(none.endsWith(expected), none);
    String forbidden =
        body(call(history).tools(List.of(WEATHER)).toolChoice(ToolChoice.NONE).build());
    assertTrue(forbidden.endsWith(expected), forbidden);
    String offered = body(call(history).tools(List.of(WEATHER)).build());
    assertTrue(offered.endsWith("\"toolConfig\":{\"tools\":[" + WEATHER_JSON + "]}}"), offered);
  }

  @Test
  @Tag("Y43")
  @Tag("Y50")
  void the_results_of_a_turn_stand_in_one_message_in_call_order_before_what_the_user_says() {
    ToolCall first = toolCall("t1", "{\"a\":1.50}");
    ToolCall second = toolCall("t2", "{}");
    assertEquals(
        "[{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}]},"
            + "{\"role\":\"assistant\",\"content\":[{\"text\":\"Wait.\"},"
            + "{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"f\",\"input\":{\"a\":1.50}}},"
            + "{\"toolUse\":{\"toolUseId\":\"t2\",\"name\":\"f\",\"input\":{}}}]},"
            + "{\"role\":\"user\",\"content\":["
            + "{\"toolResult\":{\"toolUseId\":\"t1\",\"content\":[{\"text\":\"{\\\"n\\\":"
            + "12345678901234567890.10}\"}],\"status\":\"success\"}},"
            + "{\"toolResult\":{\"toolUseId\":\"t2\",\"content\":[{\"text\":\"No \\\"city\\\".\"}],"
            + "\"status\":\"error\"}},"
            + "{\"text\":\"And?\"}]}]",
        messages(
            HI,
            said(new Part.Text("Wait."), first, second),
            Message.tool(List.of(ToolResult.failure(second, "No \"city\"."))),
            Message.tool(
                List.of(ToolResult.success(first, Json.parse("{\"n\":12345678901234567890.10}")))),
            Message.user("And?")));
  }

  @Test
  void a_failure_without_words_says_that_it_is_one() {
    ToolCall asked = toolCall("t1", "{}");
    String body = messages(HI, said(asked), Message.tool(List.of(ToolResult.failure(asked, " "))));
    assertTrue(
        body.contains("\"content\":[{\"text\":\"The tool failed.\"}],\"status\":\"error\""), body);
    String text =
        messages(HI, said(asked), Message.tool(List.of(ToolResult.success(asked, Json.of("")))));
    assertTrue(text.contains("[{\"text\":\"\\\"\\\"\"}],\"status\":\"success\""), text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"functions.f:0", "a.b", "with space", "é", "x:y"})
  @Tag("Y42")
  @Tag("FR-T23")
  void ids_of_others_are_mapped_on_the_call_and_on_its_result(String id) {
    for (String given : List.of(id, "x".repeat(65))) {
      ToolCall asked = toolCall(given, "{}");
      String body =
          messages(HI, said(asked), Message.tool(List.of(ToolResult.success(asked, Json.of(1)))));
      List<String> ids =
          Pattern.compile("\"toolUseId\":\"([^\"]*)\"")
              .matcher(body)
              .results()
              .map(found -> found.group(1))
              .toList();
      assertEquals(2, ids.size());
      assertEquals(ids.get(0), ids.get(1));
      assertTrue(ids.get(0).matches("call_[0-9a-f]{32}"), ids::toString);
    }
  }

  @Test
  @Tag("Y27")
  void lone_surrogates_are_replaced_everywhere() {
    ToolCall asked = toolCall("t1", "{\"a\":\"\\ud800\"}");
    String body =
        body(
            call(
                    Message.system("s\ud800"),
                    Message.user("u\udc00"),
                    said(asked),
                    Message.tool(List.of(ToolResult.failure(asked, "e\ud800"))))
                .build());
    assertEquals(4, body.chars().filter(c -> c == '\ufffd').count(), body);
  }

  @Test
  void the_input_of_a_malformed_call_is_replayed_as_the_empty_object() {
    String body = messages(HI, said(ToolCall.malformed("t1", "f", "{\"a")));
    assertTrue(body.contains("\"input\":{}"), body);
  }

  // --- reasoning
  // ----------------------------------------------------------------------------------

  @Test
  @Tag("Y47")
  @Tag("FR-A07")
  void reasoning_goes_back_byte_for_byte_in_its_place_to_the_same_model() {
    ToolCall asked = toolCall("t1", "{}");
    assertEquals(
        "[{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}]},"
            + "{\"role\":\"assistant\",\"content\":["
            + REASONED
            + ","
            + REDACTED
            + ",{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"f\",\"input\":{}}}]}]",
        messages(HI, said(state(REASONED), state(REDACTED), asked)));
    for (ProviderState other :
        List.of(
            ProviderState.of("anthropic-messages", CLAUDE, Json.parse(REASONED)),
            ProviderState.of("bedrock-converse", "other-model", Json.parse(REASONED)))) {
      String body = messages(HI, said(other, new Part.Text("Yes.")));
      assertFalse(body.contains("reasoning"), body);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"reasoningContent\":{\"reasoningText\":{\"text\":\"Hm.\",\"signature\":\"\"}}}",
        "{\"reasoningContent\":{\"reasoningText\":{\"text\":\"Hm.\",\"signature\":\" \"}}}",
        "{\"reasoningContent\":{\"reasoningText\":{\"text\":\"Hm.\"}}}",
        "{\"reasoningContent\":{\"reasoningText\":{\"signature\":\"s\"}}}",
        "{\"reasoningContent\":{\"redactedContent\":\"\"}}",
        "{\"reasoningContent\":{}}",
        "{\"text\":\"no reasoning\"}",
        "7"
      })
  @Tag("FR-A09")
  void reasoning_without_a_signature_is_never_sent(String block) {
    assertEquals(
        "[" + HI_JSON + ",{\"role\":\"assistant\",\"content\":[{\"text\":\"Yes.\"}]}]",
        messages(HI, said(state(block), new Part.Text("Yes."))));
  }

  private static String additional(ModelCall call) {
    String body = body(call);
    String member = ",\"additionalModelRequestFields\":";
    int at = body.indexOf(member);
    return at < 0 ? "" : body.substring(at + member.length(), body.length() - 1);
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"NONE", "MINIMAL"})
  void claude_is_asked_to_reason_by_effort_in_its_own_words(Reasoning.Effort effort) {
    assertEquals(
        "{\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":\"%s\"}}"
            .formatted(effort.name().toLowerCase(Locale.ROOT)),
        additional(call(HI).reasoning(Optional.of(Reasoning.effort(effort))).build()));
  }

  @Test
  void claude_is_asked_to_reason_within_a_budget_or_not_at_all() {
    assertEquals(
        "{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000}}",
        additional(call(HI).reasoning(Optional.of(Reasoning.budget(2_000))).build()));
    assertEquals(
        "{\"thinking\":{\"type\":\"disabled\"}}",
        additional(
            call(HI).reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.NONE))).build()));
  }

  @Test
  void what_does_not_go_with_a_budget_is_refused_before_anything_is_sent() {
    ModelCall.Builder budget = call(HI).reasoning(Optional.of(Reasoning.budget(2_000)));
    assertTrue(refused(budget.temperature(OptionalDouble.of(0.5)).build()).contains("temperature"));
    budget.temperature(OptionalDouble.empty());
    assertTrue(refused(budget.maxTokens(OptionalInt.of(2_000)).build()).contains("2000"));
    budget.maxTokens(OptionalInt.empty()).tools(List.of(WEATHER));
    assertTrue(refused(budget.toolChoice(ToolChoice.REQUIRED).build()).contains("required"));
  }

  @Test
  void a_budget_is_left_out_in_a_turn_that_began_without_reasoning() {
    ToolCall asked = toolCall("t1", "{}");
    Message result = Message.tool(List.of(ToolResult.success(asked, Json.of(1))));
    Optional<Reasoning> budget = Optional.of(Reasoning.budget(2_000));
    assertEquals("", additional(call(HI, said(asked), result).reasoning(budget).build()));
    assertEquals(
        "{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000}}",
        additional(call(HI, said(state(REASONED), asked), result).reasoning(budget).build()));
    assertEquals(
        "{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000}}",
        additional(call(HI, said(asked), result, Message.user("And?")).reasoning(budget).build()));
  }

  @ParameterizedTest
  @CsvSource({
    "anthropic.claude-3-haiku-20240307-v1:0, true",
    "eu.anthropic.claude-sonnet-4-20250514-v1:0, true",
    "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0, true",
    "amazon.nova-pro-v1:0, false",
    "us.deepseek.r1-v1:0, false",
    "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab1, false"
  })
  void only_models_whose_id_says_claude_are_asked_to_reason(String modelId, boolean claude) {
    ModelCall call =
        call(HI).reasoning(Optional.of(Reasoning.effort(Reasoning.Effort.HIGH))).build();
    if (claude) {
      assertTrue(
          new String(ConverseRequest.body(modelId, call), StandardCharsets.UTF_8)
              .contains("thinking"));
    } else {
      ProviderException refused =
          assertThrows(ProviderException.class, () -> ConverseRequest.body(modelId, call));
      assertTrue(refused.getMessage().contains("additionalModelRequestFields"));
    }
  }

  // --- objects
  // ------------------------------------------------------------------------------------

  @Test
  @Tag("Y48")
  void the_schema_of_an_output_is_text_and_refused_rules_are_words_in_it() {
    Json schema =
        Json.parse(
            """
            {"type":"object","properties":{"name":{"type":"string","maxLength":9}},
             "required":["name"],"additionalProperties":false}
            """);
    assertEquals(
        with(
            ",\"outputConfig\":{\"textFormat\":{\"type\":\"json_schema\",\"structure\":"
                + "{\"jsonSchema\":{\"name\":\"trip\",\"description\":\"A trip.\",\"schema\":"
                + "\"{\\\"type\\\":\\\"object\\\",\\\"properties\\\":{\\\"name\\\":{\\\"type\\\":"
                + "\\\"string\\\",\\\"description\\\":\\\"{maxLength: 9}\\\"}},\\\"required\\\":"
                + "[\\\"name\\\"],\\\"additionalProperties\\\":false}\"}}}}"),
        body(
            call(HI)
                .output(
                    Optional.of(
                        new OutputFormat.JsonSchema("trip", Optional.of("A trip."), schema)))
                .build()));
    assertEquals(
        with(""), body(call(HI).output(Optional.of(new OutputFormat.JsonObject())).build()));
  }

  @Test
  @Tag("Y48")
  void a_schema_that_refers_to_itself_is_refused() {
    Json schema =
        Json.parse(
            """
            {"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"],
             "additionalProperties":false}
            """);
    String why =
        refused(
            call(HI)
                .output(Optional.of(new OutputFormat.JsonSchema("list", Optional.empty(), schema)))
                .build());
    assertTrue(why.contains("#/properties/next"), why);
  }
}
