package dev.warpwright.adapters.protocol.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import dev.warpwright.model.ToolCall;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
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
final class ResponsesStreamTest {
  private static final Failures FAILURES =
      new Failures(OpenAiErrors.TABLE, InstantSource.fixed(Instant.EPOCH), Authorization.NONE);
  private static final HttpHeaders HEADERS =
      HttpHeaders.of(Map.of("X-Request-ID", List.of("req_7")), (name, value) -> true);
  private static final ModelCall CALL = ModelCall.builder(List.of(Message.user("Hi"))).build();
  private static final Played.Player PLAYER = player(CALL);

  private static final String CREATED =
      event("response.created", "\"response\":{\"status\":\"in_progress\",\"output\":[]}");
  private static final String THOUGHT =
      "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"ä==\","
          + "\"n\":1.0}";
  private static final String HELLO = message("msg_1", "Hello 你🌍");
  private static final String PAY =
      "{\"id\":\"mcp_1\",\"type\":\"mcp_call\",\"status\":\"in_progress\"}";

  private static Played.Player player(ModelCall call) {
    return new Played.Player(
        HEADERS,
        events ->
            EventStream.of(
                FAILURES,
                events,
                headers ->
                    new ResponsesStream(
                        new ResponsesReader(FAILURES, "m", call), headers, new OutputItems())));
  }

  private static Played play(String... events) {
    return PLAYER.play(String.join("", events));
  }

  private static String event(String type, String members) {
    String separator = members.isEmpty() ? "" : ",";
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + separator + members + "}\n\n";
  }

  private static String message(String id, String text) {
    return "{\"id\":\"%s\",\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"%s\"}]}"
        .formatted(id, text);
  }

  private static String call(String id, String callId, String name, String arguments) {
    return "{\"id\":\"%s\",\"type\":\"function_call\",\"call_id\":\"%s\",\"name\":\"%s\",\"arguments\":\"%s\"}"
        .formatted(id, callId, name, arguments.replace("\"", "\\\""));
  }

  private static String text(String piece) {
    return event(
        "response.output_text.delta",
        "\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"" + piece + "\"");
  }

  private static String refusal(String piece) {
    return event("response.refusal.delta", "\"item_id\":\"msg_1\",\"delta\":\"" + piece + "\"");
  }

  private static String added(int index, String item) {
    return event("response.output_item.added", "\"output_index\":" + index + ",\"item\":" + item);
  }

  private static String done(int index, String item) {
    return event("response.output_item.done", "\"output_index\":" + index + ",\"item\":" + item);
  }

  private static String arguments(int index, String itemId, String piece) {
    return event(
        "response.function_call_arguments.delta",
        "\"output_index\":%d,\"item_id\":\"%s\",\"delta\":\"%s\""
            .formatted(index, itemId, piece.replace("\"", "\\\"")));
  }

  private static String end(String status, String members) {
    return event(
        "response." + status, "\"response\":{\"status\":\"" + status + "\"" + members + "}");
  }

  private static String completed(String... items) {
    return end("completed", ",\"error\":null,\"output\":[" + String.join(",", items) + "]");
  }

  /** The answer to the same items if they come whole. */
  private static ModelResponse blocking(String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return new ResponsesReader(FAILURES, "m", CALL)
        .read(new Answer(StrictJson.readDocument(bytes), bytes, HEADERS));
  }

  private static ModelResponse blockingItems(String... items) {
    return blocking("{\"status\":\"completed\",\"output\":[" + String.join(",", items) + "]}");
  }

  // --- answers -------------------------------------------------------------------------------

  @Test
  @Tag("Y1")
  void text_comes_in_pieces_that_joined_are_the_answer() {
    String usage =
        "{\"input_tokens\":9,\"output_tokens\":2,\"total_tokens\":11,"
            + "\"input_tokens_details\":{\"cached_tokens\":4}}";
    Played played =
        play(
            CREATED,
            added(0, "{\"id\":\"msg_1\",\"type\":\"message\",\"content\":[]}"),
            text("Hello "),
            text(""),
            text("你"),
            text("🌍"),
            event("response.output_text.done", "\"text\":\"Hello 你🌍\""),
            done(0, HELLO),
            end("completed", ",\"output\":[" + HELLO + "],\"usage\":" + usage));
    ModelResponse response = played.response();
    assertEquals("Hello 你🌍", response.message().text());
    assertEquals(
        List.of(
            new ModelEvent.Text("Hello "),
            new ModelEvent.Text("你"),
            new ModelEvent.Text("🌍"),
            new ModelEvent.Counters(response.usage())),
        played.output());
    assertEquals(
        blocking("{\"status\":\"completed\",\"output\":[" + HELLO + "],\"usage\":" + usage + "}"),
        response);
  }

