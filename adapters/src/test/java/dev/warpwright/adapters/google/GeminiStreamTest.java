package dev.warpwright.adapters.google;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of the protocol from bytes to the answer, however the network cuts them. */
final class GeminiStreamTest {
  private static final Failures FAILURES =
      new Failures(GeminiErrors.table("Gemini"), InstantSource.system(), Authorization.NONE);
  private static final HttpHeaders HEADERS = HttpHeaders.of(Map.of(), (name, value) -> true);
  private static final ModelCall CALL = ModelCall.builder(List.of(Message.user("Hi"))).build();
  private static final Played.Player PLAYER =
      new Played.Player(
          HEADERS,
          events ->
              EventStream.of(
                  FAILURES, events, headers -> new GeminiStream(FAILURES, "g-3", CALL, headers)));

  private static final String END =
      chunk(
          "", "STOP", "{\"promptTokenCount\":9,\"candidatesTokenCount\":4,\"totalTokenCount\":13}");

  private static Played play(String... events) {
    return PLAYER.play(String.join("", events));
  }

  private static String data(String json) {
    return "data: " + json + "\r\n\r\n";
  }

  private static String chunk(String parts, String reason, String usage) {
    return data(
        "{\"candidates\":[{\"content\":{\"parts\":[%s],\"role\":\"model\"}%s,\"index\":0}]%s}"
            .formatted(
                parts,
                reason.isEmpty() ? "" : ",\"finishReason\":\"" + reason + "\"",
                usage.isEmpty() ? "" : ",\"usageMetadata\":" + usage));
  }

  private static String chunk(String parts) {
    return chunk(parts, "", "");
  }

  private static String text(String text) {
    return chunk("{\"text\":" + Json.of(text).text() + "}");
  }

  private static ProviderState state(String data) {
    return ProviderState.of("gemini", "g-3", Json.parse(data));
  }

  @Test
  void text_is_told_as_it_comes_and_is_one_part() {
    Played played = play(text("Hel"), text(""), text("lo 🌍"), END);
    assertEquals(
        List.of(
            new ModelEvent.Text("Hel"),
            new ModelEvent.Text("lo 🌍"),
            new ModelEvent.Counters(played.response().usage())),
        played.output());
    assertEquals(List.of(new Part.Text("Hello 🌍")), played.response().message().parts());
    assertEquals(
        new FinishReason(FinishReason.Kind.STOP, "STOP"), played.response().finishReason());
    assertEquals(TokenCount.reported(13), played.response().usage().total());
  }

  @Test
  @Tag("Y40")
  void an_event_of_very_many_calls_is_refused_without_being_kept_for_each_of_them() {
    String call = "{\"functionCall\":{\"name\":\"f\"}}";
    String event = chunk((call + ",").repeat(20_000) + call) + END;
    Played played = PLAYER.play(List.of(event.getBytes(StandardCharsets.UTF_8)));
    assertEquals(
        "Gemini's answer has more tool calls than the bound of 128.",
        played.failure().getMessage());
  }

  @Test
  void thoughts_are_told_as_reasoning_and_are_no_part_of_the_text() {
    Played played =
        play(
            chunk("{\"text\":\"I \",\"thought\":true}"),
            chunk("{\"text\":\"think.\",\"thought\":true},{\"text\":\"So \"}"),
            text("I am."),
            END);
    assertEquals(
        List.of(new ModelEvent.Reasoning("I "), new ModelEvent.Reasoning("think.")),
        played.output().subList(0, 2));
    assertEquals(List.of(new Part.Text("So I am.")), played.response().message().parts());
  }

  @Test
  @Tag("FR-G05")
  @Tag("Y47")
  void calls_come_whole_several_in_a_chunk_each_with_its_signature() {
    Played played =
        play(
            text("Look"),
            chunk("{\"text\":\"!\",\"thoughtSignature\":\"s0\"},{\"text\":\"?\"}"),
            chunk(
                "{\"functionCall\":{\"id\":\"a\",\"name\":\"f\",\"args\":{\"n\":1.10}},\"thoughtSignature\":\"s1\"},"
                    + "{\"functionCall\":{\"name\":\"g\",\"args\":{}}}"),
            chunk("{\"functionCall\":{\"name\":\"h\"},\"thoughtSignature\":\"s2\"}"),
            chunk("{\"text\":\"\",\"thoughtSignature\":\"s3\"}", "STOP", ""));
    ModelResponse response = played.response();
    List<ToolCall> calls = response.message().toolCalls();
    assertEquals(
        List.of(
            new Part.Text("Look"),
            state("{\"before\":\"text bb7208bc9b5d7c04\",\"thoughtSignature\":\"s0\"}"),
            new Part.Text("!"),
            new Part.Text("?"),
            state("{\"before\":\"call a\",\"thoughtSignature\":\"s1\",\"issuedId\":true}"),
            new ToolCall("a", "f", Json.parse("{\"n\":1.10}")),
            new ToolCall(calls.get(1).id(), "g", Json.EMPTY_OBJECT),
            state(
                "{\"before\":\"call %s\",\"thoughtSignature\":\"s2\"}"
                    .formatted(calls.get(2).id())),
            new ToolCall(calls.get(2).id(), "h", Json.EMPTY_OBJECT),
            state("{\"part\":{\"text\":\"\",\"thoughtSignature\":\"s3\"}}")),
        response.message().parts());
    assertEquals(new FinishReason(FinishReason.Kind.TOOL_CALLS, "STOP"), response.finishReason());
    assertEquals("Look!?", played.text());
  }

