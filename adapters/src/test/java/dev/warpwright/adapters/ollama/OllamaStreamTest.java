package dev.warpwright.adapters.ollama;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.Played;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of the protocol from bytes to the answer, however the network cuts them. */
final class OllamaStreamTest {
  private static final Failures FAILURES =
      new Failures(OllamaErrors.TABLE, InstantSource.system(), Authorization.NONE);
  private static final HttpHeaders HEADERS = HttpHeaders.of(Map.of(), (name, value) -> true);
  private static final ModelCall CALL = ModelCall.builder(List.of(Message.user("Hi"))).build();
  private static final Played.Player PLAYER =
      new Played.Player(
          HEADERS,
          events ->
              EventStream.ofLines(
                  FAILURES, events, headers -> new OllamaStream(FAILURES, "llama", CALL, headers)));
  private static final String DONE =
      "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n";

  private static Played play(String... lines) {
    return PLAYER.play(String.join("", lines));
  }

  private static String text(String piece) {
    return "{\"message\":{\"role\":\"assistant\",\"content\":"
        + Json.of(piece).text()
        + "},\"done\":false}\n";
  }

  private static String thinking(String piece) {
    return "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":"
        + Json.of(piece).text()
        + "},\"done\":false}\n";
  }

  private static String calls(String... functions) {
    return "{\"message\":{\"tool_calls\":[" + String.join(",", functions) + "]},\"done\":false}\n";
  }

  private static String function(String name, String arguments) {
    return "{\"function\":{\"index\":0,\"name\":\"%s\",\"arguments\":%s}}"
        .formatted(name, arguments);
  }

  @Test
  @Tag("FR-S15")
  @Tag("Y1")
  void thinking_and_text_are_told_while_they_come_and_kept_apart() {
    Played played =
        play(
            thinking("H"),
            thinking("m."),
            text("Hello "),
            text("你🌍"),
            "{\"message\":{\"content\":\"!\"},\"done\":true,\"done_reason\":\"stop\","
                + "\"prompt_eval_count\":7,\"eval_count\":4}\n");
    assertEquals(
        List.of(
            new ModelEvent.Reasoning("H"),
            new ModelEvent.Reasoning("m."),
            new ModelEvent.Text("Hello "),
            new ModelEvent.Text("你🌍"),
            new ModelEvent.Text("!"),
            new ModelEvent.Counters(played.response().usage())),
        played.output());
    assertEquals(
        List.of(PrivateThinking.keep("llama", "Hm."), new Part.Text("Hello 你🌍!")),
        played.response().message().parts());
    assertEquals(
        new FinishReason(FinishReason.Kind.STOP, "stop"), played.response().finishReason());
    assertEquals(11, played.response().usage().total().tokens());
  }

  @Test
  @Tag("FR-O01")
  @Tag("FR-O03")
  void a_call_comes_whole_on_a_line_with_its_arguments_as_an_object() {
    ModelResponse response =
        play(
                "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"read\","
                    + "\"arguments\":{\"filePath\":\"a\"}}}]},\"done\":false,"
                    + "\"eval_duration\":null,\"eval_count\":null}\n",
                "{\"message\":{\"content\":\"\"},\"done\":true}\n")
            .response();
    ToolCall call = response.message().toolCalls().getFirst();
    assertEquals(1, response.message().parts().size());
    assertEquals("read", call.name());
    assertEquals(Json.parse("{\"filePath\":\"a\"}"), call.input());
    assertFalse(call.id().isBlank());
    assertEquals(FinishReason.Kind.TOOL_CALLS, response.finishReason().kind());
    assertEquals(Usage.ABSENT, response.usage());
  }

  @Test
  @Tag("FR-O05")
  @Tag("Y28")
  @Tag("Y41")
  void calls_at_the_same_index_on_several_lines_are_several_calls() {
    List<ToolCall> calls =
        play(
                calls(function("f", "{\"a\":1.50}"), function("f", "{\"a\":1.50}")),
                text("And "),
                calls(function("f", "{\"id\":2512292042121000001}")),
                "{\"message\":{\"tool_calls\":[" + function("g", "{}") + "]},\"done\":true}\n")
            .response()
            .message()
            .toolCalls();
    assertEquals(
        List.of("{\"a\":1.50}", "{\"a\":1.50}", "{\"id\":2512292042121000001}", "{}"),
        calls.stream().map(call -> call.input().text()).toList());
    assertEquals(4, calls.stream().map(ToolCall::id).distinct().count());
  }

  @Test
  @Tag("Y29")
  void arguments_with_a_key_twice_reach_no_tool() {
    List<ToolCall> calls =
        play(calls(function("f", "{\"a\":1,\"a\":2}")), calls(function("g", "{}")), DONE)
            .response()
            .message()
            .toolCalls();
    assertTrue(calls.get(0).malformed().isPresent());
  }

