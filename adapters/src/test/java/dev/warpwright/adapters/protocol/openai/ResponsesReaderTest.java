package dev.warpwright.adapters.protocol.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.ProviderState;
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

final class ResponsesReaderTest {
  private static final Failures FAILURES =
      new Failures(OpenAiErrors.TABLE, InstantSource.system(), Authorization.NONE);
  private static final HttpHeaders HEADERS =
      HttpHeaders.of(Map.of("X-Request-ID", List.of("req_7")), (name, value) -> true);
  private static final String THOUGHT =
      "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"ä==\","
          + "\"n\":1.0}";
  private static final String SEARCH =
      "{\"id\":\"ws_1\",\"type\":\"web_search_call\",\"status\":\"completed\"}";
  private static final String TEXT =
      "{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\"}]}";
  private static final String EMPTY = "{\"type\":\"message\",\"content\":[]}";
  private static final String CALL =
      "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}\"}";

  private static ModelResponse read(String body, Message... conversation) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    ModelCall call = ModelCall.builder(List.of(conversation)).build();
    return new ResponsesReader(FAILURES, "m", call)
        .read(new Answer(StrictJson.readDocument(bytes), bytes, HEADERS));
  }

  private static ModelResponse output(String... items) {
    return read("{\"status\":\"completed\",\"output\":[" + String.join(",", items) + "]}");
  }

  private static ProviderException failure(String body) {
    return assertThrows(ProviderException.class, () -> read(body));
  }

  @Test
  void a_text_is_read_with_reason_usage_and_request_id_and_unknown_members_are_passed_over() {
    ModelResponse response =
        read(
            """
            {"id":"resp_1","object":"response","created_at":1,"status":"completed","error":null,
             "incomplete_details":null,"model":"m","new":{"a":[1]},"output":[{"id":"msg_1",
               "type":"message","status":"completed","role":"assistant","phase":"final","content":[
                 {"type":"output_text","text":"Hello \\ud83c\\udf0d","annotations":[],
                  "logprobs":[]}]}],
             "usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}
            """);
    assertEquals(List.of(new Part.Text("Hello 🌍")), response.message().parts());
    assertEquals(new FinishReason(FinishReason.Kind.STOP, "completed"), response.finishReason());
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
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "1",
        "{\"output\":null}",
        "{\"output\":{}}",
        "{\"output\":\"x\",\"status\":\"completed\"}",
        "{\"output\":[{\"type\":\"function_call\",\"call_id\":\"a\"}]}",
        "{\"output\":[{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\" \"}]}"
      })
  @Tag("R93")
  void an_answer_without_readable_output_breaks_the_protocol(String body) {
    ProviderException failure = failure(body);
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertEquals(Optional.of("req_7"), failure.requestId());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "1",
        "{}",
        "{\"type\":\"new_thing\",\"x\":1}",
        "{\"type\":7}",
        "{\"type\":\"reasoning\",\"summary\":[]}",
        "{\"type\":\"reasoning\",\"content\":null,\"encrypted_content\":null}",
        "{\"type\":\"message\"}",
        "{\"type\":\"message\",\"content\":[{\"type\":\"new\"}]}",
        "{\"type\":\"custom_tool_call\",\"call_id\":\"c\",\"name\":\"g\",\"input\":\"x\"}"
      })
  @Tag("FR-Q03")
  void an_item_that_is_not_known_or_empty_disturbs_no_other(String item) {
    ModelResponse response = output(item, TEXT, item, CALL, item);
    assertEquals("Hi", response.message().text());
    assertEquals(List.of(toolCall("c1", "f", "{}")), response.message().toolCalls());
    assertEquals(FinishReason.Kind.TOOL_CALLS, response.finishReason().kind());
  }

  @Test
  void a_content_that_is_plain_text_is_taken_too() {
    assertEquals("Hi", output("{\"type\":\"message\",\"content\":\"Hi\"}").message().text());
    assertEquals(0, output("{\"type\":\"message\",\"content\":\"\"}").message().parts().size());
  }

  // --- private state
  // -------------------------------------------------------------------------------

  private static List<String> states(ModelResponse response) {
    return response.message().parts().stream()
        .filter(ProviderState.class::isInstance)
        .map(part -> ((ProviderState) part).data().text())
        .toList();
  }

  @Test
  @Tag("FR-Q01")
  @Tag("Y47")
  void items_that_only_the_provider_understands_stay_in_their_places_byte_for_byte() {
    ModelResponse response = output(THOUGHT, TEXT, THOUGHT, SEARCH, THOUGHT, CALL, TEXT);
    assertEquals(
        List.of(
            ProviderState.class,
            Part.Text.class,
            ProviderState.class,
            ToolCall.class,
            Part.Text.class),
        response.message().parts().stream().<Class<?>>map(Object::getClass).toList());
    assertEquals(
        List.of(
            "{\"items\":["
                + THOUGHT
                + "],\"before\":\"text "
                + Digest.hex("Hi").substring(0, 16)
                + "\"}",
            "{\"items\":[" + THOUGHT + "," + SEARCH + "," + THOUGHT + "],\"before\":\"call c1\"}"),
        states(response));
    ProviderState first = (ProviderState) response.message().parts().getFirst();
    assertEquals("openai-responses", first.protocol());
    assertEquals("m", first.modelId());
    assertFalse(response.message().toString().contains("ä=="));
  }

  @Test
  @Tag("FR-Q01")
  void reasoning_whose_follower_is_not_kept_is_not_kept_either() {
    assertEquals(List.of(), states(output(THOUGHT)));
    assertEquals(List.of(), states(output(THOUGHT, EMPTY, TEXT)));
    assertEquals(List.of(), states(output(THOUGHT, THOUGHT, EMPTY, CALL)));
    assertEquals(
        List.of(), states(output(THOUGHT, "{\"type\":\"computer_call\",\"call_id\":\"x\"}", TEXT)));
    assertEquals(
        List.of("{\"items\":[" + THOUGHT + "," + SEARCH + "]}"),
        states(output(THOUGHT, SEARCH, THOUGHT, EMPTY)));
  }

  @Test
  @Tag("FR-Q01")
  void reasoning_that_cannot_be_replayed_takes_the_items_behind_it_along() {
    String stored = "{\"id\":\"rs_2\",\"type\":\"reasoning\",\"summary\":[]}";
    assertEquals(List.of(), states(output(stored, SEARCH, TEXT)));
    assertEquals(List.of(), states(output(stored, CALL)));
    String open =
        "{\"type\":\"reasoning\",\"content\":[{\"type\":\"reasoning_text\",\"text\":\"x\"}]}";
    assertEquals(1, states(output(open, CALL)).size());
  }

  // --- tool calls
  // ----------------------------------------------------------------------------------

  private static ToolCall toolCall(String id, String name, String input) {
    return new ToolCall(id, name, Json.parse(input));
  }

  @Test
  @Tag("FR-T15")
  @Tag("FR-T17")
  @Tag("Y31")
  void calls_without_arguments_mean_the_empty_object_and_do_not_disturb_the_next_one() {
    assertEquals(
        List.of(
            toolCall("c0", "f", "{}"),
            toolCall("c1", "g", "{\"a\":1}"),
            toolCall("c2", "f", "{}"),
            toolCall("c3", "f", "{}"),
            toolCall("c4", "g", "{\"a\":3}")),
        output(
                "{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"c0\",\"name\":\"f\"}",
                "{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"c1\",\"name\":\"g\","
                    + "\"arguments\":\"{\\\"a\\\":1}\"}",
                "{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"f\",\"arguments\":\"\"}",
                "{\"type\":\"function_call\",\"call_id\":\"c3\",\"name\":\"f\",\"arguments\":null}",
                "{\"type\":\"function_call\",\"call_id\":\"c4\",\"name\":\"g\","
                    + "\"arguments\":\"\\\"{\\\\\\\"a\\\\\\\":3}\\\"\"}")
            .message()
            .toolCalls());
  }

  @Test
  @Tag("FR-T21")
  void arguments_that_were_cut_make_a_malformed_call_that_no_tool_may_run() {
    ModelResponse response =
        read(
            """
            {"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},
             "output":[{"type":"function_call","status":"incomplete","call_id":"a","name":"f",
               "arguments":"{\\"p\\":{\\"a\\":\\"x\\""}]}
            """);
    assertEquals(
        Optional.of("{\"p\":{\"a\":\"x\""), response.message().toolCalls().getFirst().malformed());
    assertEquals(
        new FinishReason(FinishReason.Kind.LENGTH, "max_output_tokens"), response.finishReason());
    assertFalse(response.finishReason().allowsTools());
  }

  @ParameterizedTest
  @CsvSource({"length_of_context, OTHER", "model_context_window_exceeded, LENGTH"})
  @Tag("FR-T25")
  void a_complete_call_beside_a_reason_that_is_not_known_is_neither_run_nor_dropped(
      String reason, FinishReason.Kind kind) {
    ModelResponse response =
        read(
            "{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\""
                + reason
                + "\"},\"output\":["
                + CALL
                + "]}");
    assertEquals(1, response.message().toolCalls().size());
    assertEquals(new FinishReason(kind, reason), response.finishReason());
    assertFalse(response.finishReason().allowsTools());
  }

  @Test
  @Tag("Y28")
  @Tag("FR-N01")
  @Tag("FR-N03")
  void numbers_in_arguments_keep_every_digit() {
    ToolCall call =
        output(
                """
                {"type":"function_call","call_id":"a","name":"f","arguments":
                 "{\\"n\\":9223372036854775817,\\"d\\":1234567890.1234567890,\\"s\\":\\"12\\"}"}
                """)
            .message()
            .toolCalls()
            .getFirst();
    assertEquals(
        "{\"n\":9223372036854775817,\"d\":1234567890.1234567890,\"s\":\"12\"}",
        call.input().text());
  }

  @Test
  @Tag("Y32")
  void arguments_beyond_1_mib_break_the_protocol_and_the_bound_is_named() {
    String arguments = "{\\\"a\\\":\\\"" + "x".repeat(1_048_576) + "\\\"}";
    ProviderException failure =
        assertThrows(ProviderException.class, () -> output(CALL.replace("{}", arguments)));
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("1048576"), failure.getMessage());
  }

  @Test
  @Tag("Y41")
  void calls_without_an_id_get_stable_distinct_ones_and_two_with_the_same_are_refused() {
    String bare = "{\"type\":\"function_call\",\"id\":\"fc_1\",\"name\":\"f\"}";
    List<ToolCall> calls = output(bare, bare).message().toolCalls();
    assertNotEquals(calls.getFirst().id(), calls.getLast().id());
    assertEquals(calls, output(bare, bare).message().toolCalls());
    ProviderException failure = assertThrows(ProviderException.class, () -> output(CALL, CALL));
    assertEquals(Kind.PROTOCOL, failure.kind());
  }

  // --- outcomes
  // ------------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      nullValues = "-",
      value = {
        "completed | - | STOP | completed",
        "incomplete | max_output_tokens | LENGTH | max_output_tokens",
        "incomplete | content_filter | CONTENT_FILTER | content_filter",
        "incomplete | something_new | OTHER | something_new",
        "incomplete | - | OTHER | incomplete",
        "cancelled | - | OTHER | cancelled",
        "in_progress | - | OTHER | in_progress",
        "- | - | OTHER | ``"
      })
  @Tag("FR-Q17")
  @Tag("Y39")
  void the_status_and_what_cut_the_answer_stay_distinct(
      String status, String why, FinishReason.Kind kind, String raw) {
    String body =
        "{\"status\":%s,\"incomplete_details\":%s,\"output\":[]}"
            .formatted(
                status == null ? "null" : "\"" + status + "\"",
                why == null ? "null" : "{\"reason\":\"" + why + "\"}");
    assertEquals(new FinishReason(kind, raw), read(body).finishReason());
  }

  @Test
  @Tag("FR-Q15")
  void a_refusal_is_a_refusal_whatever_else_the_answer_says() {
    String refusal =
        "{\"type\":\"message\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"No.\"}]}";
    ModelResponse response = output(TEXT, refusal, CALL);
    assertEquals(new FinishReason(FinishReason.Kind.REFUSAL, "completed"), response.finishReason());
    assertEquals("HiNo.", response.message().text());
    assertEquals(
        FinishReason.Kind.REFUSAL,
        read("{\"status\":\"incomplete\",\"output\":[" + refusal + "]}").finishReason().kind());
    assertEquals(
        FinishReason.Kind.REFUSAL, output(refusal.replace("No.", "")).finishReason().kind());
  }

  @Test
  void a_failed_answer_without_an_error_is_still_a_failure() {
    ProviderException failure =
        failure("{\"status\":\"failed\",\"error\":null,\"output\":[" + TEXT + "]}");
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(0, failure.status());
    assertEquals(Optional.of("req_7"), failure.requestId());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "web_search_call   | completed   | 500 | false | false | false",
        "web_search_call   | failed      | 500 | true  | false | true",
        "file_search_call  | failed      | 400 | true  | false | false",
        "mcp_call          | completed   | 500 | true  | true  | false",
        "mcp_call          | failed      | 429 | true  | true  | false",
        "code_interpreter_call | in_progress | 500 | true | true | false",
        "brand_new_call    | completed   | 500 | true  | true  | false",
        "function_call     | failed      | 500 | false | false | false",
        "local_shell_call  | failed      | 500 | false | false | false",
        "mcp_list_tools    | failed      | 500 | false | false | false"
      })
  @Tag("R85")
  @Tag("R97")
  void a_failure_behind_a_hosted_tool_says_whether_it_may_have_acted(
      String type, String state, int status, boolean ofTool, boolean acted, boolean repeatable) {
    byte[] body =
        "{\"status\":\"failed\",\"output\":[{\"type\":\"%s\",\"status\":\"%s\"}]}"
            .formatted(type, state)
            .getBytes(StandardCharsets.UTF_8);
    ProviderException reported =
        ProviderException.builder(Kind.PROVIDER_EVENT, "x").status(status).code("c").build();
    ProviderException failure =
        new ResponsesReader(FAILURES, "m", ModelCall.builder(List.of()).build())
            .failed(reported, new Answer(StrictJson.readDocument(body), body, HEADERS));
    assertEquals(ofTool ? Kind.TOOL_CALL : Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(acted, failure.mayHaveActed());
    assertEquals(repeatable, failure.repeatable());
    assertEquals(status, failure.status());
    assertEquals(Optional.of("c"), failure.code());
  }

  // --- usage
  // ---------------------------------------------------------------------------------------

  private static Usage usage(String usage) {
    return read("{\"output\":[],\"usage\":" + usage + "}").usage();
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "{}", "[]", "\"x\"", "{\"input_tokens\":-1}"})
  @Tag("R213")
  void what_is_not_reported_stays_absent(String usage) {
    assertEquals(Usage.ABSENT, usage(usage));
  }

  @Test
  @Tag("R211")
  @Tag("R212")
  @Tag("R213")
  @Tag("FR-M09")
  void parts_of_a_counter_are_not_added_to_it() {
    Usage usage =
        usage(
            """
            {"input_tokens":5128,"input_tokens_details":{"cached_tokens":0,
               "cache_write_tokens":5120},
             "output_tokens":1944,"output_tokens_details":{"reasoning_tokens":1360},
             "total_tokens":7072}
            """);
    assertEquals(TokenCount.reported(5128), usage.input());
    assertEquals(TokenCount.reported(0), usage.cachedInput());
    assertEquals(TokenCount.reported(5120), usage.cacheWrite());
    assertEquals(TokenCount.reported(1944), usage.output());
    assertEquals(TokenCount.reported(1360), usage.reasoning());
    assertEquals(TokenCount.reported(7072), usage.total());
  }

  @Test
  @Tag("Y46")
  void reasoning_that_the_total_shows_outside_is_added_once() {
    Usage usage =
        usage(
            """
            {"input_tokens":10,"output_tokens":136,"total_tokens":177,
             "output_tokens_details":{"reasoning_tokens":31}}
            """);
    assertEquals(new TokenCount(167, Provenance.DERIVED), usage.output());
  }
}
