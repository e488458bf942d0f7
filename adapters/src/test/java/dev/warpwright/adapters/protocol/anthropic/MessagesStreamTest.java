package dev.warpwright.adapters.protocol.anthropic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.Played;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
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

/** Streams of the protocol from bytes to the answer, however the network cuts them. */
final class MessagesStreamTest {
  private static final Failures FAILURES =
      new Failures(MessagesErrors.TABLE, InstantSource.system(), Authorization.NONE);
  private static final HttpHeaders HEADERS =
      HttpHeaders.of(Map.of("Request-Id", List.of("req_7")), (name, value) -> true);
  private static final ModelCall CALL = ModelCall.builder(List.of(Message.user("Hi"))).build();
  private static final Played.Player PLAYER =
      new Played.Player(
          HEADERS,
          events ->
              EventStream.of(
                  FAILURES,
                  events,
                  headers -> new MessagesStream(FAILURES, "claude-x", CALL, headers)));

  private static final String START =
      event("message_start", "\"message\":{\"id\":\"msg_1\",\"content\":[],\"stop_reason\":null}");
  private static final String STOP = event("message_stop", "");
  private static final String END = delta("end_turn") + STOP;

  private static Played play(String... events) {
    return PLAYER.play(String.join("", events));
  }

  private static String event(String type, String members) {
    String separator = members.isEmpty() ? "" : ",";
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + separator + members + "}\n\n";
  }

  private static String start(int index, String block) {
    return event("content_block_start", "\"index\":" + index + ",\"content_block\":" + block);
  }

  private static String startText(int index) {
    return start(index, "{\"type\":\"text\",\"text\":\"\"}");
  }

  private static String startThinking(int index) {
    return start(index, "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}");
  }

  private static String startCall(int index, String id, String name, String input) {
    return start(
        index,
        "{\"type\":\"tool_use\",\"id\":\"%s\",\"name\":\"%s\",\"input\":%s}"
            .formatted(id, name, input));
  }

  private static String piece(int index, String type, String member, String piece) {
    return event(
        "content_block_delta",
        "\"index\":%d,\"delta\":{\"type\":\"%s\",\"%s\":\"%s\"}"
            .formatted(index, type, member, piece.replace("\"", "\\\"")));
  }

  private static String text(int index, String piece) {
    return piece(index, "text_delta", "text", piece);
  }

  private static String thinking(int index, String piece) {
    return piece(index, "thinking_delta", "thinking", piece);
  }

  private static String signature(int index, String piece) {
    return piece(index, "signature_delta", "signature", piece);
  }

  private static String input(int index, String piece) {
    return piece(index, "input_json_delta", "partial_json", piece);
  }

  private static String stop(int index) {
    return event("content_block_stop", "\"index\":" + index);
  }

  private static String delta(String stopReason) {
    return event(
        "message_delta",
        "\"delta\":{\"stop_reason\":\"" + stopReason + "\",\"stop_sequence\":null}");
  }

  /** The answer with the same blocks if they come whole. */
  private static ModelResponse blocking(String stopReason, String... blocks) {
    byte[] body =
        "{\"content\":[%s],\"stop_reason\":\"%s\"}"
            .formatted(String.join(",", blocks), stopReason)
            .getBytes(StandardCharsets.UTF_8);
    return MessagesResponse.read(
        FAILURES, "claude-x", CALL, new Answer(StrictJson.readDocument(body), body, HEADERS));
  }

  // --- answers -------------------------------------------------------------------------------

  @Test
  @Tag("Y1")
  @Tag("FR-A11")
  void text_comes_in_pieces_that_joined_are_the_answer() {
    Played played =
        play(
            START,
            startText(0),
            event("ping", ""),
            text(0, "Hello "),
            text(0, ""),
            text(0, "你"),
            text(0, "🌍"),
            stop(0),
            END);
    assertEquals(
        List.of(new ModelEvent.Text("Hello "), new ModelEvent.Text("你"), new ModelEvent.Text("🌍")),
        played.output());
    assertEquals(
        blocking("end_turn", "{\"type\":\"text\",\"text\":\"Hello 你🌍\"}"), played.response());
    assertEquals(Optional.of("req_7"), played.response().requestId());
  }

