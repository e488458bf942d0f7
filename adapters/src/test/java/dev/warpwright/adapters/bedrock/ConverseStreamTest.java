package dev.warpwright.adapters.bedrock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.BinaryEvent;
import dev.warpwright.adapters.wire.BinaryEventReader;
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
import java.io.ByteArrayOutputStream;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of the protocol from bytes to the answer, however the network cuts them. */
final class ConverseStreamTest {
  private static final Failures FAILURES =
      new Failures(BedrockErrors.TABLE, InstantSource.system(), Authorization.NONE);
  private static final HttpHeaders HEADERS =
      HttpHeaders.of(Map.of("x-amzn-RequestId", List.of("req-7")), (name, value) -> true);
  private static final ModelCall CALL = ModelCall.builder(List.of(Message.user("Hi"))).build();
  private static final Played.Player PLAYER =
      new Played.Player(
          HEADERS,
          events ->
              EventStream.of(
                  FAILURES,
                  events,
                  BinaryEventReader::new,
                  headers -> new ConverseStream(FAILURES, "m-1", CALL, headers)));

  private static final BinaryEvent START = event("messageStart", "\"role\":\"assistant\"");
  private static final BinaryEvent METADATA =
      event(
          "metadata",
          "\"usage\":{\"inputTokens\":7,\"outputTokens\":4,\"totalTokens\":11},\"metrics\":{}");

  private static BinaryEvent event(String type, String members) {
    return BinaryEvent.event(
        type, "{" + members + ",\"p\":\"abcd\"}"); // padded, as the service does
  }

  private static BinaryEvent delta(int index, String delta) {
    return event("contentBlockDelta", "\"contentBlockIndex\":" + index + ",\"delta\":" + delta);
  }

  private static BinaryEvent text(int index, String piece) {
    return delta(index, "{\"text\":" + Json.of(piece).text() + "}");
  }

  private static BinaryEvent reasoning(int index, String member, String piece) {
    return delta(
        index, "{\"reasoningContent\":{\"" + member + "\":" + Json.of(piece).text() + "}}");
  }

  private static BinaryEvent startCall(int index, String id, String name) {
    return event(
        "contentBlockStart",
        "\"contentBlockIndex\":%d,\"start\":{\"toolUse\":{\"toolUseId\":\"%s\",\"name\":\"%s\"}}"
            .formatted(index, id, name));
  }

  private static BinaryEvent input(int index, String piece) {
    return delta(index, "{\"toolUse\":{\"input\":" + Json.of(piece).text() + "}}");
  }

  private static BinaryEvent stopBlock(int index) {
    return event("contentBlockStop", "\"contentBlockIndex\":" + index);
  }

  private static BinaryEvent stop(String reason) {
    return event("messageStop", "\"stopReason\":\"" + reason + "\"");
  }