  @Test
  @Tag("Y44")
  @Tag("R135")
  void what_carries_no_output_is_a_sign_of_life_and_nothing_else() {
    for (String silent :
        List.of(
            ": comment\n\n",
            CREATED,
            event("response.in_progress", "\"response\":{\"usage\":null}"),
            added(0, "{\"id\":\"msg_1\",\"type\":\"message\",\"content\":[]}"),
            added(0, PAY),
            event("response.content_part.added", "\"part\":{\"type\":\"output_text\"}"),
            event("response.web_search_call.searching", "\"item_id\":\"ws_1\""),
            text(""),
            arguments(0, "fc_1", "{"),
            event("response.brand_new", "\"delta\":\"x\",\"message\":\"x\""),
            "data: {\"new\":true}\n\n",
            "data: []\n\n",
            "data: 5\n\n")) {
      List<byte[]> chunks = List.of(silent.getBytes(StandardCharsets.UTF_8), new byte[] {'d'});
      assertEquals(List.of(ModelEvent.ALIVE), PLAYER.play(chunks).told(), silent);
    }
  }

  @Test
  @Tag("FR-Q01")
  @Tag("R70")
  void reasoning_is_told_and_kept_as_private_state_before_what_followed_it() {
    Played played =
        play(
            event("response.reasoning_summary_text.delta", "\"delta\":\"**Think\""),
            event("response.reasoning_summary_text.delta", "\"delta\":\"ing**\""),
            event("response.reasoning_text.delta", "\"delta\":\"Hm.\""),
            done(0, THOUGHT),
            text("Hello 你🌍"),
            done(1, HELLO),
            completed(THOUGHT, HELLO));
    assertEquals(
        List.of(
            new ModelEvent.Reasoning("**Think"),
            new ModelEvent.Reasoning("ing**"),
            new ModelEvent.Reasoning("Hm."),
            new ModelEvent.Text("Hello 你🌍")),
        played.output());
    assertEquals(blockingItems(THOUGHT, HELLO), played.response());
    ProviderState state = (ProviderState) played.response().message().parts().getFirst();
    assertTrue(state.data().text().contains(THOUGHT), "byte for byte");
  }

  @Test
  @Tag("FR-Q03")
  void an_item_of_reasoning_without_id_and_status_is_read() {
    String bare = "{\"type\":\"reasoning\",\"summary\":[]}";
    for (String end : List.of(completed(bare, HELLO), completed())) {
      Played played = play(added(0, bare), done(0, bare), text("Hello 你🌍"), done(1, HELLO), end);
      assertEquals(blockingItems(bare, HELLO), played.response());
    }
  }

  @Test
  @Tag("FR-T09")
  @Tag("FR-T17")
  void calls_are_put_together_by_item_and_the_answer_has_each_once_under_its_call_id() {
    String first = call("fc_1", "call_a", "f", "{\"p\":10}");
    String second = call("fc_2", "call_b", "g", "{\"r\":\"你\"}");
    String shown =
        added(0, call("fc_1", "call_a", "f", ""))
            + added(1, call("fc_2", "call_b", "g", ""))
            + arguments(0, "fc_1", "{\"p\":")
            + arguments(1, "fc_2", "{\"r\":")
            + arguments(0, "fc_1", "10}")
            + arguments(1, "fc_2", "\"你\"}");
    String dones = done(1, second) + done(0, first) + done(0, first);
    for (String stream :
        List.of(
            shown + dones + completed(first, second), // as OpenAI does
            shown + dones + completed(), // nothing is repeated at the end
            shown + dones + end("completed", ""),
            shown + end("completed", ",\"output\":null"), // not even shown done
            dones + completed(),
            completed(first, second))) {
      Played played = play(stream);
      assertTrue(played.output().isEmpty());
      List<ToolCall> calls = played.response().message().toolCalls();
      assertEquals(List.of("call_a", "call_b"), calls.stream().map(ToolCall::id).toList());
      assertEquals("{\"p\":10}", calls.getFirst().input().text());
      assertEquals("{\"r\":\"你\"}", calls.getLast().input().text());
      assertEquals(FinishReason.Kind.TOOL_CALLS, played.response().finishReason().kind());
    }
  }