  @Test
  @Tag("FR-S07")
  void an_event_whose_two_lines_come_apart_is_the_same() {
    String sound = START + startText(0) + text(0, "x") + delta("end_turn");
    Played played =
        PLAYER.play(
            List.of(
                sound.getBytes(StandardCharsets.UTF_8),
                "event: message_stop\n".getBytes(StandardCharsets.UTF_8),
                "data: {\"type\":\"message_stop\"}\n\n".getBytes(StandardCharsets.UTF_8)));
    assertEquals(play(sound, STOP).response(), played.response());
  }

  @Test
  @Tag("Y44")
  @Tag("R135")
  void what_carries_no_output_is_a_sign_of_life_and_nothing_else() {
    for (String silent :
        List.of(
            ": comment\n\n",
            event("ping", ""),
            START,
            startText(0),
            startThinking(0),
            startCall(0, "a", "f", "{}"),
            start(0, "{\"type\":\"redacted_thinking\",\"data\":\"Zm9v\"}"),
            start(0, "7"),
            text(0, ""),
            signature(0, "s"),
            piece(0, "citations_delta", "citation", "x"),
            piece(0, "brand_new", "text", "x"),
            stop(0),
            event("brand_new", "\"message\":\"x\""),
            "data: {\"new\":true}\n\n",
            "data: []\n\n",
            "data: 5\n\n")) {
      List<byte[]> chunks = List.of(silent.getBytes(StandardCharsets.UTF_8), new byte[] {'d'});
      assertEquals(List.of(ModelEvent.ALIVE), PLAYER.play(chunks).told(), silent);
    }
  }

  @Test
  @Tag("FR-A07")
  @Tag("R70")
  void thinking_is_told_and_kept_byte_for_byte_in_its_place() {
    Played played =
        play(
            START,
            startThinking(0),
            thinking(0, "Hm, "),
            thinking(0, "ä\\n😀"),
            signature(0, "old"),
            signature(0, "s+/="),
            stop(0),
            start(1, "{\"type\":\"redacted_thinking\",\"data\":\"Zm9v\"}"),
            stop(1),
            startCall(2, "a", "f", "{}"),
            input(2, "{\"a\": 1.50}"),
            stop(2),
            delta("tool_use"),
            STOP);
    assertEquals(
        List.of(new ModelEvent.Reasoning("Hm, "), new ModelEvent.Reasoning("ä\n😀")),
        played.output());
    String thought = "{\"type\":\"thinking\",\"thinking\":\"Hm, ä\\n😀\",\"signature\":\"s+/=\"}";
    assertEquals(
        blocking(
            "tool_use",
            thought,
            "{\"type\":\"redacted_thinking\",\"data\":\"Zm9v\"}",
            "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{\"a\":1.50}}"),
        played.response());
    ProviderState state = (ProviderState) played.response().message().parts().getFirst();
    assertEquals(thought, state.data().text(), "the signature is set, not appended");
  }

  @Test
  @Tag("FR-A09")
  void a_block_of_thinking_that_never_got_its_signature_is_not_replayed() {
    Played played = play(START, startThinking(0), thinking(0, "Hm."), stop(0), END);
    ProviderState state = (ProviderState) played.response().message().parts().getFirst();
    assertEquals(Optional.empty(), ThinkingBlocks.replay("claude-x", state));
    played = play(START, thinking(0, "Hm."), signature(0, "s"), END);
    state = (ProviderState) played.response().message().parts().getFirst();
    assertTrue(ThinkingBlocks.replay("claude-x", state).isPresent());
  }

  @Test
  @Tag("FR-T09")
  @Tag("FR-T17")
  void calls_are_put_together_by_index_and_only_the_answer_has_them() {
    Played played =
        play(
            START,
            startText(0),
            text(0, "Wait."),
            startCall(1, "a", "f", "{}"),
            startCall(2, "b", "g", "{}"),
            startCall(3, "c", "h", "{}"),
            input(1, "{\"p\":"),
            input(3, "{\"r\":"),
            input(1, "10}"),
            input(3, "\"你\"}"),
            stop(1),
            stop(2),
            stop(3),
            delta("tool_use"),
            STOP);
    assertEquals(List.of(new ModelEvent.Text("Wait.")), played.output());
    assertEquals(
        List.of(
            new ToolCall("a", "f", Json.parse("{\"p\":10}")),
            new ToolCall("b", "g", Json.EMPTY_OBJECT),
            new ToolCall("c", "h", Json.parse("{\"r\":\"你\"}"))),
        played.response().message().toolCalls());
  }