  private static byte[] bytes(BinaryEvent... events) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (BinaryEvent event : events) {
      all.writeBytes(event.bytes());
    }
    return all.toByteArray();
  }

  private static Played play(BinaryEvent... events) {
    return PLAYER.play(bytes(events));
  }

  private static ToolCall toolCall(String id, String name, String input) {
    return new ToolCall(id, name, Json.parse(input));
  }

  @Test
  @Tag("FR-S15")
  void text_is_told_as_it_comes_and_the_answer_holds_all_of_it() {
    Played played =
        play(
            START,
            text(0, "Hello "),
            text(0, ""),
            text(0, "你🌍"),
            stopBlock(0),
            stop("end_turn"),
            METADATA);
    ModelResponse response = played.response();
    assertEquals("Hello 你🌍", response.message().text());
    assertEquals(new FinishReason(FinishReason.Kind.STOP, "end_turn"), response.finishReason());
    assertEquals(11, response.usage().total().tokens());
    assertEquals("req-7", response.requestId().orElseThrow());
    assertEquals(
        List.of(
            new ModelEvent.Text("Hello "),
            new ModelEvent.Text("你🌍"),
            new ModelEvent.Counters(response.usage())),
        played.output());
  }

  @Test
  @Tag("Y40")
  @Tag("FR-T09")
  void calls_are_put_together_by_their_index() {
    Played played =
        play(
            START,
            text(0, "Wait."),
            stopBlock(0),
            startCall(1, "t1", "f"),
            startCall(2, "t2", "g"),
            input(1, "{\"p\":"),
            input(2, "{\"r\":"),
            input(1, "1.50}"),
            input(2, "20}"),
            stopBlock(1),
            stopBlock(2),
            stop("tool_use"),
            METADATA);
    assertEquals(
        List.of(
            new Part.Text("Wait."),
            toolCall("t1", "f", "{\"p\":1.50}"),
            toolCall("t2", "g", "{\"r\":20}")),
        played.response().message().parts());
    assertEquals("Wait.", played.text());
  }

  @Test
  @Tag("FR-A01")
  @Tag("FR-T15")
  @Tag("FR-T17")
  void a_call_without_arguments_has_an_empty_input_also_before_another() {
    Played played =
        play(
            START,
            startCall(0, "t1", "f"),
            stopBlock(0),
            startCall(1, "t2", "g"),
            input(1, ""),
            stopBlock(1),
            startCall(2, "t3", "h"),
            input(2, "{\"a\":1}"),
            stop("tool_use"),
            METADATA);
    assertEquals(
        List.of(
            toolCall("t1", "f", "{}"), toolCall("t2", "g", "{}"), toolCall("t3", "h", "{\"a\":1}")),
        played.response().message().toolCalls());
  }

  @Test
  @Tag("Y40")
  void input_that_is_no_text_is_never_lost() {
    for (String given : List.of("{\"a\":1}", "[1]")) {
      Played played =
          play(
              START,
              startCall(0, "t", "f"),
              delta(0, "{\"toolUse\":{\"input\":" + given + "}}"),
              stop("tool_use"),
              METADATA);
      assertEquals(Kind.PROTOCOL, played.failure().kind());
    }
  }

  @Test
  void a_fragment_of_a_call_that_did_not_begin_breaks_the_protocol() {
    for (BinaryEvent before : List.of(START, text(0, "x"), stopBlock(0))) {
      Played played = play(START, before, input(0, "{}"), stop("tool_use"), METADATA);
      assertEquals(Kind.PROTOCOL, played.failure().kind());
      assertEquals(
          "Bedrock's answer has a fragment of a tool call that did not begin.",
          played.failure().getMessage());
    }
  }

  @Test
  @Tag("FR-T21")
  void arguments_that_break_off_make_the_call_malformed() {
    ModelResponse response =
        play(START, startCall(0, "t1", "f"), input(0, "{\"p\":{\"a\":\"x\""), stop("max_tokens"))
            .response();
    assertEquals(FinishReason.Kind.LENGTH, response.finishReason().kind());
    assertEquals(
        "{\"p\":{\"a\":\"x\"", response.message().toolCalls().getFirst().malformed().orElseThrow());
  }

  @Test
  void arguments_that_repeat_a_key_make_the_call_malformed() {
    ToolCall call =
        play(START, startCall(0, "t1", "f"), input(0, "{\"a\":1,\"a\":2}"), stop("tool_use"))
            .response()
            .message()
            .toolCalls()
            .getFirst();
    assertTrue(call.malformed().isPresent());
  }

  @Test
  @Tag("Y47")
  @Tag("FR-A07")
  void reasoning_is_told_and_kept_byte_for_byte_in_its_place() {
    Played played =
        play(
            START,
            reasoning(0, "text", "Hm,\n"),
            reasoning(0, "text", "ä😀."),
            reasoning(0, "signature", "sig+/="),
            stopBlock(0),
            reasoning(1, "redactedContent", "Zm9v+/=="),
            stopBlock(1),
            startCall(2, "t1", "f"),
            stop("tool_use"),
            METADATA);
    assertEquals(
        List.of(
            ProviderState.of(
                "bedrock-converse",
                "m-1",
                Json.parse(
                    "{\"reasoningContent\":{\"reasoningText\":{\"text\":\"Hm,\\n"
                        + "ä😀.\",\"signature\":\"sig+/=\"}}}")),
            ProviderState.of(
                "bedrock-converse",
                "m-1",
                Json.parse("{\"reasoningContent\":{\"redactedContent\":\"Zm9v+/==\"}}")),
            toolCall("t1", "f", "{}")),
        played.response().message().parts());
    assertEquals(
        List.of(new ModelEvent.Reasoning("Hm,\n"), new ModelEvent.Reasoning("ä😀.")),
        played.output().subList(0, 2));
  }

  @Test
  void redacted_reasoning_in_pieces_is_put_together_by_its_bytes() {
    ProviderState state =
        (ProviderState)
            play(
                    START,
                    reasoning(0, "redactedContent", "YQ=="),
                    reasoning(0, "redactedContent", "YmM="),
                    stop("end_turn"))
                .response()
                .message()
                .parts()
                .getFirst();
    assertEquals("{\"reasoningContent\":{\"redactedContent\":\"YWJj\"}}", state.data().text());
    Played broken =
        play(
            START,
            reasoning(0, "redactedContent", "YQ=="),
            reasoning(0, "redactedContent", "no base64!"),
            stop("end_turn"));
    assertEquals(Kind.PROTOCOL, broken.failure().kind());
  }

  @Test
  void text_stands_in_the_order_in_which_it_was_told_whatever_the_indices() {
    Played played =
        play(
            START,
            text(0, "a"),
            text(1, "b"),
            text(0, "c"),
            startCall(0, "t1", "f"),
            text(0, "d"),
            reasoning(0, "text", "x"),
            text(0, "e"),
            event("contentBlockStart", "\"contentBlockIndex\":0,\"start\":{}"),
            text(0, "f"),
            stop("end_turn"),
            METADATA);
    assertEquals("abcdef", played.text());
    assertEquals("abcdef", played.response().message().text());
  }

  // --- counters and ends
  // --------------------------------------------------------------------------

  @Test
  @Tag("Y45")
  @Tag("FR-M07")
  void counters_may_come_anywhere_and_the_last_ones_win() {
    BinaryEvent early =
        event(
            "metadata",
            "\"usage\":{\"inputTokens\":8,\"cacheWriteInputTokens\":5120,\"outputTokens\":1}");
    BinaryEvent late =
        event("metadata", "\"usage\":{\"inputTokens\":8,\"outputTokens\":4,\"totalTokens\":5132}");
    ModelResponse response = play(START, early, text(0, "a"), late, stop("end_turn")).response();
    assertEquals(5128, response.usage().input().tokens());
    assertEquals(5120, response.usage().cacheWrite().tokens());
    assertEquals(4, response.usage().output().tokens());
    assertEquals(5132, response.usage().total().tokens());
  }

  @Test
  @Tag("Y49")
  void the_finish_signal_is_enough_and_behind_the_counters_nothing_is_waited_for() {
    assertEquals("a", play(START, text(0, "a"), stop("end_turn")).response().message().text());
    assertEquals(
        "a",
        play(START, text(0, "a"), stop("end_turn"), METADATA, text(0, "no more"))
            .response()
            .message()
            .text());
  }

  @Test
  @Tag("Y17")
  @Tag("Y49")
  void a_stream_without_its_finish_signal_is_broken() {
    Played silent = play(START);
    assertEquals(Kind.PROTOCOL, silent.failure().kind());
    assertEquals("The stream ended before emitting an event.", silent.failure().getMessage());
    Played broken = play(START, text(0, "Hel"), METADATA);
    assertEquals(Kind.PROTOCOL, broken.failure().kind());
    assertEquals(
        "Bedrock's answer ended without saying that it is finished.",
        broken.failure().getMessage());
    byte[] whole = bytes(START, text(0, "Hel"), stop("end_turn"));
    Played cut = PLAYER.play(Arrays.copyOf(whole, whole.length - 1));
    assertEquals(
        "Bedrock's answer breaks off in the middle of an event.", cut.failure().getMessage());
    assertEquals("Hel", cut.text());
  }

  @Test
  @Tag("Y44")
  void unknown_events_blocks_and_deltas_are_passed_over() {
    Played played =
        play(
            START,
            event("unheardOf", "\"text\":\"no\""),
            delta(0, "{\"citation\":{\"title\":\"x\"}}"),
            delta(0, "{}"),
            event("contentBlockDelta", "\"delta\":7"),
            text(0, "a"),
            new BinaryEvent(Map.of(":event-type", "ping"), ""),
            stop("end_turn"),
            METADATA);
    assertEquals("a", played.response().message().text());
  }

  // --- failures
  // -----------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "throttlingException, 429",
    "validationException, 400",
    "modelStreamErrorException, 424",
    "internalServerException, 500",
    "serviceUnavailableException, 503",
    "modelTimeoutException, 408",
    "unheardOfException, 0"
  })
  @Tag("Y36")
  @Tag("FR-X01")
  void an_exception_stands_for_the_status_of_its_type_before_and_behind_output(
      String type, int status) {
    for (List<BinaryEvent> before :
        List.of(List.<BinaryEvent>of(), List.of(START), List.of(START, text(0, "Hel")))) {
      List<BinaryEvent> events = new ArrayList<>(before);
      events.add(
          BinaryEvent.exception(
              type, "{\"message\":\"Slow down.\",\"originalStatusCode\":418,\"code\":200}"));
      events.add(stop("end_turn"));
      ProviderException failure = play(events.toArray(new BinaryEvent[0])).failure();
      assertEquals(Kind.PROVIDER_EVENT, failure.kind());
      assertEquals(status, failure.status());
      assertEquals(type, failure.code().orElseThrow());
      assertEquals("Slow down.", failure.providerMessage().orElseThrow());
      assertEquals("req-7", failure.requestId().orElseThrow());
    }
  }

  @Test
  void an_error_that_no_model_of_the_service_knows_ends_the_stream_too() {
    ProviderException failure =
        play(
                START,
                new BinaryEvent(
                    Map.of(
                        ":message-type",
                        "error",
                        ":error-code",
                        "InternalServerException",
                        ":error-message",
                        "Oh."),
                    ""))
            .failure();
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(500, failure.status());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Input is too long for requested model.",
        "The model returned the following errors: prompt is too long: 200436 tokens > 200000"
            + " maximum",
        "Too many input tokens. Max input tokens: 8192, request input token count: 9000 "
      })
  @Tag("Y38")
  void an_input_that_is_too_long_is_recognised(String message) {
    ProviderException failure =
        play(
                START,
                BinaryEvent.exception(
                    "validationException", "{\"message\":" + Json.of(message).text() + "}"))
            .failure();
    assertEquals(Kind.CONTEXT_LENGTH, failure.kind());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Too many tokens, please wait before trying again.",
        "prompt is too long: 100 tokens > 200000 maximum",
        "The maximum tokens you requested exceeds the model limit of 8192."
      })
  @Tag("Y38")
  void other_sentences_about_tokens_are_not(String message) {
    ProviderException failure =
        play(BinaryEvent.exception(
                "validationException", "{\"message\":" + Json.of(message).text() + "}"))
            .failure();
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(400, failure.status());
  }

  @Test
  void a_checksum_that_does_not_fit_breaks_the_protocol_and_what_was_told_stays_told() {
    byte[] sound = bytes(START, text(0, "Hel"), text(0, "lo"), stop("end_turn"), METADATA);
    int third = bytes(START, text(0, "Hel")).length;
    sound[third + 40] ^= 1;
    Played played = PLAYER.play(sound);
    assertEquals(Kind.PROTOCOL, played.failure().kind());
    assertEquals(
        "Bedrock's answer holds an event that does not fit its checksum.",
        played.failure().getMessage());
    assertEquals("Hel", played.text());
  }

  @Test
  @Tag("Y16")
  void a_body_that_is_json_is_read_as_an_error() {
    byte[] json = "{\"message\":\"No.\"}".getBytes(StandardCharsets.UTF_8);
    ProviderException failure = PLAYER.play(json).failure();
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals("No.", failure.providerMessage().orElseThrow());
  }

  @Test
  void an_event_that_is_no_json_breaks_the_protocol() {
    Played played = play(START, BinaryEvent.event("contentBlockDelta", "no json"));
    assertEquals(Kind.PROTOCOL, played.failure().kind());
    assertFalse(played.failure().getMessage().contains("no json"));
  }

  // --- parity and damage
  // --------------------------------------------------------------------------

  @Test
  void a_stream_is_the_answer_that_would_have_come_whole() {
    String whole =
        """
        {"output":{"message":{"role":"assistant","content":[
          {"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"s"}}},
          {"text":"Hello."},
          {"toolUse":{"toolUseId":"t1","name":"f","input":{"a":1.50}}}]}},
         "stopReason":"tool_use","usage":{"inputTokens":7,"outputTokens":4,"totalTokens":11}}
        """;
    byte[] document = whole.getBytes(StandardCharsets.UTF_8);
    assertEquals(
        ConverseResponse.read(
            FAILURES, "m-1", CALL, new Answer(StrictJson.readDocument(whole), document, HEADERS)),
        play(
                START,
                reasoning(0, "text", "Hm."),
                reasoning(0, "signature", "s"),
                stopBlock(0),
                text(1, "Hel"),
                text(1, "lo."),
                stopBlock(1),
                startCall(2, "t1", "f"),
                input(2, "{\"a\""),
                input(2, ":1.50}"),
                stopBlock(2),
                stop("tool_use"),
                METADATA)
            .response());
  }

  @Test
  void a_damaged_stream_has_one_end_however_it_is_cut() {
    byte[] sound =
        bytes(START, text(0, "Hello."), startCall(1, "t", "f"), stop("tool_use"), METADATA);
    PLAYER.playDamaged(
        random -> {
          byte[] damaged = sound.clone();
          for (int i = random.nextInt(3); i >= 0; i--) {
            damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
          }
          return Arrays.copyOf(damaged, damaged.length - random.nextInt(20));
        });
  }

  /** Events whose checksums are sound and whose payloads are not. */
  @Test
  void strange_events_have_one_end_however_they_are_cut() {
    PLAYER.playDamaged(ConverseStreamTest::strange);
  }

  private static byte[] strange(Random random) {
    String[] types = {"contentBlockStart", "contentBlockDelta", "messageStop", "metadata", "x"};
    String[] members = {
      "\"delta\":{\"text\":\"a\"}",
      "\"delta\":{\"toolUse\":{\"input\":\"{\"}}",
      "\"delta\":{\"toolUse\":{}}",
      "\"delta\":{\"reasoningContent\":{\"text\":7}}",
      "\"delta\":{\"reasoningContent\":{\"signature\":\"s\"}}",
      "\"start\":{\"toolUse\":{\"toolUseId\":7,\"name\":null}}",
      "\"start\":{\"toolUse\":{\"name\":\"f\"}}",
      "\"start\":[]",
      "\"stopReason\":\"end_turn\"",
      "\"stopReason\":{}",
      "\"usage\":[1]",
      "\"usage\":{\"inputTokens\":\"x\"}"
    };
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = random.nextInt(12); i >= 0; i--) {
      String member = members[random.nextInt(members.length)];
      String index = new String[] {"0", "1", "-1", "\"0\"", "1e99", "null"}[random.nextInt(6)];
      all.writeBytes(
          event(
                  types[random.nextInt(types.length)],
                  "\"contentBlockIndex\":" + index + "," + member)
              .bytes());
    }
    return all.toByteArray();
  }
}