  @Test
  @Tag("FR-T15")
  void a_call_without_arguments_has_the_empty_object() {
    String bare = call("fc_1", "a", "f", "");
    for (String end : List.of(completed(bare), completed())) {
      List<ToolCall> calls =
          play(added(0, bare), done(0, bare), end).response().message().toolCalls();
      assertEquals(List.of(new ToolCall("a", "f", Json.EMPTY_OBJECT)), calls);
    }
  }

  @Test
  void items_without_ids_are_known_by_their_place() {
    String bare = "{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"f\"}";
    String piece =
        event("response.function_call_arguments.delta", "\"output_index\":0,\"delta\":\"{}\"");
    List<ToolCall> calls =
        play(added(0, bare), piece, completed()).response().message().toolCalls();
    assertEquals(List.of(new ToolCall("a", "f", Json.EMPTY_OBJECT)), calls);
    String late = bare.replace("{\"type", "{\"id\":\"fc_9\",\"type").replace("\"f\"", "\"g\"");
    calls = play(added(0, bare), done(0, late), completed()).response().message().toolCalls();
    assertEquals(List.of("g"), calls.stream().map(ToolCall::name).toList());
  }

  @Test
  @Tag("Y40")
  void a_fragment_of_a_call_that_never_began_is_no_call_that_could_run() {
    ProviderException failure = play(arguments(0, "fc_1", "{}"), completed()).failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
  }

  @Test
  @Tag("Y29")
  void arguments_with_a_key_twice_make_no_call_wherever_they_stand() {
    String twice =
        "{\"id\":\"fc_1\",\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"f\","
            + "\"arguments\":{\"a\":1,\"a\":2}}";
    for (String stream : List.of(completed(twice), done(0, twice) + completed())) {
      ToolCall call = play(stream).response().message().toolCalls().getFirst();
      assertTrue(call.malformed().isPresent());
    }
    String once = twice.replace("\"a\":1,", "");
    ToolCall call = play(done(0, once), completed()).response().message().toolCalls().getFirst();
    assertEquals("{\"a\":2}", call.input().text());
  }

  @Test
  @Tag("FR-T21")
  void a_call_that_was_cut_is_malformed_and_the_answer_says_why() {
    ModelResponse cut =
        play(
                added(0, call("fc_1", "a", "f", "")),
                arguments(0, "fc_1", "{\"p\":{\"a\":\"x\""),
                end("incomplete", ",\"incomplete_details\":{\"reason\":\"max_output_tokens\"}"))
            .response();
    assertEquals(
        new FinishReason(FinishReason.Kind.LENGTH, "max_output_tokens"), cut.finishReason());
    assertTrue(cut.message().toolCalls().getFirst().malformed().isPresent());
  }

  @Test
  @Tag("FR-Q15")
  @Tag("R145")
  void a_refusal_is_text_and_a_finish_of_its_own() {
    String refused =
        "{\"id\":\"msg_1\",\"type\":\"message\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"I"
            + " can't.\"}]}";
    for (String end :
        List.of(
            done(0, refused) + completed(refused), done(0, refused) + completed(), completed())) {
      Played played = play(refusal("I "), refusal("can't."), end);
      assertEquals("I can't.", played.text());
      assertEquals("I can't.", played.response().message().text());
      assertEquals(
          new FinishReason(FinishReason.Kind.REFUSAL, "completed"),
          played.response().finishReason());
    }
  }

  @Test
  void text_that_only_the_end_has_is_told_then() {
    for (String before : List.of("", text("Hel"), text("Hello 你"))) {
      Played played = play(before, completed(HELLO));
      assertEquals("Hello 你🌍", played.text());
      assertEquals(blockingItems(HELLO), played.response());
    }
  }

  @Test
  void the_text_that_was_told_counts_if_the_end_has_another() {
    String calls = call("fc_1", "a", "f", "{}");
    Played played =
        play(
            text(" Hello"),
            completed(THOUGHT, message("msg_1", "Hello"), message("m2", "!"), calls));
    assertEquals(" Hello", played.text());
    assertEquals(" Hello", played.response().message().text());
    assertEquals(
        List.of(ProviderState.class, Part.Text.class, ToolCall.class),
        played.response().message().parts().stream().map(Object::getClass).toList());
    assertEquals("x", play(text("x"), completed(calls)).response().message().text());
    assertEquals("x", play(text("x"), completed()).response().message().text());
  }