  @Test
  @Tag("FR-A01")
  @Tag("FR-T15")
  void an_input_is_its_fragments_else_that_of_the_start_else_empty() {
    String bare = "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\"}";
    for (String call :
        List.of(
            startCall(0, "a", "f", "{}") + input(0, ""),
            startCall(0, "a", "f", "{}"),
            startCall(0, "a", "f", "null"),
            start(0, bare),
            start(0, bare) + input(0, " "))) {
      assertEquals(
          List.of(new ToolCall("a", "f", Json.EMPTY_OBJECT)),
          play(START, call, stop(0), delta("tool_use")).response().message().toolCalls());
    }
    ToolCall whole = new ToolCall("a", "f", Json.parse("{\"n\":1.10}"));
    String start = startCall(0, "a", "f", "{\"n\":1.10}");
    for (String call : List.of(start, start + input(0, ""), start + input(0, "{\"n\":1.10}"))) {
      assertEquals(
          List.of(whole), play(START, call, delta("tool_use")).response().message().toolCalls());
    }
  }

  @Test
  @Tag("Y29")
  void input_with_a_key_twice_makes_no_call_wherever_it_stands() {
    String twice = "{\"n\":1,\"n\":2}";
    for (String call :
        List.of(startCall(0, "a", "f", twice), startCall(0, "a", "f", "{}") + input(0, twice))) {
      ToolCall read =
          play(START, call, delta("tool_use")).response().message().toolCalls().getFirst();
      assertTrue(read.malformed().isPresent(), call);
    }
  }

  @Test
  @Tag("Y40")
  void input_that_is_no_text_is_never_lost() {
    for (String given : List.of("{\"a\":1}", "[1]")) {
      String fragment =
          event(
              "content_block_delta",
              "\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":"
                  + given
                  + "}");
      Played played = play(START, startCall(0, "a", "f", "{}"), fragment, delta("tool_use"));
      assertEquals(Kind.PROTOCOL, played.failure().kind());
    }
  }

  @Test
  @Tag("Y41")
  void calls_without_an_id_get_stable_distinct_ones_and_two_with_the_same_are_refused() {
    String bare = "{\"type\":\"tool_use\",\"name\":\"f\"}";
    List<ToolCall> calls =
        play(start(0, bare), start(1, bare), END).response().message().toolCalls();
    assertNotEquals(calls.getFirst().id(), calls.getLast().id());
    assertEquals(
        Kind.PROTOCOL,
        play(startCall(0, "a", "f", "{}"), startCall(1, "a", "f", "{}"), END).failure().kind());
    assertEquals(
        Kind.PROTOCOL,
        play(start(0, "{\"type\":\"tool_use\",\"id\":\"a\"}"), END).failure().kind());
  }

  @Test
  @Tag("Y40")
  void a_fragment_that_belongs_to_no_call_breaks_the_protocol() {
    for (String before : List.of("", startText(0), startCall(1, "a", "f", "{}"))) {
      ProviderException failure = play(START, before, input(0, "{}"), END).failure();
      assertEquals(Kind.PROTOCOL, failure.kind());
      assertEquals(Optional.of("req_7"), failure.requestId());
    }
  }

  @Test
  void blocks_that_are_not_known_are_passed_over_with_their_pieces() {
    Played played =
        play(
            START,
            start(0, "{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web_search\"}"),
            input(0, "{\"q\":1}"),
            text(0, "no"),
            thinking(0, "no"),
            stop(0),
            startText(1),
            text(1, "yes"),
            END);
    assertEquals(List.of(new ModelEvent.Text("yes")), played.output());
    assertEquals(blocking("end_turn", "{\"type\":\"text\",\"text\":\"yes\"}"), played.response());
  }

