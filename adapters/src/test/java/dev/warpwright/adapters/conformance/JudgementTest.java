package dev.warpwright.adapters.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What no script can play, and what stands in a report. */
final class JudgementTest {
  private static final String KEY = "a-key-that-is-wrong";

  private static Came.Answer answer(FinishReason.Kind kind, Part... parts) {
    return new Came.Answer(
        new ModelResponse(
            new Message(Role.ASSISTANT, List.of(parts)),
            new FinishReason(kind, "raw"),
            Usage.reported(1, 1),
            Optional.empty()),
        Told.NOTHING);
  }

  private static ToolCall call(String id, String input) {
    return new ToolCall(id, "city_population", Json.parse(input));
  }

  private static Came.Failed status(int status) {
    return new Came.Failed(
        ProviderException.builder(ProviderException.Kind.HTTP_STATUS, "Failed.")
            .status(status)
            .code("some_code")
            .build());
  }

  private static void assertFailed(String detail, Verdict verdict) {
    assertEquals(Verdict.failed(detail), verdict);
  }

  @Test
  void two_calls_with_one_id_fail() {
    Came twice =
        answer(
            FinishReason.Kind.TOOL_CALLS,
            call("a", "{\"city\":\"Breda\"}"),
            call("a", "{\"city\":\"Tilburg\"}"));

    assertFailed("two calls have the same id", Judgement.parallelToolCalls(twice, true));
  }

  @Test
  void a_call_without_an_id_fails() {
    Came unnamed = answer(FinishReason.Kind.TOOL_CALLS, call(" ", "{\"city\":\"Breda\"}"));

    assertFailed("a call has no id", Judgement.toolCall(unnamed, true));
  }

  @Test
  void a_missing_call_is_a_failure_only_where_one_was_demanded() {
    Came words = answer(FinishReason.Kind.STOP, new Part.Text("Many."));

    assertEquals(CheckOutcome.FAILED, Judgement.toolCall(words, true).outcome());
    assertEquals(CheckOutcome.NOT_SHOWN, Judgement.toolCall(words, false).outcome());
    assertEquals(CheckOutcome.NOT_SHOWN, Judgement.parallelToolCalls(words, false).outcome());
  }

  @Test
  void a_tool_result_may_be_answered_by_another_call_that_is_valid() {
    assertTrue(
        Judgement.toolResult(answer(FinishReason.Kind.TOOL_CALLS, call("b", "{\"city\":\"Ede\"}")))
            .isPassed());
    assertFailed(
        "the input of a call does not match its schema: $.city is required",
        Judgement.toolResult(answer(FinishReason.Kind.TOOL_CALLS, call("b", "{}"))));
  }

  @Test
  void a_stream_without_pieces_fails_though_its_answer_is_empty_too() {
    Came silent = answer(FinishReason.Kind.STOP);

    assertEquals(CheckOutcome.FAILED, Judgement.streamed(silent).outcome());
  }

  @Test
  void usage_without_an_answer_is_skipped() {
    assertEquals(
        CheckOutcome.SKIPPED, Judgement.usage(Optional.empty(), Optional.empty()).outcome());
  }

  @Test
  void a_failure_that_is_no_provider_exception_fails() {
    assertFailed(
        "the adapter threw a IOException", Judgement.whole(new Came.Broken(new IOException(KEY))));
  }

  @ParameterizedTest
  @CsvSource({
    "400, PASSED",
    "403, PASSED",
    "404, PASSED",
    "422, PASSED",
    "401, FAILED",
    "408, FAILED",
    "429, FAILED",
    "500, FAILED",
    "503, FAILED"
  })
  void an_unknown_model_is_a_fault_of_the_request(int status, CheckOutcome outcome) {
    assertEquals(outcome, Judgement.unknownModel(status(status)).outcome());
  }

  @ParameterizedTest
  @CsvSource({"401, PASSED", "403, PASSED", "400, FAILED", "404, FAILED", "500, FAILED"})
  void a_wrong_key_is_refused_as_one(int status, CheckOutcome outcome) {
    assertEquals(outcome, Judgement.wrongKey(status(status), KEY).outcome());
  }