  @Test
  @Tag("Y29")
  void a_key_twice_in_arguments_makes_the_calls_malformed() {
    Played played =
        play(chunk("{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":1,\"a\":2}}}"), END);
    assertTrue(played.response().message().toolCalls().getFirst().malformed().isPresent());
  }

  @Test
  @Tag("FR-G03")
  void a_call_that_went_wrong_is_an_error_and_no_call_is_handed_out() {
    Played played =
        play(
            chunk("{\"functionCall\":{\"name\":\"pay\",\"args\":{}}}"),
            chunk("", "MALFORMED_FUNCTION_CALL", ""));
    assertEquals(FinishReason.Kind.ERROR, played.response().finishReason().kind());
    assertEquals(List.of(), played.response().message().toolCalls());
  }

  @Test
  @Tag("FR-G01")
  void a_blocked_prompt_ends_the_stream_with_its_usage() {
    Played played =
        play(
            data(
                "{\"promptFeedback\":{\"blockReason\":\"SAFETY\"},\"usageMetadata\":{\"promptTokenCount\":8}}"));
    assertEquals(
        new FinishReason(FinishReason.Kind.CONTENT_FILTER, "SAFETY"),
        played.response().finishReason());
    assertEquals(TokenCount.reported(8), played.response().usage().input());
  }

  @Test
  @Tag("Y45")
  void counters_are_cumulative_and_the_last_of_each_wins() {
    Played played =
        play(
            data("{\"usageMetadata\":{\"promptTokenCount\":5}}"),
            chunk("{\"text\":\"a\"}", "", "{\"promptTokenCount\":9,\"thoughtsTokenCount\":2}"),
            chunk("", "STOP", "{\"candidatesTokenCount\":1,\"totalTokenCount\":12}"),
            data("{\"usageMetadata\":{\"cachedContentTokenCount\":3,\"candidatesTokenCount\":1}}"));
    Usage usage = played.response().usage();
    assertEquals(9, usage.input().tokens());
    assertEquals(3, usage.cachedInput().tokens());
    assertEquals(3, usage.output().tokens());
    assertEquals(12, usage.total().tokens());
  }

  @Test
  void of_several_candidates_the_first_counts_and_what_is_unknown_is_passed_over() {
    Played played =
        play(
            data(
                "{\"candidates\":[{\"index\":1,\"content\":{\"parts\":[{\"text\":\"no\"}]},\"finishReason\":\"SAFETY\"}]}"),
            data("{\"modelVersion\":\"g\",\"responseId\":\"r7\",\"new\":{}}"),
            chunk("{\"new\":1},7,{\"text\":\"yes\"}"),
            END);
    assertEquals("yes", played.text());
    assertEquals("yes", played.response().message().text());
    assertEquals(Optional.of("r7"), played.response().requestId());
  }

  @Test
  @Tag("Y49")
  void an_end_without_a_reason_is_broken() {
    assertEquals(Kind.PROTOCOL, play(text("So far")).failure().kind());
    assertEquals(Kind.PROTOCOL, play(data("{\"candidates\":[]}")).failure().kind());
    assertEquals(
        Kind.PROTOCOL,
        play(chunk("{\"functionCall\":{\"name\":\"f\",\"args\":{}}}")).failure().kind());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data: %s\n\n",
        "data: [%s]\n\n",
        "[%s]",
        "%s",
        "[\n%s\n]",
        "event: error\ndata: %s\n\n"
      })
  @Tag("Y36")
  @Tag("Y37")
  void an_error_is_one_in_every_form_also_as_a_list(String form) {
    String error =
        "{\"error\":{\"code\":429,\"message\":\"Slow down.\",\"status\":\"RESOURCE_EXHAUSTED\","
            + "\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\","
            + "\"retryDelay\":\"1.5s\"}]}}";
    ProviderException failure = play(form.formatted(error)).failure();
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(429, failure.status());
    assertEquals("RESOURCE_EXHAUSTED", failure.code().orElseThrow());
    assertEquals(Duration.ofMillis(1_500), failure.retryAfter().orElseThrow());
  }

  @Test
  void an_error_behind_output_ends_the_stream_and_one_without_its_envelope_is_one() {
    Played played =
        play(text("So"), data("{\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}"), END);
    assertEquals(503, played.failure().status());
    assertEquals("So", played.text());
    assertEquals(500, play(data("{\"code\":500,\"message\":\"m\"}")).failure().status());
  }

  private static final String SOUND =
      chunk("{\"text\":\"Hm 😀.\",\"thought\":true}")
          + text("Look ä")
          + chunk("{\"text\":\"!\",\"thoughtSignature\":\"s+/=\"}")
          + ": alive\r\n\r\n"
          + chunk(
              "{\"functionCall\":{\"id\":\"c\",\"name\":\"f\",\"args\":{\"a\":[1.50]}},\"thoughtSignature\":\"q\"}")
          + END;

  @Test
  void what_came_in_pieces_is_what_would_have_come_whole() {
    String body =
        """
        {"candidates":[{"content":{"parts":[{"text":"Hm 😀.","thought":true},{"text":"Look ä"},
          {"text":"!","thoughtSignature":"s+/="},
          {"functionCall":{"id":"c","name":"f","args":{"a":[1.50]}},"thoughtSignature":"q"}]},
          "finishReason":"STOP"}],
         "usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13}}
        """;
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    assertEquals(
        GeminiResponse.read(
            FAILURES, "g-3", CALL, new Answer(StrictJson.readDocument(bytes), bytes, HEADERS)),
        play(SOUND).response());
  }

  @Test
  void a_damaged_stream_is_an_answer_or_a_typed_failure_however_it_is_cut() {
    PLAYER.playDamaged(SOUND);
  }
}
