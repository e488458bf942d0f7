package dev.warpwright.adapters.protocol.anthropic;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import dev.warpwright.model.ProviderState;
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

final class MessagesResponseTest {
  private static final Failures FAILURES =
      new Failures(MessagesErrors.TABLE, InstantSource.system(), Authorization.NONE);
  private static final HttpHeaders HEADERS =
      HttpHeaders.of(Map.of("Request-Id", List.of("req_7")), (name, value) -> true);

  private static ModelResponse read(String body, Message... conversation) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    ModelCall call = ModelCall.builder(List.of(conversation)).build();
    return MessagesResponse.read(
        FAILURES, "claude-x", call, new Answer(StrictJson.readDocument(bytes), bytes, HEADERS));
  }

  private static List<Part> parts(String content) {
    return read("{\"type\":\"message\",\"content\":" + content + "}").message().parts();
  }

  private static ToolCall call(String block) {
    List<ToolCall> calls =
        read("{\"content\":[" + block + "],\"stop_reason\":\"tool_use\"}").message().toolCalls();
    assertEquals(1, calls.size());
    return calls.getFirst();
  }

  private static Usage usage(String usage) {
    return read("{\"content\":[],\"usage\":" + usage + "}").usage();
  }

  @Test
  void an_answer_is_read_in_its_order_and_what_is_unknown_is_passed_over() {
    ModelResponse response =
        read(
            """
            {"id":"msg_1","type":"message","role":"assistant","model":"claude-x-2026","new":{"a":[1]},
             "content":[
               {"type":"thinking","thinking":"Hm.","signature":"s+/="},
               {"type":"text","text":"Hello \\ud83c\\udf0d","citations":null},
               {"type":"server_tool_use","id":"s1","name":"web_search","input":{}},
               {"type":"tool_use","id":"toolu_1","name":"f","input":{"a":1.50}},
               {"type":"text","text":"Wait."},{"type":"text","text":""},{"no":"type"},7],
             "stop_reason":"tool_use","stop_sequence":null,"container":null,
             "usage":{"input_tokens":9,"output_tokens":2,"service_tier":"standard"}}
            """);
    assertEquals(
        new Message(
            Role.ASSISTANT,
            List.of(
                ProviderState.of(
                    "anthropic-messages",
                    "claude-x",
                    Json.parse(
                        "{\"type\":\"thinking\",\"thinking\":\"Hm.\",\"signature\":\"s+/=\"}")),
                new Part.Text("Hello 🌍"),
                new ToolCall("toolu_1", "f", Json.parse("{\"a\":1.50}")),
                new Part.Text("Wait."))),
        response.message());
    assertEquals(
        new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_use"), response.finishReason());
    assertEquals(Optional.of("req_7"), response.requestId());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"thinking\",\"thinking\":\"a\\nä😀\",\"signature\":\"EqQB+/==\"}",
        "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"s\",\"future\":{\"n\":1.50}}",
        "{\"type\":\"thinking\",\"thinking\":\"Hm.\"}",
        "{\"type\":\"redacted_thinking\",\"data\":\"Zm9v\"}"
      })
  @Tag("Y47")
  void a_block_of_thinking_is_kept_whole_with_its_model(String block) {
    assertEquals(
        List.of(ProviderState.of("anthropic-messages", "claude-x", Json.parse(block))),
        parts("[" + block + "]"));
    assertEquals(block, ((ProviderState) parts("[" + block + "]").getFirst()).data().text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{}}",
        "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":null}",
        "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":\"\"}",
        "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\"}"
      })
  @Tag("FR-A01")
  @Tag("FR-T15")
  @Tag("Y31")
  void an_empty_input_is_the_empty_object(String block) {
    assertEquals(new ToolCall("c", "f", Json.EMPTY_OBJECT), call(block));
  }

  @Test
  @Tag("FR-T17")
  @Tag("Y28")
  @Tag("FR-N01")
  void inputs_are_exact_and_never_joined() {
    List<ToolCall> calls =
        read("""
        {"content":[{"type":"tool_use","id":"a","name":"f","input":{}},
          {"type":"tool_use","id":"b","name":"g",
           "input":{"z":9007199254740993,"a":1234567890.123456789,"b":1.10}}]}
        """)
            .message()
            .toolCalls();
    assertEquals("{}", calls.get(0).input().text());
    assertEquals(
        "{\"z\":9007199254740993,\"a\":1234567890.123456789,\"b\":1.10}",
        calls.get(1).input().text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[1]",
        "7",
        "true",
        "\"{\"",
        "\"[]\"",
        "{\"a\":1,\"a\":2}",
        "{\"x\":[{\"y\":{\"a\":1,\"a\":1}}]}"
      })
  @Tag("Y29")
  @Tag("FR-T21")
  void an_input_that_is_no_object_or_has_a_key_twice_is_malformed(String input) {
    ToolCall call =
        call("{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":%s}".formatted(input));
    assertTrue(call.malformed().isPresent());
    assertEquals(Json.EMPTY_OBJECT, call.input());
  }

  @Test
  @Tag("Y29")
  void a_key_twice_outside_the_input_is_no_harm_and_the_last_one_wins() {
    ModelResponse response =
        read(
            """
            {"content":[{"type":"tool_use","id":"old","id":"c","name":"f","input":{"a":[{"a":1}]}}],
             "usage":{"input_tokens":1,"input_tokens":2,"output_tokens":1}}
            """);
    assertEquals(
        List.of(new ToolCall("c", "f", Json.parse("{\"a\":[{\"a\":1}]}"))),
        response.message().parts());
    assertEquals(2, response.usage().input().tokens());
  }

  @Test
  @Tag("Y41")
  void a_call_without_an_id_gets_a_stable_one_that_is_accepted_back() {
    String body =
        "{\"content\":[{\"type\":\"tool_use\",\"name\":\"f\",\"input\":{}},"
            + "{\"type\":\"tool_use\",\"id\":\" \",\"name\":\"f\",\"input\":{}}]}";
    List<ToolCall> calls = read(body, Message.user("?")).message().toolCalls();
    assertEquals(calls, read(body, Message.user("?")).message().toolCalls());
    assertTrue(calls.getFirst().id().matches("call_[0-9a-f]{24}_0"), calls.getFirst().id());
    assertTrue(calls.getLast().id().endsWith("_1"));
  }

  // --- reasons
  // ------------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "end_turn, STOP",
    "stop_sequence, STOP",
    "tool_use, TOOL_CALLS",
    "max_tokens, LENGTH",
    "model_context_window_exceeded, LENGTH",
    "refusal, REFUSAL",
    "pause_turn, PAUSED",
    "compaction, OTHER"
  })
  @Tag("Y39")
  @Tag("FR-A13")
  void stop_reasons_are_an_open_set(String raw, FinishReason.Kind kind) {
    ModelResponse response =
        read("{\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"stop_reason\":\"" + raw + "\"}");
    assertEquals(new FinishReason(kind, raw), response.finishReason());
  }

  @Test
  @Tag("Y39")
  void no_stop_reason_is_no_reason() {
    assertEquals(
        new FinishReason(FinishReason.Kind.OTHER, ""),
        read("{\"content\":[],\"stop_reason\":null}").finishReason());
  }

  @ParameterizedTest
  @ValueSource(strings = {"model_context_window_exceeded", "max_tokens", "refusal", "unheard_of"})
  @Tag("FR-T25")
  @Tag("FR-T21")
  void a_call_beside_such_a_reason_is_kept_and_may_not_run(String reason) {
    ModelResponse response =
        read(
            "{\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{}}],"
                + "\"stop_reason\":\""
                + reason
                + "\"}");
    assertEquals(1, response.message().toolCalls().size());
    assertEquals(false, response.finishReason().allowsTools());
  }

  // --- usage
  // --------------------------------------------------------------------------------------

  private static TokenCount derived(long tokens) {
    return new TokenCount(tokens, Provenance.DERIVED);
  }

  @Test
  @Tag("FR-M07")
  @Tag("FR-A05")
  @Tag("FR-M09")
  void cache_counters_are_added_to_the_input_once_and_thinking_is_inside_the_output() {
    assertEquals(
        new Usage(
            derived(8 + 3 + 5_120),
            TokenCount.reported(3),
            TokenCount.reported(5_120),
            TokenCount.reported(64),
            TokenCount.reported(31),
            derived(8 + 3 + 5_120 + 64),
            Optional.of("fast")),
        usage(
            """
            {"input_tokens":8,"cache_creation_input_tokens":5120,"cache_read_input_tokens":3,
             "cache_creation":{"ephemeral_5m_input_tokens":5120},"output_tokens":64,
             "output_tokens_details":{"thinking_tokens":31},"speed":"fast"}
            """));
  }

  @Test
  @Tag("FR-A05")
  void without_cached_tokens_the_input_is_what_was_reported() {
    Usage usage =
        usage(
            """
            {"input_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":null,
             "output_tokens":4}
            """);
    assertEquals(TokenCount.reported(2), usage.input());
    assertEquals(TokenCount.reported(0), usage.cacheWrite());
    assertEquals(TokenCount.ABSENT, usage.cachedInput());
    assertEquals(derived(6), usage.total());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"null", "{}", "7", "{\"input_tokens\":-1,\"output_tokens\":\"4\",\"speed\":null}"})
  void absent_or_broken_counters_are_absent(String usage) {
    assertEquals(Usage.ABSENT, usage(usage));
  }

  @Test
  void a_cache_counter_alone_makes_no_input() {
    Usage usage = usage("{\"cache_read_input_tokens\":5,\"output_tokens\":1}");
    assertEquals(TokenCount.ABSENT, usage.input());
    assertEquals(TokenCount.ABSENT, usage.total());
  }

  // --- failures
  // -----------------------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "1",
        "{\"content\":null}",
        "{\"content\":\"Hi\"}",
        "{\"content\":{}}",
        "{\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"input\":{}}]}",
        "{\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":7}]}",
        "{\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\"},"
            + "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"g\"}]}"
      })
  void what_breaks_the_protocol_is_a_protocol_failure(String body) {
    ProviderException failure = assertThrows(ProviderException.class, () -> read(body));
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertEquals("req_7", failure.requestId().orElseThrow());
    assertTrue(failure.getMessage().startsWith("Anthropic's answer has "), failure.getMessage());
  }

  @Test
  @Tag("Y32")
  void arguments_beyond_the_bound_are_a_protocol_failure() {
    String body =
        "{\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{\"a\":\""
            + "x".repeat(1_048_576)
            + "\"}}]}";
    assertEquals(Kind.PROTOCOL, assertThrows(ProviderException.class, () -> read(body)).kind());
  }

  @Test
  @Tag("Y36")
  void a_bare_error_object_is_that_error() {
    ProviderException failure =
        assertThrows(
            ProviderException.class,
            () -> read("{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}"));
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(529, failure.status());
  }
}