  @Test
  void a_status_without_its_kind_is_no_refusal() {
    Came event =
        new Came.Failed(
            ProviderException.builder(ProviderException.Kind.PROVIDER_EVENT, "Failed.")
                .status(401)
                .build());

    assertEquals(CheckOutcome.FAILED, Judgement.wrongKey(event, KEY).outcome());
    assertEquals(CheckOutcome.FAILED, Judgement.unknownModel(event).outcome());
  }

  @ParameterizedTest
  @ValueSource(strings = {"message", "code", "id", "said", "cause", "deep", "suppressed"})
  void a_failure_that_shows_the_key_fails_and_the_report_does_not_show_it(String place) {
    ProviderException.Builder builder =
        ProviderException.builder(
                ProviderException.Kind.HTTP_STATUS, place.equals("message") ? KEY : "Failed.")
            .status(401);
    switch (place) {
      case "code" -> builder.code("bad:" + KEY);
      case "id" -> builder.requestId("for " + KEY);
      case "said" -> builder.providerMessage("Wrong key " + KEY + ".");
      case "cause" -> builder.cause(new IOException(KEY));
      case "deep" -> builder.cause(new IOException("no", new IllegalStateException(KEY)));
      default -> {}
    }
    ProviderException failure = builder.build();
    if (place.equals("suppressed")) {
      failure.addSuppressed(new IOException(KEY));
    }

    Verdict verdict = Judgement.wrongKey(new Came.Failed(failure), KEY);

    assertFailed("the failure shows the key", verdict);
  }

  @Test
  void a_failure_whose_causes_go_round_is_looked_through_once() {
    IOException first = new IOException("one");
    first.initCause(new IOException("two", first));
    Came failed =
        new Came.Failed(
            ProviderException.builder(ProviderException.Kind.HTTP_STATUS, "Failed.")
                .status(401)
                .cause(first)
                .build());

    assertTrue(Judgement.wrongKey(failed, KEY).isPassed());
  }

  @Test
  void a_cancelled_call_that_goes_on_fails() {
    assertFailed(
        "it had not ended PT5S after the cancel",
        Judgement.cancelled(
            new Stopped(new Outcome.Cancelled<>("cancelled", true), Duration.ofSeconds(5), 1)));
  }

  @Test
  void a_cancelled_call_that_leaves_its_exchange_fails() {
    assertFailed(
        "1 exchange left open",
        Judgement.cancelled(
            new Stopped(new Outcome.Cancelled<>("cancelled", false), Duration.ZERO, 1)));
    assertTrue(
        Judgement.cancelled(
                new Stopped(new Outcome.Cancelled<>("cancelled", false), Duration.ZERO, 0))
            .isPassed());
  }

  @Test
  void a_call_that_hangs_fails_and_is_said_to_go_on() {
    assertFailed("no end within the time limit", Judgement.whole(new Came.Late(false)));
    assertFailed(
        "no end within the time limit, and not soon after it",
        Judgement.whole(new Came.Late(true)));
  }

  @Test
  void what_a_server_says_is_one_short_line() {
    Came failed =
        new Came.Failed(
            ProviderException.builder(ProviderException.Kind.HTTP_STATUS, "Failed.")
                .status(400)
                .code("bad\u001b[31m")
                .providerMessage("first\r\nsecond\t" + "x".repeat(1_000))
                .build());

    String detail = Judgement.whole(failed).detail();

    assertTrue(detail.startsWith("HTTP_STATUS 400 bad [31m: first second xxx"), detail);
    assertEquals(201, detail.length());
    assertFalse(detail.chars().anyMatch(Character::isISOControl), detail);
  }

  @ParameterizedTest
  @CsvSource({
    "PASSED, PASSED, PASSED",
    "PASSED, FAILED, FAILED",
    "FAILED, PASSED, FAILED",
    "NOT_SHOWN, FAILED, FAILED",
    "FAILED, NOT_SHOWN, FAILED",
    "NOT_SHOWN, PASSED, NOT_SHOWN",
    "PASSED, NOT_SHOWN, NOT_SHOWN"
  })
  void of_two_verdicts_the_worse_one_counts(
      CheckOutcome first, CheckOutcome second, CheckOutcome both) {
    assertEquals(both, Judgement.both(new Verdict(first, "1"), new Verdict(second, "2")).outcome());
  }
}
