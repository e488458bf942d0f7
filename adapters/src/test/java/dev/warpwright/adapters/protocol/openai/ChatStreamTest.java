package dev.warpwright.adapters.protocol.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.http.StreamExchange;
import dev.warpwright.adapters.wire.Chunks;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.adapters.wire.Fuzz;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.ToolCall;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of the protocol from bytes to the answer, however the network cuts them. */
final class ChatStreamTest {
  private static final Failures FAILURES =
      new Failures(
          OpenAiErrors.TABLE,
          InstantSource.fixed(Instant.ofEpochMilli(1_741_305_570_000L)),
          Authorization.NONE);
  private static final HttpHeaders HEADERS =
      HttpHeaders.of(Map.of("X-Request-ID", List.of("req_7")), (name, value) -> true);
  private static final ModelCall CALL = ModelCall.builder(List.of(Message.user("Hi"))).build();
  private static final String DONE = "data: [DONE]\n\n";

  /** What a stream told and how it ended. */
  private record Played(List<ModelEvent> told, Object outcome) {
    ModelResponse response() {
      if (outcome instanceof ModelResponse response) {
        return response;
      }
      throw new AssertionError("It failed.", (Throwable) outcome);
    }

    ProviderException failure() {
      return assertThrows(
          ProviderException.class,
          () -> {
            throw outcome instanceof RuntimeException e ? e : new AssertionError(outcome);
          });
    }

    String text() {
      StringBuilder text = new StringBuilder();
      told.forEach(event -> text.append(event instanceof ModelEvent.Text(String t) ? t : ""));
      return text.toString();
    }

    /** Everything but signs of life, of which there are as many as the network has cut pieces. */
    List<ModelEvent> output() {
      return told.stream().filter(event -> !event.equals(ModelEvent.ALIVE)).toList();
    }
  }

  private static Played play(List<byte[]> chunks) {
    List<ModelEvent> told = new ArrayList<>();
    try {
      StreamExchange.Body<ModelResponse> stream =
          EventStream.of(
                  FAILURES,
                  told::add,
                  headers -> new ChatStream(Requests.chatReader(FAILURES, CALL), headers))
              .open(HEADERS);
      boolean more = true;
      for (byte[] chunk : chunks) {
        more = more && (chunk.length == 0 || stream.read(chunk, chunk.length));
      }
      return new Played(told, stream.end());
    } catch (RuntimeException | InterruptedException e) {
      return new Played(told, e);
    }
  }