  @Test
  void forms_of_other_servers_are_read_as_well() {
    // Text in the start of its block; a block that never began; two kinds at one index.
    Played played =
        play(
            start(0, "{\"type\":\"text\",\"text\":\"a\"}"),
            text(0, "b"),
            thinking(0, "Hm."),
            signature(0, "s"),
            text(0, "c"),
            text(5, "d"),
            text(0, "e"),
            END);
    assertEquals("abcde", played.text());
    assertEquals(
        List.of("ab", "Hm.", "c", "d", "e"),
        played.response().message().parts().stream()
            .map(
                part ->
                    part instanceof Part.Text(String text)
                        ? text
                        : StrictJson.read(((ProviderState) part).data().text())
                            .path("thinking")
                            .stringValue())
            .toList());
  }

  // --- usage ---------------------------------------------------------------------------------

  @Test
  @Tag("FR-A05")
  @Tag("FR-M11")
  @Tag("Y45")
  void counters_of_the_start_are_replaced_by_those_that_come_later() {
    String start =
        event(
            "message_start",
            "\"message\":{\"usage\":{\"input_tokens\":2,\"cache_creation_input_tokens\":47119,"
                + "\"cache_read_input_tokens\":0,\"output_tokens\":4,\"speed\":\"fast\"}}");
    String delta =
        event(
            "message_delta",
            "\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"input_tokens\":2,"
                + "\"cache_creation_input_tokens\":47119,\"cache_read_input_tokens\":0,"
                + "\"output_tokens\":64,\"output_tokens_details\":{\"thinking_tokens\":9}}");
    Played played = play(start, startText(0), text(0, "x"), delta, STOP);
    Usage usage = played.response().usage();
    assertEquals(47_121, usage.input().tokens());
    assertEquals(TokenCount.reported(47_119), usage.cacheWrite());
    assertEquals(TokenCount.reported(0), usage.cachedInput());
    assertEquals(TokenCount.reported(64), usage.output());
    assertEquals(TokenCount.reported(9), usage.reasoning());
    assertEquals(47_185, usage.total().tokens());
    assertEquals(Optional.of("fast"), usage.speed());
    assertEquals(
        List.of(4L, 64L),
        played.told().stream()
            .filter(ModelEvent.Counters.class::isInstance)
            .map(told -> ((ModelEvent.Counters) told).usage().output().tokens())
            .toList());
    Played output =
        play(
            start,
            event(
                "message_delta",
                "\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7,"
                    + "\"input_tokens\":null}"));
    assertEquals(47_121, output.response().usage().input().tokens(), "what is absent stays");
    assertEquals(7, output.response().usage().output().tokens());
  }

  @Test
  @Tag("R213")
  void what_is_not_reported_stays_absent() {
    Played played = play(START, startText(0), text(0, "x"), END);
    assertEquals(Usage.ABSENT, played.response().usage());
    assertFalse(played.told().stream().anyMatch(ModelEvent.Counters.class::isInstance));
  }

