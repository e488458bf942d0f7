package dev.warpwright.adapters.ollama;

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
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class OllamaResponseTest {
  private static final Failures FAILURES =
      new Failures(OllamaErrors.TABLE, InstantSource.system(), Authorization.NONE);
  private static final HttpHeaders HEADERS = HttpHeaders.of(Map.of(), (name, value) -> true);

  private static ModelResponse read(String body, Message... conversation) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    ModelCall call = ModelCall.builder(List.of(conversation)).build();
    return OllamaResponse.read(
        FAILURES, "llama", call, new Answer(StrictJson.readDocument(bytes), bytes, HEADERS));
  }

  private static List<ToolCall> calls(String list, Message... conversation) {
    return read("{\"message\":{\"tool_calls\":" + list + "},\"done\":true}", conversation)
        .message()
        .toolCalls();
  }

  private static ToolCall call(String arguments) {
    return calls("[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":" + arguments + "}}]")
        .getFirst();
  }

  @Test
  void an_answer_is_thinking_text_and_calls_and_what_is_unknown_is_passed_over() {
    ModelResponse response =
        read(
            """
            {"model":"llama","created_at":"2026-01-01T00:00:00Z","new":[1],
             "message":{"role":"assistant","content":"Hi.","thinking":"Hm.","new":{},
               "tool_calls":[{"id":"call_1","function":{"index":0,"name":"f","arguments":{"a":1}}}]},
             "done":true,"done_reason":"stop","total_duration":5,"prompt_eval_count":7,
             "eval_count":4}
            """);
    assertEquals(
        List.of(
            PrivateThinking.keep("llama", "Hm."),
            new Part.Text("Hi."),
            new ToolCall("call_1", "f", Json.parse("{\"a\":1}"))),
        response.message().parts());
    assertEquals(new FinishReason(FinishReason.Kind.TOOL_CALLS, "stop"), response.finishReason());
    assertEquals(
        new Usage(
            TokenCount.reported(7),
            TokenCount.ABSENT,
            TokenCount.ABSENT,
            TokenCount.reported(4),
            TokenCount.ABSENT,
            new TokenCount(11, Provenance.DERIVED),
            Optional.empty()),
        response.usage());
  }

  @ParameterizedTest
  @CsvSource({
    "'', STOP, ''",
    "'\"done_reason\":null,', STOP, ''",
    "'\"done_reason\":\"stop\",', STOP, stop",
    "'\"done_reason\":\"length\",', LENGTH, length",
    "'\"done_reason\":\"load\",', OTHER, load",
    "'\"done_reason\":\"unload\",', OTHER, unload",
    "'\"done_reason\":\"tired\",', OTHER, tired"
  })
  @Tag("Y39")
  void the_reason_is_open_and_a_missing_one_means_that_all_is_well(
      String member, FinishReason.Kind kind, String raw) {
    assertEquals(
        new FinishReason(kind, raw),
        read("{" + member + "\"message\":{\"content\":\"x\"},\"done\":true}").finishReason());
  }

  @ParameterizedTest
  @CsvSource({"'', TOOL_CALLS", "stop, TOOL_CALLS", "length, LENGTH", "unload, OTHER"})
  @Tag("Y39")
  void an_answer_with_calls_ended_for_them_unless_it_was_cut_off(
      String reason, FinishReason.Kind kind) {
    String call = "{\"function\":{\"name\":\"f\",\"arguments\":{}}}";
    assertEquals(
        kind,
        read("{\"message\":{\"tool_calls\":[%s]},\"done_reason\":\"%s\"}".formatted(call, reason))
            .finishReason()
            .kind());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"message\":{},\"done\":true}",
        "{\"message\":{\"content\":null,\"tool_calls\":null},\"eval_count\":null,"
            + "\"prompt_eval_count\":null}",
        "{\"message\":{},\"eval_count\":-1,\"prompt_eval_count\":\"7\"}"
      })
  @Tag("FR-O03")
  @Tag("Y45")
  void absent_counters_stay_absent(String body) {
    assertEquals(Usage.ABSENT, read(body).usage());
    assertEquals(List.of(), read(body).message().parts());
  }

  @Test
  @Tag("FR-O03")
  void one_counter_makes_no_total() {
    Usage usage = read("{\"message\":{},\"eval_count\":5}").usage();
    assertEquals(TokenCount.reported(5), usage.output());
    assertEquals(TokenCount.ABSENT, usage.total());
  }

  @Test
  @Tag("FR-O05")
  @Tag("Y41")
  void calls_without_ids_get_some_that_are_unique_in_the_run() {
    String two =
        "[{\"function\":{\"name\":\"f\",\"arguments\":{}}},"
            + "{\"id\":\"\",\"function\":{\"name\":\"f\",\"arguments\":{}}}]";
    List<ToolCall> first = calls(two, Message.user("Hi"));
    assertNotEquals(first.get(0).id(), first.get(1).id());
    assertEquals(first, calls(two, Message.user("Hi")), "the same answer has the same ids");
    List<ToolCall> next =
        calls(
            two, Message.user("Hi"), read("{\"message\":{\"tool_calls\":" + two + "}}").message());
    assertEquals(
        4, Stream.concat(first.stream(), next.stream()).map(ToolCall::id).distinct().count());
  }

  @Test
  @Tag("Y28")
  @Tag("Y31")
  void arguments_are_exact_objects_and_what_is_none_is_malformed() {
    assertEquals(
        Json.parse("{\"id\":2512292042121000001,\"x\":1.50}"),
        call("{\"id\":2512292042121000001,\"x\":1.50}").input());
    assertEquals(Json.EMPTY_OBJECT, call("null").input());
    assertEquals(Json.parse("{\"a\":1}"), call("\"{\\\"a\\\":1}\"").input());
    assertTrue(call("[1]").malformed().isPresent());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"{\"a\":1,\"a\":2}", "{\"a\":{\"b\":1,\"b\":1}}", "{\"a\":[{\"b\":1,\"b\":2}]}"})
  @Tag("Y29")
  void arguments_with_a_key_twice_are_malformed(String arguments) {
    assertTrue(call(arguments).malformed().isPresent());
  }

  @Test
  void calls_are_told_apart_by_their_place_not_by_an_index_that_servers_repeat() {
    List<ToolCall> calls =
        calls(
            "[{\"function\":{\"index\":0,\"name\":\"f\",\"arguments\":{\"a\":1}}},"
                + "{\"function\":{\"index\":0,\"name\":\"f\",\"arguments\":{\"a\":2}}}]");
    assertEquals(
        List.of("{\"a\":1}", "{\"a\":2}"), calls.stream().map(c -> c.input().text()).toList());
  }

  @ParameterizedTest
  @CsvSource({
    "'{}', PROTOCOL",
    "'[]', PROTOCOL",
    "'{\"message\":null,\"done\":true}', PROTOCOL",
    "'{\"message\":{\"content\":\"x\"},\"done\":false}', PROTOCOL",
    "'{\"message\":{\"tool_calls\":{}}}', PROTOCOL",
    "'{\"message\":{\"tool_calls\":[{}]}}', PROTOCOL",
    "'{\"message\":\"It broke.\",\"code\":503}', PROVIDER_EVENT"
  })
  void what_is_no_answer_is_a_typed_failure(String body, Kind kind) {
    ProviderException failure = assertThrows(ProviderException.class, () -> read(body));
    assertEquals(kind, failure.kind());
  }
}