  /** Plays a stream cut in every way; it must tell the same and end the same. */
  private static Played play(String stream) {
    byte[] bytes = stream.getBytes(StandardCharsets.UTF_8);
    Played whole = play(List.of(bytes));
    for (List<byte[]> chunks : Chunks.ways(bytes, 3)) {
      Played cut = play(chunks);
      assertEquals(whole.output(), cut.output());
      if (whole.outcome instanceof ModelResponse) {
        assertEquals(whole.outcome, cut.outcome);
      } else {
        assertEquals(whole.outcome.toString(), cut.outcome.toString());
      }
    }
    return whole;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String chunk(String json) {
    return "data: " + json + "\n\n";
  }

  private static String delta(String delta) {
    return chunk("{\"choices\":[{\"index\":0,\"delta\":" + delta + ",\"finish_reason\":null}]}");
  }

  private static String finish(String reason) {
    return chunk("{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" + reason + "\"}]}");
  }

  private static String words(String reason) {
    return delta("{\"content\":\"x\"}") + finish(reason);
  }

  // --- answers -------------------------------------------------------------------------------

  @Test
  @Tag("Y1")
  @Tag("FR-S15")
  @Tag("FR-S25")
  void text_comes_in_pieces_that_joined_are_the_answer() {
    Played played =
        play(
            delta("{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}")
                + delta("{\"content\":\"Hello \"}")
                + delta("{\"content\":\"你\"}")
                + delta("{\"content\":\"🌍 \\ufffd\"}")
                + delta("{\"content\":null}")
                + delta("{}")
                + finish("stop")
                + chunk(
                    "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"total_tokens\":11}}")
                + DONE);
    ModelResponse response = played.response();
    assertEquals("Hello 你🌍 \uFFFD", response.message().text());
    assertEquals(response.message().text(), played.text());
    assertEquals(
        List.of(
            new ModelEvent.Text("Hello "),
            new ModelEvent.Text("你"),
            new ModelEvent.Text("🌍 \uFFFD"),
            new ModelEvent.Counters(response.usage())),
        played.output());
    assertEquals(new FinishReason(FinishReason.Kind.STOP, "stop"), response.finishReason());
    assertEquals(11, response.usage().total().tokens());
    assertEquals(Optional.of("req_7"), response.requestId());
  }

  @Test
  @Tag("Y44")
  @Tag("R112")
  @Tag("R135")
  void what_carries_no_output_is_a_sign_of_life_and_nothing_else() {
    for (String silent :
        List.of(
            ": comment\n\n",
            ":\n",
            "event: ping\ndata:\n\n",
            delta("{\"role\":\"assistant\",\"content\":\"\"}"),
            delta("{\"tool_calls\":[]}"),
            delta("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}]}"),
            chunk("{\"choices\":[]}"),
            chunk("{\"new\":true}"),
            chunk("[]"),
            chunk("5"))) {
      List<ModelEvent> told =
          play(List.of(silent.getBytes(StandardCharsets.UTF_8), utf8("d"))).told();
      assertEquals(List.of(ModelEvent.ALIVE), told, silent);
    }
  }

  @Test
  @Tag("FR-T03")
  @Tag("Y44")
  void an_empty_list_of_calls_beside_text_changes_nothing() {
    Played played = play(delta("{\"content\":\"Hi\",\"tool_calls\":[]}") + finish("stop") + DONE);
    assertEquals(List.of(new ModelEvent.Text("Hi")), played.output());
    assertTrue(played.response().message().toolCalls().isEmpty());
  }

  @Test
  @Tag("FR-S05")
  @Tag("Y4")
  void forms_of_other_servers_are_read_as_well() {
    Played played =
        play(
            "data:{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\",\"function_call\":null}}],\"lastOne\":false}\n\n"
                + chunk(
                    "{\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"y\"},{\"type\":\"new\"}]}}]}")
                + "data:{\"choices\":[{\"index\":0,\"delta\":null,\"finish_reason\":\"stop\"}],\"usage\":null}\n\n"
                + "data:{\"lastOne\":true,\"choices\":null,\"usage\":{\"prompt_tokens\":1}}\n\n");
    assertEquals("xy", played.response().message().text());
    assertEquals(1, played.response().usage().input().tokens());
  }

  @Test
  void of_several_choices_the_first_counts() {
    Played played =
        play(
            chunk(
                    "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}},{\"index\":0,\"delta\":{\"content\":\"yes\"}}]}")
                + chunk("{\"choices\":[{\"index\":1,\"delta\":{},\"finish_reason\":\"length\"}]}")
                + finish("stop"));
    assertEquals("yes", played.text());
    assertEquals(FinishReason.Kind.STOP, played.response().finishReason().kind());
  }

  @ParameterizedTest
  @CsvSource({
    "reasoning_content, '', thinks",
    "reasoning, '', thinks",
    "reasoning_content, ',\"reasoning\":\"thinks\"', thinks",
    "reasoning, ',\"reasoning_content\":\"\"', thinks"
  })
  void reasoning_is_told_once_and_is_no_part_of_the_answer(
      String member, String beside, String expected) {
    Played played =
        play(delta("{\"" + member + "\":\"thinks\"" + beside + "}") + words("stop") + DONE);
    assertEquals(
        List.of(new ModelEvent.Reasoning(expected), new ModelEvent.Text("x")), played.output());
    assertEquals("x", played.response().message().text());
    assertEquals(1, played.response().message().parts().size());
  }

  @Test
  void a_refusal_is_text_and_a_finish_of_its_own_whatever_the_reason() {
    Played played =
        play(delta("{\"refusal\":\"I \"}") + delta("{\"refusal\":\"can't.\"}") + finish("stop"));
    assertEquals("I can't.", played.text());
    assertEquals("I can't.", played.response().message().text());
    assertEquals(
        new FinishReason(FinishReason.Kind.REFUSAL, "stop"), played.response().finishReason());
  }

  @Test
  @Tag("FR-S19")
  @Tag("FR-T05")
  @Tag("Y45")
  void usage_is_taken_from_any_chunk_and_each_counter_last_said_wins() {
    String usage =
        chunk(
            "{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":50,\"total_tokens\":60}}");
    for (String stream :
        List.of(
            usage + delta("{\"content\":\"x\"}") + finish("stop") + DONE,
            delta("{\"content\":\"x\"}") + usage + finish("stop"),
            words("stop") + usage + DONE,
            words("stop") + usage.stripTrailing())) {
      Played played = play(stream);
      assertEquals("x", played.text());
      assertEquals(60, played.response().usage().total().tokens());
    }
    Played cumulative =
        play(
            chunk(
                    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1,\"total_tokens\":11,\"prompt_tokens_details\":{\"cached_tokens\":4}}}")
                + chunk(
                    "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"completion_tokens\":7,\"total_tokens\":17,\"prompt_tokens\":null,\"prompt_tokens_details\":{\"new\":1}}}")
                + DONE);
    assertEquals(10, cumulative.response().usage().input().tokens());
    assertEquals(7, cumulative.response().usage().output().tokens());
    assertEquals(17, cumulative.response().usage().total().tokens());
    assertEquals(4, cumulative.response().usage().cachedInput().tokens());
    List<Long> outputs =
        cumulative.told().stream()
            .filter(ModelEvent.Counters.class::isInstance)
            .map(event -> ((ModelEvent.Counters) event).usage().output().tokens())
            .toList();
    assertEquals(List.of(1L, 7L), outputs);
  }

  @Test
  @Tag("Y46")
  void a_total_judges_where_reasoning_stands_in_a_stream_too() {
    Played played =
        play(
            words("stop")
                + chunk(
                    "{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"completion_tokens_details\":{\"reasoning_tokens\":20}}}")
                + chunk("{\"choices\":[],\"usage\":{\"total_tokens\":35}}"));
    assertEquals(25, played.response().usage().output().tokens());
  }

  // --- tool calls ----------------------------------------------------------------------------

  private static String call(String fragments) {
    return delta("{\"tool_calls\":[" + fragments + "]}");
  }

  @Test
  @Tag("FR-T09")
  @Tag("FR-T13")
  @Tag("R135")
  void tool_calls_are_put_together_and_only_the_answer_has_them() {
    Played played =
        play(
            call(
                    "{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}")
                + call("{\"index\":0,\"function\":{\"arguments\":\"{\\\"p\\\":\"}}")
                + call(
                    "{\"index\":1,\"id\":\"b\"},{\"index\":1,\"function\":{\"name\":\"g\",\"arguments\":\"{\\\"r\\\":\"}}")
                + call("{\"index\":0,\"function\":{\"arguments\":\"10}\"}}")
                + call("{\"index\":1,\"function\":{\"arguments\":\"\\\"你\\\"}\"}}")
                + finish("tool_calls")
                + DONE);
    assertTrue(played.output().isEmpty());
    List<ToolCall> calls = played.response().message().toolCalls();
    assertEquals(List.of("a", "b"), calls.stream().map(ToolCall::id).toList());
    assertEquals("{\"p\":10}", calls.getFirst().input().text());
    assertEquals("{\"r\":\"你\"}", calls.getLast().input().text());
    assertEquals(FinishReason.Kind.TOOL_CALLS, played.response().finishReason().kind());
  }

  @Test
  @Tag("FR-T21")
  @Tag("FR-T25")
  void a_call_that_was_cut_or_ended_for_another_reason_says_so() {
    ModelResponse cut =
        play(call(
                    "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"p\\\":{\\\"a\\\":\\\"x\\\"\"}}")
                + finish("length")
                + DONE)
            .response();
    assertEquals(FinishReason.Kind.LENGTH, cut.finishReason().kind());
    assertTrue(cut.message().toolCalls().getFirst().malformed().isPresent());
    ModelResponse odd =
        play(call("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}")
                + finish("odd"))
            .response();
    assertEquals(new FinishReason(FinishReason.Kind.OTHER, "odd"), odd.finishReason());
    assertEquals(1, odd.message().toolCalls().size());
  }

  @Test
  @Tag("Y40")
  void a_fragment_that_belongs_to_no_call_breaks_the_protocol() {
    ProviderException failure =
        play(call("{\"index\":128,\"id\":\"a\",\"function\":{\"name\":\"f\"}}") + finish("stop"))
            .failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertEquals(Optional.of("req_7"), failure.requestId());
  }

  @Test
  @Tag("Y41")
  void a_streamed_answer_is_the_one_that_would_have_come_whole() {
    String text = "Well.";
    String arguments = "{\\\"a\\\": 1.50}";
    String whole =
        """
        {"choices":[{"index":0,"message":{"content":"%s","tool_calls":[
          {"id":"a","function":{"name":"f","arguments":"%s"}}]},"finish_reason":"tool_calls"}],
         "usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}
        """
            .formatted(text, arguments);
    byte[] bytes = whole.getBytes(StandardCharsets.UTF_8);
    ModelResponse blocking =
        Requests.chatReader(FAILURES, CALL)
            .read(new Answer(StrictJson.readDocument(bytes), bytes, HEADERS));
    Played streamed =
        play(
            delta("{\"content\":\"We\"}")
                + delta("{\"content\":\"ll.\"}")
                + call(
                    "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\""
                        + arguments
                        + "\"}}")
                + finish("tool_calls")
                + chunk(
                    "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"total_tokens\":11}}")
                + DONE);
    assertEquals(blocking, streamed.response());
  }

  // --- ends ----------------------------------------------------------------------------------

  @Test
  @Tag("Y9")
  @Tag("FR-S21")
  void nothing_behind_the_terminator_is_an_event_and_only_the_whole_data_is_it() {
    Played played =
        play(
            words("stop")
                + ": x-cost=0.1\n: x-model=m\ndata: [DONE] \n\n"
                + delta("{\"content\":\"more\"}")
                + "data: {\"error\":{\"message\":\"late\"}}\n\n"
                + "data: no json");
    assertEquals("x", played.text());
    assertEquals("x", played.response().message().text());
    assertEquals(
        "[DONE]!",
        play(delta("{\"content\":\"[DONE]\"}") + delta("{\"content\":\"!\"}") + finish("stop"))
            .text());
    assertEquals(Kind.PROTOCOL, play(words("stop") + "data: [DONE]x\n\n").failure().kind());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "data: [DONE]\n\n", "data: [DONE]", ":\n\n", "\n"})
  @Tag("Y10")
  @Tag("Y49")
  @Tag("R143")
  @Tag("FR-S17")
  void behind_the_finish_reason_a_stream_may_end_with_or_without_its_terminator(String end) {
    assertEquals("x", play(words("stop") + end).response().message().text());
    assertEquals("x", play(words("stop").stripTrailing() + "\n\n" + end).text());
    assertEquals("x", play(words("stop").stripTrailing()).response().message().text());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "data: [DONE]\n\n"})
  @Tag("Y49")
  @Tag("R143")
  void a_stream_without_a_finish_reason_is_broken(String end) {
    ProviderException failure = play(delta("{\"content\":\"x\"}") + end).failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("finished"), failure.getMessage());
    String calls = call("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}");
    assertEquals(Kind.PROTOCOL, play(calls + end).failure().kind());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "\n\n",
        ": ping\n\n",
        "data: [DONE]\n\n",
        "data:"
            + " {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n"
      })
  @Tag("R138")
  void a_stream_that_ends_before_it_showed_anything_says_so(String stream) {
    ProviderException failure = play(stream).failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertEquals("The stream ended before emitting an event.", failure.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"data: {\"choices\":[", "data: {\"choices\":[],\n", "data: [DON", "data: x"})
  @Tag("Y10")
  @Tag("FR-S17")
  void an_event_that_breaks_off_at_the_end_breaks_the_stream(String cut) {
    ProviderException failure = play(words("stop") + cut).failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("in the middle of an event"), failure.getMessage());
  }

  // --- errors --------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "event: error\\n"
            + "data:"
            + " {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"
            + " | 529",
        "event: error\\ndata: {\"code\":503,\"message\":\"no\"} | 503",
        "event: error\\ndata: {\"code\":503} | 503",
        "data: {\"type\":\"error\",\"code\":\"server_is_overloaded\",\"message\":\"no\"} | 503",
        "data: {\"error\":{\"message\":\"quota exceeded\",\"code\":\"insufficient_quota\"}} | 402",
        "data: {\"error\":{\"message\":\"quota exceeded\"}} | 0",
        "data: {\"error\":\"busy\",\"code\":429} | 429",
        "data: [{\"error\":{\"code\":503}}] | 503",
        "data: {\"object\":\"error\",\"message\":\"no\",\"code\":400} | 400",
        "data:"
            + " {\"choices\":[{\"index\":0,\"delta\":{},\"error\":{\"code\":502,\"message\":\"up\"}}]}"
            + " | 502",
        "event: error\\ndata: Internal Server Error | 0"
      })
  @Tag("Y13")
  @Tag("Y36")
  @Tag("FR-X01")
  @Tag("FR-X03")
  @Tag("R139")
  void an_error_in_an_event_ends_the_stream_before_and_after_output(String event, int status) {
    String error = event.replace("\\n", "\n") + "\n\n";
    for (String before : List.of("", delta("{\"content\":\"x\"}"), words("stop"))) {
      for (String after : List.of("", DONE, delta("{\"content\":\"y\"}"))) {
        Played played = play(before + error + after);
        assertEquals(Kind.PROVIDER_EVENT, played.failure().kind());
        assertEquals(status, played.failure().status());
        assertEquals(Optional.of("req_7"), played.failure().requestId());
        assertEquals(before.isEmpty() ? "" : "x", played.text());
      }
    }
  }

  @Test
  @Tag("FR-X05")
  @Tag("FR-X09")
  void an_error_in_an_event_keeps_its_wait_and_its_meaning() {
    ProviderException limited =
        play(chunk(
                "{\"error\":{\"code\":429,\"message\":\"m\",\"metadata\":{\"headers\":{\"X-RateLimit-Reset\":\"1741305600000\"}}}}"))
            .failure();
    assertEquals(Duration.ofSeconds(30), limited.retryAfter().orElseThrow());
    ProviderException overflow =
        play(chunk(
                "{\"error\":{\"code\":\"server_error\",\"message\":\"Your input exceeds the context"
                    + " window of this model\"}}"))
            .failure();
    assertEquals(Kind.CONTEXT_LENGTH, overflow.kind());
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "{}", "\"\"", "\" \"", "false", "[]"})
  void an_error_member_that_holds_none_is_none(String none) {
    assertEquals(
        "x",
        play(chunk("{\"error\":" + none + ",\"choices\":[]}") + words("stop"))
            .response()
            .message()
            .text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":{\"code\":429,\"message\":\"no\"}}",
        "{\n  \"error\": {\"type\": \"rate_limit_error\"}\n}\n",
        "{\"message\":\"no\",\"code\":429}",
        "\n\n{\"error\":{\"code\":429}}",
        "\r\n \t[{\"error\":{\"code\":429}}]"
      })
  @Tag("Y16")
  @Tag("FR-X05")
  void an_error_object_that_claims_to_be_a_stream_is_classified(String body) {
    ProviderException failure = play(body).failure();
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(429, failure.status());
    assertEquals(Kind.PROTOCOL, play("{\"choices\":[]}").failure().kind());
    assertEquals(
        Kind.PROTOCOL, play(List.of(utf8("{"), utf8("x".repeat(200_000)))).failure().kind());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data: privatetext\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"privatetext\"}\n\n",
        "data: {} privatetext\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":{\"a\":\"privatetext\"}}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":5}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"n\":1e99999999999}\n\n"
      })
  @Tag("Y13")
  @Tag("Y22")
  void an_event_that_breaks_the_protocol_is_not_shown(String event) {
    ProviderException failure = play(event + words("stop")).failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    for (Throwable t = failure; t != null; t = t.getCause()) {
      assertFalse(String.valueOf(t.getMessage()).contains("privatetext"), t.getMessage());
    }
  }

  @Test
  @Tag("Y12")
  @Tag("R378")
  void an_event_beyond_the_bound_breaks_the_protocol_and_names_it() {
    byte[] endless = ("data: " + "x".repeat(1_048_576)).getBytes(StandardCharsets.UTF_8);
    ProviderException failure = play(List.of(endless)).failure();
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("1048576 characters"), failure.getMessage());
  }

  @Test
  @Tag("Y30")
  void an_event_nested_deeper_than_100_levels_breaks_the_protocol() {
    assertEquals(
        Kind.PROTOCOL,
        play(List.of(utf8(chunk("[".repeat(101) + "]".repeat(101))))).failure().kind());
  }

  @Test
  void what_the_one_who_is_told_throws_goes_through_as_it_is() {
    byte[] bytes = words("stop").getBytes(StandardCharsets.UTF_8);
    for (Exception thrown :
        List.of(new IllegalStateException("theirs"), new InterruptedException("theirs"))) {
      StreamExchange.Body<ModelResponse> stream =
          EventStream.of(
                  FAILURES,
                  _ -> {
                    if (thrown instanceof InterruptedException e) {
                      throw e;
                    }
                    throw (RuntimeException) thrown;
                  },
                  headers -> new ChatStream(Requests.chatReader(FAILURES, CALL), headers))
              .open(HEADERS);
      assertSame(thrown, assertThrows(Exception.class, () -> stream.read(bytes, bytes.length)));
    }
  }

  @Test
  void a_stream_that_was_damaged_at_random_is_an_answer_or_a_failure_of_the_provider() {
    byte[] sound =
        (": ping\n\n"
                + delta("{\"role\":\"assistant\",\"content\":\"Hello 你🌍\"}")
                + delta("{\"reasoning_content\":\"thinks\",\"refusal\":null}")
                + call(
                    "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}")
                + "event: error\r\n\r\n"
                + finish("stop")
                + chunk("{\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"total_tokens\":2}}")
                + DONE)
            .getBytes(StandardCharsets.UTF_8);
    Fuzz.play(
        random -> {
          byte[] bytes = damaged(sound, random);
          Played played = play(Chunks.pieces(bytes, random, 1 + random.nextInt(200)));
          if (played.outcome instanceof ModelResponse response) {
            assertEquals(response.message().text(), StrictJson.cleanText(played.text()));
          } else {
            assertInstanceOf(ProviderException.class, played.outcome);
          }
          Played whole = play(List.of(bytes));
          assertEquals(whole.output(), played.output());
          assertEquals(whole.outcome.toString(), played.outcome.toString());
        });
  }

  private static byte[] damaged(byte[] sound, Random random) {
    StringBuilder bytes = new StringBuilder(new String(sound, StandardCharsets.ISO_8859_1));
    String strange = "\"{}[]:,\\\n\r 0-e\u00ff\u00e4n";
    for (int i = random.nextInt(6); i >= 0; i--) {
      int at = random.nextInt(bytes.length());
      int end = Math.min(bytes.length(), at + 1 + random.nextInt(40));
      switch (random.nextInt(4)) {
        case 0 -> bytes.setCharAt(at, strange.charAt(random.nextInt(strange.length())));
        case 1 -> bytes.insert(at, strange.charAt(random.nextInt(strange.length())));
        case 2 -> bytes.delete(at, end);
        default -> bytes.insert(random.nextInt(bytes.length()), bytes.substring(at, end));
      }
    }
    return bytes.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  @Test
  @Tag("Y40")
  void calls_that_are_no_list_break_the_protocol() {
    for (String calls : List.of("{}", "5", "\"x\"")) {
      ProviderException failure = play(delta("{\"tool_calls\":" + calls + "}")).failure();
      assertEquals(Kind.PROTOCOL, failure.kind());
    }
    assertEquals("x", play(delta("{\"tool_calls\":null}") + words("stop")).text());
  }

  @Test
  @Tag("FR-O07")
  void a_call_that_comes_whole_in_one_delta_is_a_call() {
    String chunk =
        """
        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"qwen3",\
        "system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}

        """;
    String call =
        """
        {"role":"assistant","content":"","tool_calls":[{"id":"call_%s","index":0,\
        "type":"function","function":{"name":"f","arguments":"{\\"a\\":%s}"}}]}\
        """;
    Played played =
        play(
            chunk.formatted("{\"role\":\"assistant\",\"reasoning\":\"Hm.\"}", "null")
                + chunk.formatted(call.formatted("x", "1.50"), "null")
                + chunk.formatted(call.formatted("y", "2"), "null")
                + chunk.formatted("{\"content\":\"\"}", "\"tool_calls\"")
                + DONE);
    assertEquals(
        List.of(
            new ToolCall("call_x", "f", Json.parse("{\"a\":1.50}")),
            new ToolCall("call_y", "f", Json.parse("{\"a\":2}"))),
        played.response().message().parts());
    assertEquals(List.of(new ModelEvent.Reasoning("Hm.")), played.output());
  }
}