  // --- ends ----------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "end_turn, STOP",
    "stop_sequence, STOP",
    "max_tokens, LENGTH",
    "tool_use, TOOL_CALLS",
    "refusal, REFUSAL",
    "pause_turn, PAUSED",
    "model_context_window_exceeded, LENGTH",
    "never_heard, OTHER"
  })
  @Tag("FR-A11")
  @Tag("FR-A13")
  @Tag("FR-T25")
  @Tag("R145")
  void the_stop_reason_is_an_open_set(String raw, FinishReason.Kind kind) {
    ModelResponse response = play(START, startCall(0, "a", "f", "{}"), delta(raw), STOP).response();
    assertEquals(new FinishReason(kind, raw), response.finishReason());
    assertEquals(1, response.message().toolCalls().size(), "the call is not dropped in silence");
  }

  @Test
  @Tag("FR-T21")
  void a_call_that_was_cut_is_malformed_and_the_answer_says_why() {
    ModelResponse cut =
        play(
                START,
                startCall(0, "a", "f", "{}"),
                input(0, "{\"p\":{\"a\":\"x\""),
                delta("max_tokens"),
                STOP)
            .response();
    assertEquals(FinishReason.Kind.LENGTH, cut.finishReason().kind());
    assertTrue(cut.message().toolCalls().getFirst().malformed().isPresent());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", ":\n\n"})
  @Tag("Y49")
  void behind_the_stop_reason_a_stream_may_end_with_or_without_its_terminator(String end) {
    Played played = play(START, startText(0), text(0, "x"), delta("end_turn"), end);
    assertEquals("x", played.response().message().text());
  }

  @Test
  @Tag("Y9")
  void nothing_behind_the_terminator_is_an_event() {
    Played played = play(START, startText(0), text(0, "x"), END, text(0, "y"), event("error", ""));
    assertEquals("x", played.text());
    assertEquals("x", played.response().message().text());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"})
  @Tag("Y49")
  @Tag("R143")
  void a_stream_without_a_stop_reason_is_broken(String end) {
    String blank = event("message_delta", "\"delta\":{\"stop_reason\":null}");
    ProviderException failure = play(START, startText(0), text(0, "x"), blank, end).failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("finished"), failure.getMessage());
  }

  @Test
  @Tag("R138")
  void a_stream_that_ends_before_it_showed_anything_says_so() {
    for (String stream : List.of("", ": ping\n\n", START, START + startText(0) + stop(0), STOP)) {
      ProviderException failure = play(stream).failure();
      assertEquals(Kind.PROTOCOL, failure.kind());
      assertEquals("The stream ended before emitting an event.", failure.getMessage());
    }
  }

  // --- failures ------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "overloaded_error, 529",
    "rate_limit_error, 429",
    "api_error, 500",
    "timeout_error, 408",
    "invalid_request_error, 400",
    "authentication_error, 401",
    "billing_error, 402",
    "never_heard, 0"
  })
  @Tag("Y13")
  @Tag("Y36")
  @Tag("FR-X01")
  @Tag("FR-X03")
  @Tag("R139")
  void an_error_event_is_classified_by_its_type_before_and_after_output(String type, int status) {
    String members = "\"error\":{\"type\":\"" + type + "\",\"message\":\"No.\"}";
    for (String error :
        List.of(event("error", members), event("error", members).replace("event: error\n", ""))) {
      for (String before : List.of("", START, START + startText(0) + text(0, "x"))) {
        Played played = play(before, error, END);
        assertEquals(Kind.PROVIDER_EVENT, played.failure().kind());
        assertEquals(status, played.failure().status());
        assertEquals(Optional.of(type), played.failure().code());
        assertEquals(Optional.of("req_7"), played.failure().requestId());
        assertEquals(before.contains("text_delta") ? "x" : "", played.text());
      }
    }
  }

  @Test
  @Tag("Y36")
  @Tag("Y38")
  void other_errors_are_recognised_too() {
    String bare = "data: {\"message\":\"no\",\"code\":503}\n\n";
    assertEquals(503, play(START, bare).failure().status());
    String overlong =
        event(
            "error",
            "\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 9"
                + " tokens > 8 maximum\"}");
    assertEquals(Kind.CONTEXT_LENGTH, play(START, overlong).failure().kind());
  }

  @Test
  @Tag("R150")
  void the_counters_of_a_stream_that_breaks_are_told() {
    Played played =
        play(
            event("message_start", "\"message\":{\"usage\":{\"input_tokens\":7}}"),
            startText(0),
            text(0, "x"));
    assertEquals(Kind.PROTOCOL, played.failure().kind());
    ModelEvent.Counters counters = (ModelEvent.Counters) played.output().getFirst();
    assertEquals(7, counters.usage().input().tokens());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data: privatetext\n\n",
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"privatetext\n\n",
        "data:"
            + " {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"privatetext\"}}\n\n"
      })
  @Tag("Y13")
  void an_event_that_breaks_the_protocol_is_not_shown(String event) {
    ProviderException failure = play(START, event, END).failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    for (Throwable t = failure; t != null; t = t.getCause()) {
      assertFalse(String.valueOf(t.getMessage()).contains("privatetext"), t.getMessage());
    }
  }

  @Test
  void a_stream_that_was_damaged_at_random_is_an_answer_or_a_failure_of_the_provider() {
    PLAYER.playDamaged(
        START
            + startThinking(0)
            + thinking(0, "Hm.")
            + signature(0, "s")
            + stop(0)
            + startText(1)
            + text(1, "Hello ")
            + text(1, "你🌍")
            + stop(1)
            + startCall(2, "a", "f", "{}")
            + input(2, "{\"a\":")
            + input(2, "1}")
            + stop(2)
            + delta("tool_use")
            + STOP);
  }
}