  @Test
  @Tag("Y40")
  void the_same_id_for_two_calls_breaks_the_protocol() {
    String call = "{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":{}}}";
    assertEquals(Kind.PROTOCOL, play(calls(call), calls(call), DONE).failure().kind());
  }

  @Test
  @Tag("FR-T21")
  void calls_of_an_answer_that_was_cut_off_may_not_run() {
    FinishReason reason =
        play(calls(function("f", "{}")), DONE.replace("\"stop\"", "\"length\""))
            .response()
            .finishReason();
    assertFalse(reason.allowsTools());
  }

  @Test
  @Tag("Y14")
  void lines_may_end_with_cr_lf_be_blank_or_the_last_without_an_end() {
    String stream = "\n" + text("a").strip() + "\r\n\r\n" + text("b") + "\n" + DONE.strip();
    Played played = play(stream);
    assertEquals("ab", played.response().message().text());
    assertEquals("ab", played.text());
  }

  @Test
  @Tag("Y14")
  void a_blank_line_shows_that_the_server_lives() {
    byte[] blank = {'\n'};
    Played played = PLAYER.play(List.of(blank, bytes(text("a")), blank, bytes(DONE)));
    assertEquals(
        List.of(ModelEvent.ALIVE, new ModelEvent.Text("a"), ModelEvent.ALIVE, ModelEvent.ALIVE),
        played.told());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  @Tag("Y49")
  void behind_the_line_that_says_so_nothing_is_read() {
    Played played = play(text("a"), DONE, "{\"error\":\"late\"}\n", "no JSON");
    assertEquals("a", played.response().message().text());
  }

  @ParameterizedTest
  @CsvSource({
    "'{\"error\":\"model runner has unexpectedly stopped\"}', 500, PROVIDER_EVENT",
    "'{\"error\":\"rate limit exceeded\",\"status\":429}', 429, PROVIDER_EVENT",
    "'{\"error\":\"model ''x'' not found\",\"status\":404}', 404, PROVIDER_EVENT",
    "'{\"error\":{\"message\":\"m\",\"code\":503}}', 503, PROVIDER_EVENT",
    "'{\"error\":\"the input length exceeds the context length\",\"status\":400}', 400,"
        + " CONTEXT_LENGTH",
    "'{\"error\":\"request (302 tokens) exceeds the available context size (256 tokens), try"
        + " increasing it\"}', 500, CONTEXT_LENGTH",
    "'{\"message\":\"It broke.\"}', 500, PROVIDER_EVENT"
  })
  @Tag("Y36")
  @Tag("Y38")
  @Tag("FR-X01")
  void an_error_line_ends_the_stream_with_its_status_or_500_before_and_after_output(
      String line, int status, Kind kind) {
    for (String before : List.of("", text("Hello"), thinking("Hm."))) {
      Played played = play(before, line, "\n", DONE);
      assertEquals(kind, played.failure().kind());
      assertEquals(status, played.failure().status());
      assertEquals(before.isEmpty() ? 0 : 1, played.output().size());
    }
    assertEquals(kind, play(line).failure().kind(), "also without a line end");
  }

  @Test
  @Tag("Y17")
  @Tag("FR-O01")
  void a_stream_that_ends_before_it_is_done_is_broken() {
    assertEquals(Kind.PROTOCOL, play(text("Hello")).failure().kind());
    assertEquals(Kind.PROTOCOL, play("").failure().kind());
    assertEquals(Kind.PROTOCOL, play(text("Hello"), calls(function("f", "{}"))).failure().kind());
    ProviderException cut = play(text("Hello"), DONE.substring(0, DONE.length() - 3)).failure();
    assertEquals(Kind.PROTOCOL, cut.kind());
    assertTrue(cut.getMessage().contains("breaks off"), cut.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "7\n",
        "[]\n",
        "\"x\"\n",
        "null\n",
        "{\"a\":}\n",
        "data: {}\n",
        "<html>\n",
        "{\"message\":{\"tool_calls\":{}},\"done\":false}\n",
        "{\"message\":{\"tool_calls\":[7]},\"done\":false}\n"
      })
  void a_line_that_is_none_of_the_protocol_breaks_it(String line) {
    assertEquals(Kind.PROTOCOL, play(text("Hello"), line, DONE).failure().kind());
  }

  @Test
  void a_damaged_stream_is_an_answer_or_a_typed_failure_however_it_is_cut() {
    PLAYER.playDamaged(
        thinking("Hm. ä")
            + text("Hello ")
            + text("你🌍 \\ \"x\"")
            + calls(
                "{\"id\":\"c1\",\"function\":{\"name\":\"f\",\"arguments\":{\"a\":1.50}}}",
                function("g", "{\"b\":[{\"c\":null}]}"))
            + "{\"model\":\"llama\",\"message\":{\"content\":\"\"},\"done\":true,"
            + "\"done_reason\":\"stop\",\"prompt_eval_count\":7,\"eval_count\":4}\n");
  }
}
