package dev.warpwright.adapters.bedrock;

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
import dev.warpwright.model.TokenCount;
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

final class ConverseResponseTest {
  private static final Failures FAILURES =
      new Failures(BedrockErrors.TABLE, InstantSource.system(), Authorization.NONE);
  private static final HttpHeaders HEADERS =
      HttpHeaders.of(Map.of("x-amzn-RequestId", List.of("req-7")), (name, value) -> true);

  private static ModelResponse read(String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    ModelCall call = ModelCall.builder(List.of(Message.user("Hi"))).build();
    return ConverseResponse.read(
        FAILURES, "m-1", call, new Answer(StrictJson.readDocument(bytes), bytes, HEADERS));
  }

  private static List<Part> parts(String content) {
    return read("{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":" + content + "}}}")
        .message()
        .parts();
  }

  private static ToolCall call(String block) {
    return (ToolCall) parts("[" + block + "]").getFirst();
  }

  private static Usage usage(String usage) {
    return read("{\"output\":{\"message\":{\"content\":[]}},\"usage\":{" + usage + "}}").usage();
  }

  private static ProviderException failure(String body) {
    return assertThrows(ProviderException.class, () -> read(body));
  }

  @Test
  void an_answer_is_read_in_its_order_and_what_is_unknown_is_passed_over() {
    ModelResponse response =
        read(
            """
            {"metrics":{"latencyMs":900},"new":{"a":[1]},"output":{"message":{"role":"assistant",
             "content":[
               {"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"s+/="}}},
               {"text":"Hello \\ud83c\\udf0d"},
               {"citationsContent":{"content":[]}},
               {"toolUse":{"toolUseId":"tooluse_1","name":"f","input":{"a":1.50},"type":"x"}},
               {"reasoningContent":{"redactedContent":"Zm9v"}},
               {"text":"Wait."},{"text":""},{"text":null},{"no":"kind"},7],"x":1}},
             "stopReason":"tool_use",
             "usage":{"inputTokens":9,"outputTokens":2,"totalTokens":11,"serverToolUsage":{}}}
            """);
    assertEquals(
        List.of(
            ProviderState.of(
                "bedrock-converse",
                "m-1",
                Json.parse(
                    "{\"reasoningContent\":{\"reasoningText\":{\"text\":\"Hm.\",\"signature\":\"s+/=\"}}}")),
            new Part.Text("Hello 🌍"),
            new ToolCall("tooluse_1", "f", Json.parse("{\"a\":1.50}")),
            ProviderState.of(
                "bedrock-converse",
                "m-1",
                Json.parse("{\"reasoningContent\":{\"redactedContent\":\"Zm9v\"}}")),
            new Part.Text("Wait.")),
        response.message().parts());
    assertEquals(
        new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_use"), response.finishReason());
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
    assertEquals(Optional.of("req-7"), response.requestId());
  }

  @ParameterizedTest
  @CsvSource({
    "end_turn, STOP",
    "stop_sequence, STOP",
    "tool_use, TOOL_CALLS",
    "max_tokens, LENGTH",
    "model_context_window_exceeded, LENGTH",
    "guardrail_intervened, CONTENT_FILTER",
    "content_filtered, CONTENT_FILTER",
    "malformed_tool_use, OTHER",
    "unheard_of, OTHER"
  })
  @Tag("Y39")
  void finish_reasons_are_an_open_set(String raw, FinishReason.Kind kind) {
    ModelResponse response =
        read("{\"output\":{\"message\":{\"content\":[]}},\"stopReason\":\"" + raw + "\"}");
    assertEquals(new FinishReason(kind, raw), response.finishReason());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"stopReason\":null", ",\"stopReason\":7"})
  @Tag("Y39")
  void no_reason_is_no_reason(String member) {
    assertEquals(
        "", read("{\"output\":{\"message\":{\"content\":[]}}" + member + "}").finishReason().raw());
  }

  /** Each row: counters, and what they mean: input, cached, written, output, total. */
  @ParameterizedTest
  @CsvSource({
    // the example: the write stands beside the input
    "8, 0, 5120, 0, 5128,   5128, 0, 5120, 0, 5128",
    "8, 5120, 0, 4, 5132,   5128, 5120, 0, 4, 5132",
    "8, 100, 20, 4, 132,    128, 100, 20, 4, 132",
    // the total says that the input counts everything already
    "5128, 5120, 0, 4, 5132,   5128, 5120, 0, 4, 5132",
    "8, 3, 2, 4, 12,   8, 3, 2, 4, 12",
    // a total that fits nothing: the declared rule
    "8, 100, 20, 4, 999,    128, 100, 20, 4, 999"
  })
  @Tag("FR-M07")
  @Tag("Y46")
  void cache_counters_are_added_once_and_the_total_judges(
      long input,
      long read,
      long write,
      long output,
      long total,
      long allInput,
      long cached,
      long written,
      long out,
      long sum) {
    Usage usage =
        usage(
            "\"inputTokens\":%d,\"cacheReadInputTokens\":%d,\"cacheWriteInputTokens\":%d,\"outputTokens\":%d,\"totalTokens\":%d"
                .formatted(input, read, write, output, total));
    assertEquals(allInput, usage.input().tokens());
    assertEquals(cached, usage.cachedInput().tokens());
    assertEquals(written, usage.cacheWrite().tokens());
    assertEquals(out, usage.output().tokens());
    assertEquals(sum, usage.total().tokens());
  }

  @Test
  @Tag("FR-M07")
  void what_is_absent_stays_absent() {
    assertEquals(Usage.ABSENT, usage(""));
    assertEquals(128, usage("\"inputTokens\":8,\"cacheReadInputTokens\":120").input().tokens());
    assertEquals(
        TokenCount.ABSENT, usage("\"cacheReadInputTokens\":120,\"outputTokens\":1").input());
    assertEquals(TokenCount.ABSENT, usage("\"inputTokens\":-1").input());
  }

  @ParameterizedTest
  @CsvSource({
    "'\"input\":{}', {}",
    "'\"input\":null', {}",
    "'\"x\":1', {}",
    "'\"input\":\"\"', {}",
    "'\"input\":\"{\\\"a\\\":1}\"', '{\"a\":1}'",
    "'\"input\":{\"a\":12345678901234567890.10}', '{\"a\":12345678901234567890.10}'"
  })
  @Tag("Y28")
  @Tag("Y31")
  void the_input_of_a_call_is_read_in_every_form(String member, String input) {
    ToolCall call = call("{\"toolUse\":{\"toolUseId\":\"t\",\"name\":\"f\"," + member + "}}");
    assertEquals(input, call.input().text());
    assertTrue(call.malformed().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "7", "\"words\"", "{\"a\":1,\"a\":2}"})
  @Tag("Y29")
  void an_input_that_is_no_object_or_repeats_a_key_makes_the_call_malformed(String input) {
    assertTrue(
        call("{\"toolUse\":{\"toolUseId\":\"t\",\"name\":\"f\",\"input\":" + input + "}}")
            .malformed()
            .isPresent());
  }

  @Test
  @Tag("Y41")
  void a_call_without_an_id_gets_one_that_stays_the_same() {
    String block = "{\"toolUse\":{\"name\":\"f\",\"input\":{}}}";
    String id = call(block).id();
    assertTrue(id.matches("call_[0-9a-f]{24}_0"), id);
    assertEquals(id, call(block).id());
  }

  @Test
  void calls_without_a_name_or_with_the_same_id_break_the_protocol() {
    String call = "{\"toolUse\":{\"toolUseId\":\"t\",\"name\":\"f\",\"input\":{}}}";
    for (String content : List.of("{\"toolUse\":{\"toolUseId\":\"t\"}}", call + "," + call)) {
      assertEquals(
          Kind.PROTOCOL,
          failure("{\"output\":{\"message\":{\"content\":[" + content + "]}}}").kind());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "7",
        "{\"output\":{}}",
        "{\"output\":{\"message\":{}}}",
        "{\"output\":{\"message\":{\"content\":\"text\"}}}",
        "{\"Output\":{\"__type\":\"com.amazon.coral.service#UnknownOperationException\"}}"
      })
  void an_answer_without_content_breaks_the_protocol(String body) {
    ProviderException failure = failure(body);
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertEquals("Bedrock's answer has no content.", failure.getMessage());
  }

  @Test
  @Tag("Y36")
  void a_bare_error_with_status_200_is_one() {
    ProviderException failure = failure("{\"message\":\"Busy.\",\"code\":\"throttlingException\"}");
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(429, failure.status());
  }
}