  @Test
  @Tag("Y45")
  @Tag("FR-M11")
  void counters_replace_each_other_and_are_told_whenever_they_come() {
    Played played =
        play(
            event(
                "response.in_progress",
                "\"response\":{\"usage\":{\"input_tokens\":35,\"output_tokens\":0}}"),
            text("x"),
            end(
                "completed",
                ",\"output\":["
                    + message("m", "x")
                    + "],\"usage\":{\"output_tokens\":1,\"total_tokens\":36}"));
    assertEquals(35, played.response().usage().input().tokens());
    assertEquals(1, played.response().usage().output().tokens());
    List<Long> outputs =
        played.told().stream()
            .filter(ModelEvent.Counters.class::isInstance)
            .map(told -> ((ModelEvent.Counters) told).usage().output().tokens())
            .toList();
    assertEquals(List.of(0L, 1L), outputs);
  }

  // --- ends ----------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "completed  | STOP           | completed",
        "max_output_tokens | LENGTH  | max_output_tokens",
        "content_filter | CONTENT_FILTER | content_filter",
        "brand_new  | OTHER          | brand_new"
      })
  @Tag("R145")
  @Tag("Y39")
  void the_last_event_says_why_the_answer_ended(String why, FinishReason.Kind kind, String raw) {
    String reason = ",\"incomplete_details\":{\"reason\":\"" + why + "\"},\"output\":[]";
    String end = why.equals("completed") ? completed() : end("incomplete", reason);
    assertEquals(new FinishReason(kind, raw), play(text("x"), end).response().finishReason());
    String bare = event("response." + (why.equals("completed") ? why : "incomplete"), "");
    assertEquals(
        why.equals("completed") ? "completed" : "incomplete",
        play(text("x"), bare).response().finishReason().raw());
  }

  @Test
  @Tag("Y9")
  void nothing_behind_the_last_event_is_an_event() {
    Played played =
        play(
            text("x"),
            completed(),
            "data: [DONE]\n\n",
            text("y"),
            "data: {\"error\":\"late\"}\n\n");
    assertEquals("x", played.text());
    assertEquals("x", played.response().message().text());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "data: [DONE]\n\n"})
  @Tag("Y49")
  @Tag("R143")
  void a_stream_without_its_last_event_is_broken(String end) {
    String calls = call("fc_1", "a", "f", "{}");
    ProviderException failure = play(text("x"), done(0, calls), end).failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("finished"), failure.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", ": ping\n\n", "data: [DONE]\n\n", "data: {\"type\":\"response.created\"}\n\n"})
  @Tag("R138")
  void a_stream_that_ends_before_it_showed_anything_says_so(String stream) {
    ProviderException failure = play(stream).failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertEquals("The stream ended before emitting an event.", failure.getMessage());
  }

  // --- failures ------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "event: error\\n"
            + "data:"
            + " {\"type\":\"error\",\"sequence_number\":2,\"error\":{\"code\":\"server_is_overloaded\"}}"
            + " | 503 | server_is_overloaded",
        "data:"
            + " {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"no\",\"param\":null}"
            + " | 429 | rate_limit_exceeded",
        "data:"
            + " {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"no\"},\"output\":[]}}"
            + " | 500 | server_error",
        "data:"
            + " {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"insufficient_quota\"}}}"
            + " | 402 | insufficient_quota",
        "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"completed\"}} | 0 |",
        "data: {\"type\":\"response.failed\"} | 0 |",
        "data:"
            + " {\"type\":\"response.completed\",\"response\":{\"error\":{\"code\":\"server_error\"},\"output\":[]}}"
            + " | 500 | server_error",
        "data: {\"message\":\"no\",\"code\":503} | 503 | 503"
      })
  @Tag("Y13")
  @Tag("Y36")
  @Tag("FR-X01")
  @Tag("FR-X03")
  @Tag("FR-X07")
  @Tag("R139")
  @Tag("R144")
  void an_error_ends_the_stream_before_and_after_output_and_keeps_its_code(
      String event, int status, String code) {
    String error = event.replace("\\n", "\n") + "\n\n";
    for (String before : List.of("", CREATED, CREATED + text("x"))) {
      for (String after : List.of("", "data: [DONE]\n\n", completed())) {
        Played played = play(before, error, after);
        assertEquals(Kind.PROVIDER_EVENT, played.failure().kind());
        assertEquals(status, played.failure().status());
        assertEquals(Optional.ofNullable(code), played.failure().code());
        assertEquals(Optional.of("req_7"), played.failure().requestId());
        assertEquals(before.contains("delta") ? "x" : "", played.text());
      }
    }
  }

  @Test
  @Tag("FR-X09")
  @Tag("Y38")
  void an_input_that_is_too_overlongis_recognised_under_the_code_of_a_server_error() {
    ProviderException failure =
        play(
                CREATED,
                end(
                    "failed",
                    ",\"error\":{\"code\":\"server_error\",\"message\":\"Your input exceeds the"
                        + " context window of this model\"}"))
            .failure();
    assertEquals(Kind.CONTEXT_LENGTH, failure.kind());
  }

  @Test
  @Tag("R150")
  void the_counters_of_an_answer_that_failed_are_told() {
    Played played =
        play(
            text("x"),
            end("failed", ",\"error\":{\"code\":\"server_error\"},\"usage\":{\"input_tokens\":7}"));
    assertEquals(Kind.PROVIDER_EVENT, played.failure().kind());
    ModelEvent.Counters counters = (ModelEvent.Counters) played.output().getLast();
    assertEquals(7, counters.usage().input().tokens());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mcp_call              | in_progress | true  | true  | false",
        "code_interpreter_call | completed   | true  | true  | false",
        "web_search_call       | completed   | false | false | false",
        "web_search_call       | failed      | true  | false | true",
        "function_call         | completed   | false | false | false"
      })
  @Tag("R97")
  void a_failure_behind_a_hosted_tool_says_whether_it_may_have_acted(
      String type, String status, boolean ofTool, boolean acted, boolean repeatable) {
    String item = "{\"id\":\"i\",\"type\":\"%s\",\"status\":\"%s\"}".formatted(type, status);
    for (String failed :
        List.of(
            event("error", "\"code\":\"server_error\",\"message\":\"no\""),
            "data: {\"message\":\"no\",\"code\":500}\n\n",
            end("failed", ",\"error\":{\"code\":\"server_error\"},\"output\":[]"),
            end("failed", ",\"error\":{\"code\":\"server_error\"},\"output\":[" + item + "]"))) {
      for (String before : List.of(added(0, item), done(0, item), text("x") + added(1, item))) {
        ProviderException failure = play(before, failed).failure();
        assertEquals(ofTool ? Kind.TOOL_CALL : Kind.PROVIDER_EVENT, failure.kind(), failed);
        assertEquals(acted, failure.mayHaveActed());
        assertEquals(repeatable, failure.repeatable());
        assertEquals(500, failure.status());
      }
    }
  }

  @Test
  @Tag("R97")
  void an_error_that_shows_no_items_is_judged_by_the_tools_that_were_offered() {
    ModelCall offering =
        ModelCall.builder(List.of(Message.user("Hi")))
            .providerOptions(Json.parse("{\"tools\":[{\"type\":\"mcp\"}]}"))
            .build();
    String error = event("error", "\"code\":\"server_error\",\"message\":\"no\"");
    assertTrue(player(offering).play(error).failure().mayHaveActed());
    String refused = error.replace("server_error", "rate_limit_exceeded");
    assertEquals(Kind.PROVIDER_EVENT, player(offering).play(refused).failure().kind());
    assertEquals(
        Kind.PROVIDER_EVENT,
        player(offering).play(done(0, HELLO) + error).failure().kind(),
        "what was shown decides");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data: privatetext\n\n",
        "data: {\"type\":\"response.output_text.delta\",\"delta\":\"privatetext\n\n",
        "data:"
            + " {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"function_call\",\"arguments\":\"privatetext\"}]}}\n\n"
      })
  @Tag("Y13")
  void an_event_that_breaks_the_protocol_is_not_shown(String event) {
    ProviderException failure = play(event, completed()).failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    for (Throwable t = failure; t != null; t = t.getCause()) {
      assertFalse(String.valueOf(t.getMessage()).contains("privatetext"), t.getMessage());
    }
  }

  @Test
  void a_stream_that_was_damaged_at_random_is_an_answer_or_a_failure_of_the_provider() {
    String calls = call("fc_1", "a", "f", "{\"a\":1}");
    PLAYER.playDamaged(
        CREATED
            + event("response.reasoning_summary_text.delta", "\"delta\":\"Hm\"")
            + done(0, THOUGHT)
            + text("Hello ")
            + text("你🌍")
            + done(1, HELLO)
            + added(2, calls)
            + arguments(2, "fc_1", "{\"a\":1}")
            + done(2, calls)
            + completed(THOUGHT, HELLO, calls));
  }
}
