package dev.warpwright.adapters.protocol.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.Role;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.TokenCount.Provenance;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ChatResponseTest {
  private static final Failures FAILURES =
      new Failures(OpenAiErrors.TABLE, InstantSource.system(), Authorization.NONE);
  private static final HttpHeaders HEADERS =
      HttpHeaders.of(Map.of("X-Request-ID", List.of("req_7")), (name, value) -> true);

  private static ModelResponse read(String body, Message... conversation) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    ModelCall call = ModelCall.builder(List.of(conversation)).build();
    return Requests.chatReader(FAILURES, call)
        .read(new Answer(StrictJson.readDocument(bytes), bytes, HEADERS));
  }

  private static ModelResponse message(String message, String finishReason) {
    return read(
        "{\"choices\":[{\"index\":0,\"message\":%s,\"finish_reason\":%s}]}"
            .formatted(message, finishReason));
  }

  private static ModelResponse calls(String calls) {
    return message("{\"content\":null,\"tool_calls\":" + calls + "}", "\"tool_calls\"");
  }

  private static ProviderException failure(String body) {
    return assertThrows(ProviderException.class, () -> read(body));
  }

  @Test
  void a_text_is_read_with_reason_usage_and_request_id_and_unknown_members_are_passed_over() {
    ModelResponse response =
        read(
            """
            {"id":"x","object":"chat.completion","created":1,"model":"m","new":{"a":[1]},
             "choices":[{"index":0,"logprobs":null,"message":{"role":"assistant",
               "content":"Hello \\ud83c\\udf0d","refusal":null,"annotations":[],"audio":null,
               "function_call":null,"tool_calls":[]},"finish_reason":"stop"}],
             "usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11},
             "service_tier":"default","system_fingerprint":null,"error":null}
            """);
    assertEquals(
        new Message(Role.ASSISTANT, List.of(new Part.Text("Hello 🌍"))), response.message());
    assertEquals(new FinishReason(FinishReason.Kind.STOP, "stop"), response.finishReason());
    assertEquals(Optional.of("req_7"), response.requestId());
    assertEquals(
        new Usage(
            TokenCount.reported(9),
            TokenCount.ABSENT,
            TokenCount.ABSENT,
            TokenCount.reported(2),
            TokenCount.ABSENT,
            TokenCount.reported(11),
            Optional.empty()),
        response.usage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"content\":\"\"} | 0",
        "{\"content\":null} | 0",
        "{} | 0",
        "{\"content\":[]} | 0",
        "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"new\"},{\"text\":\"b\"}]} |"
            + " 2",
        "{\"content\":\" \"} | 1"
      })
  void content_is_text_a_list_of_parts_or_nothing(String message, int parts) {
    assertEquals(parts, message(message, "\"stop\"").message().parts().size());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "1",
        "{\"choices\":null}",
        "{\"choices\":[]}",
        "{\"choices\":{}}",
        "{\"choices\":[{}]}",
        "{\"choices\":[null]}",
        "{\"choices\":[{\"message\":null}]}",
        "{\"choices\":[{\"message\":\"x\"}]}",
        "{\"choices\":[{\"message\":{\"content\":7}}]}",
        "{\"choices\":[{\"message\":{\"content\":{\"a\":1}}}]}",
        "{\"choices\":[{\"message\":{\"tool_calls\":{\"a\":1}}}]}",
        "{\"choices\":[{\"message\":{\"tool_calls\":[1]}}]}",
        "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"a\"}]}}]}",
        "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"\"}}]}}]}"
      })
  @Tag("R93")
  void an_answer_without_a_readable_message_breaks_the_protocol(String body) {
    ProviderException failure = failure(body);
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertEquals(Optional.of("req_7"), failure.requestId());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"code\":1302,\"msg\":\"too fast\"} | 0",
        "{\"code\":\"429\",\"message\":\"too fast\",\"request_id\":\"r\"} | 429",
        "{\"object\":\"error\",\"message\":\"no\",\"type\":\"server_error\"} | 500",
        "{\"choices\":[{\"message\":{},\"finish_reason\":\"error\",\"error\":{\"code\":502}}]} |"
            + " 502"
      })
  @Tag("Y36")
  void an_error_without_the_usual_envelope_is_classified(String body, int status) {
    ProviderException failure = failure(body);
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(status, failure.status());
  }

  // --- tool calls --------------------------------------------------------------------------------

  @Test
  @Tag("FR-T15")
  @Tag("FR-T17")
  @Tag("Y31")
  void calls_without_arguments_mean_the_empty_object_and_do_not_disturb_the_next_one() {
    ModelResponse response =
        calls(
            """
            [{"id":"c0","type":"function","function":{"name":"f"}},
             {"id":"c1","type":"function","function":{"name":"g","arguments":"{\\"a\\":1}"}},
             {"id":"c2","type":"function","function":{"name":"f","arguments":""}},
             {"id":"c3","type":"function","function":{"name":"f","arguments":null}},
             {"id":"c4","type":"function","function":{"name":"g","arguments":"{\\"b\\":2}"}}]
            """);
    assertEquals(
        List.of(
            new ToolCall("c0", "f", Json.EMPTY_OBJECT),
            new ToolCall("c1", "g", Json.parse("{\"a\":1}")),
            new ToolCall("c2", "f", Json.EMPTY_OBJECT),
            new ToolCall("c3", "f", Json.EMPTY_OBJECT),
            new ToolCall("c4", "g", Json.parse("{\"b\":2}"))),
        response.message().toolCalls());
    assertEquals(FinishReason.Kind.TOOL_CALLS, response.finishReason().kind());
  }

  @Test
  void text_comes_before_the_calls() {
    ModelResponse response =
        message(
            """
            {"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}],"content":"Wait."}
            """,
            "\"stop\"");
    assertEquals(
        List.of(new Part.Text("Wait."), new ToolCall("a", "f", Json.EMPTY_OBJECT)),
        response.message().parts());
    assertTrue(response.finishReason().allowsTools());
  }

  @Test
  @Tag("FR-T21")
  @Tag("FR-N01")
  void arguments_that_were_cut_make_a_malformed_call_that_no_tool_may_run() {
    ModelResponse response =
        message(
            """
            {"content":null,"tool_calls":[{"id":"a","function":{"name":"f",
             "arguments":"{\\"p\\":{\\"a\\":\\"x\\""}}]}
            """,
            "\"length\"");
    ToolCall call = response.message().toolCalls().getFirst();
    assertEquals(Optional.of("{\"p\":{\"a\":\"x\""), call.malformed());
    assertEquals(FinishReason.Kind.LENGTH, response.finishReason().kind());
  }

  @Test
  @Tag("Y28")
  void arguments_that_came_as_an_object_are_taken_with_every_digit() {
    ToolCall call =
        calls(
                """
                [{"id":"a","function":{"name":"f","arguments":
                  {"n":9223372036854775817,"d":1234567890.1234567890}}}]
                """)
            .message()
            .toolCalls()
            .getFirst();
    assertEquals("{\"n\":9223372036854775817,\"d\":1234567890.1234567890}", call.input().text());
  }

  @Test
  @Tag("Y29")
  void an_object_with_a_key_twice_is_malformed_also_when_it_did_not_come_as_text() {
    for (String arguments :
        List.of(
            "{\"n\":1,\"n\":2}", "{\"x\":{\"n\":1,\"n\":1}}", "\"{\\\"n\\\":1,\\\"n\\\":2}\"")) {
      ToolCall call =
          calls("[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":" + arguments + "}}]")
              .message()
              .toolCalls()
              .getFirst();
      assertTrue(call.malformed().isPresent(), arguments);
      assertEquals(Json.EMPTY_OBJECT, call.input());
    }
  }

  @Test
  @Tag("Y32")
  void arguments_beyond_1_mib_break_the_protocol_and_the_bound_is_named() {
    assertEquals(
        Optional.empty(),
        calls(callOf("x".repeat(1_048_576 - 8))).message().toolCalls().getFirst().malformed());
    ProviderException failure =
        assertThrows(ProviderException.class, () -> calls(callOf("x".repeat(1_048_576 - 7))));
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("1048576"), failure.getMessage());
  }

  /** A call whose arguments are 8 characters longer than the text. */
  private static String callOf(String text) {
    String arguments = "{\\\"a\\\":\\\"" + text + "\\\"}";
    return "[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"" + arguments + "\"}}]";
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\"id\":null,", "\"id\":\"\",", "\"id\":\" \","})
  @Tag("Y41")
  void calls_without_an_id_get_stable_distinct_ones(String id) {
    String body =
        """
        {"choices":[{"message":{"tool_calls":[{%1$s"function":{"name":"f"}},
         {"id":"given","function":{"name":"f"}},{%1$s"function":{"name":"f"}}]}}]}
        """
            .formatted(id);
    List<String> ids = ids(read(body, Message.user("a")));
    assertEquals(3, ids.stream().distinct().count());
    assertEquals("given", ids.get(1));
    assertEquals(ids, ids(read(body, Message.user("a"))));
    assertNotEquals(
        ids.getFirst(),
        ids(read(body, Message.user("a"), Message.assistant("b"), Message.user("c"))).getFirst());
  }

  private static List<String> ids(ModelResponse response) {
    return response.message().toolCalls().stream().map(ToolCall::id).toList();
  }

  @Test
  void two_calls_with_the_same_id_break_the_protocol() {
    ProviderException failure =
        assertThrows(
            ProviderException.class,
            () ->
                calls(
                    """
                    [{"id":"a","function":{"name":"f"}},{"id":"a","function":{"name":"g"}}]
                    """));
    assertEquals(Kind.PROTOCOL, failure.kind());
  }

  // --- outcomes ----------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      nullValues = "-",
      value = {
        "{\"content\":null,\"refusal\":\"no\"} | \"stop\" | stop | no",
        "{\"content\":\"\",\"refusal\":\"no\"} | \"length\" | length | no",
        "{\"content\":\"{}\",\"refusal\":\"no\"} | \"content_filter\" | content_filter | {}no",
        "{\"refusal\":\"\"} | null | `` | ``",
        "{\"refusal\":\"no\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\"}}]} |"
            + " \"tool_calls\" | tool_calls | no"
      })
  @Tag("FR-Q15")
  void a_refusal_is_a_refusal_whatever_else_the_answer_says(
      String message, String reason, String raw, String text) {
    ModelResponse response = message(message, reason);
    assertEquals(new FinishReason(FinishReason.Kind.REFUSAL, raw), response.finishReason());
    assertEquals(text, response.message().text());
  }

  @ParameterizedTest
  @CsvSource({
    "content_filter, CONTENT_FILTER",
    "function_call, TOOL_CALLS",
    "model_length, LENGTH",
    "MODEL_LENGTH, LENGTH",
    "insufficient_system_resource, ERROR",
    "something_new, OTHER"
  })
  @Tag("FR-Q17")
  @Tag("Y39")
  void finish_reasons_beside_an_empty_message_stay_distinct(String raw, FinishReason.Kind kind) {
    assertEquals(
        new FinishReason(kind, raw),
        message("{\"content\":\"\"}", "\"" + raw + "\"").finishReason());
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "\"\"", "7"})
  @Tag("Y39")
  void no_readable_reason_is_no_reason(String reason) {
    assertEquals(
        new FinishReason(FinishReason.Kind.OTHER, ""),
        message("{\"content\":\"x\"}", reason).finishReason());
  }

  @Test
  @Tag("Y40")
  void a_whole_answer_has_as_many_calls_as_a_stream_and_no_more() {
    String call = "{\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},";
    String calls = call.repeat(127) + call.substring(0, call.length() - 1);
    assertEquals(
        128,
        message("{\"tool_calls\":[" + calls + "]}", "\"tool_calls\"").message().toolCalls().size());
    ProviderException broken =
        assertThrows(
            ProviderException.class,
            () -> message("{\"tool_calls\":[" + call + calls + "]}", "\"tool_calls\""));
    assertTrue(broken.getMessage().contains("128"), broken.getMessage());
  }

  // --- usage -------------------------------------------------------------------------------------

  private static Usage usage(String usage) {
    return read("{\"choices\":[{\"message\":{\"content\":\"x\"}}],\"usage\":" + usage + "}")
        .usage();
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "{}", "[]", "\"x\"", "{\"prompt_tokens\":-1}"})
  void what_is_not_reported_stays_absent(String usage) {
    assertEquals(Usage.ABSENT, usage(usage));
  }

  @Test
  @Tag("FR-M07")
  void cached_and_written_tokens_are_parts_of_the_input_and_not_added() {
    Usage usage =
        usage(
            """
            {"prompt_tokens":5128,"completion_tokens":64,"total_tokens":5192,
             "prompt_tokens_details":{"cached_tokens":8,"cache_write_tokens":5120}}
            """);
    assertEquals(TokenCount.reported(5128), usage.input());
    assertEquals(TokenCount.reported(8), usage.cachedInput());
    assertEquals(TokenCount.reported(5120), usage.cacheWrite());
    assertEquals(TokenCount.reported(5192), usage.total());
  }

  @ParameterizedTest
  @CsvSource({
    "1944, 1360, 1952, 1944, REPORTED",
    "136, 31, 144, 136, REPORTED",
    "136, 31, 175, 167, DERIVED",
    "136, 31, 999, 136, REPORTED"
  })
  @Tag("Y46")
  @Tag("FR-M09")
  void reasoning_is_counted_once_and_the_total_judges_where_it_stands(
      long reported, long reasoning, long total, long output, Provenance provenance) {
    Usage usage =
        usage(
            """
            {"prompt_tokens":8,"completion_tokens":%d,"total_tokens":%d,
             "completion_tokens_details":{"reasoning_tokens":%d}}
            """
                .formatted(reported, total, reasoning));
    assertEquals(new TokenCount(output, provenance), usage.output());
    assertEquals(TokenCount.reported(reasoning), usage.reasoning());
    assertEquals(TokenCount.reported(total), usage.total());
  }

  @Test
  @Tag("Y46")
  void without_a_total_reasoning_is_inside_the_output() {
    Usage usage =
        usage(
            """
            {"prompt_tokens":8,"completion_tokens":136,
             "completion_tokens_details":{"reasoning_tokens":31}}
            """);
    assertEquals(TokenCount.reported(136), usage.output());
    assertEquals(TokenCount.ABSENT, usage.total());
  }
}
