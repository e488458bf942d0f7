package dev.warpwright.adapters;

import static dev.warpwright.adapters.Dialect.plain;
import static dev.warpwright.adapters.FaultMatrix.bytes;
import static dev.warpwright.adapters.FaultMatrix.json;
import static dev.warpwright.adapters.FaultMatrix.said;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.Dialect.Event;
import dev.warpwright.adapters.Dialect.Said;
import dev.warpwright.adapters.FaultMatrix.Cell;
import dev.warpwright.adapters.FaultMatrix.End;
import dev.warpwright.adapters.FaultMatrix.Seen;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.testing.LeakCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** However a provider fails, a gateway tries again, goes on or ends as the kind of failure says. */
@Timeout(120)
final class FailureMatrixTest {
  private static final Said TEXT = Said.text("Hello ", "wor", "ld.");

  @RegisterExtension final LeakCheck leaks = new LeakCheck();
  private final FaultMatrix matrix = new FaultMatrix(leaks);

  /** An error event as the provider of the protocol sends it. */
  private static Event error(Cell cell, String code, String message) {
    String error =
        switch (cell.dialect()) {
          case CHAT -> "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}";
          case RESPONSES ->
              "{\"type\":\"error\",\"sequence_number\":2,\"code\":\"%s\",\"message\":\"%s\"}";
          case MESSAGES -> "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"%s\"}}";
          case GEMINI -> "{\"error\":{\"status\":\"%s\",\"message\":\"%s\"}}";
          case OLLAMA -> "{\"code\":\"%s\",\"error\":\"%s\"}";
          case BEDROCK -> "{\"__type\":\"%s\",\"message\":\"%s\"}";
        };
    if (cell.dialect() == Dialect.BEDROCK) {
      return Dialect.exception(code, error.formatted(code, message));
    }
    boolean unnamed = cell.dialect() == Dialect.CHAT || cell.dialect() == Dialect.GEMINI;
    return cell.dialect().event(unnamed ? "" : "error", error.formatted(code, message));
  }

  /** The error in front of everything, behind the preamble, and behind output. */
  private void everywhere(Cell cell, Event error, Kind kind, End before) {
    if (!cell.isStream()) {
      matrix.run(cell, json(error.data()), before);
      return;
    }
    matrix.run(cell, bytes(error.plain()), before);
    matrix.run(
        cell,
        bytes(plain(cell.dialect().preamble(TEXT)) + cell.dialect().alive() + error.plain()),
        before);
    List<Event> opening = cell.dialect().opening(TEXT);
    matrix.run(cell, bytes(plain(opening) + error.plain()), new End.Broken(TEXT.text(), kind));
  }

  @EachCell
  @Tag("FR-X01")
  @Tag("R90")
  @Tag("R139")
  @Tag("R141")
  void an_error_in_a_success_is_judged_by_its_code_and_ends_a_stream_that_has_begun(Cell cell) {
    Map.of(
            "overloaded_error", 529,
            "server_is_overloaded", 503,
            "rate_limit_error", 429,
            "api_error", 500)
        .forEach(
            (code, status) ->
                everywhere(
                    cell,
                    error(cell, code, "Overloaded"),
                    Kind.PROVIDER_EVENT,
                    new End.RetriedThenFallback(Kind.PROVIDER_EVENT, status)));
    Map.of(
            "invalid_request_error", 400,
            "insufficient_quota", 402,
            "permission_error", 403)
        .forEach(
            (code, status) ->
                everywhere(
                    cell,
                    error(cell, code, "503 Service Unavailable, please retry"),
                    Kind.PROVIDER_EVENT,
                    new End.FallbackAtOnce(Kind.PROVIDER_EVENT, status)));
    everywhere(
        cell,
        error(cell, "never_heard_of", "503 Service Unavailable, please retry"),
        Kind.PROVIDER_EVENT,
        unknown(cell));
  }

  /** The end of an error without any status. */
  private static End unknown(Cell cell) {
    int status = cell.dialect().unknownStatus();
    return status == 0
        ? new End.FallbackAtOnce(Kind.PROVIDER_EVENT, 0)
        : new End.RetriedThenFallback(Kind.PROVIDER_EVENT, status);
  }

  @EachCell
  @Tag("FR-X03")
  void an_error_envelope_is_never_an_empty_success(Cell cell) {
    String envelope = "{\"error\":{\"message\":\"quota exceeded\"}}";
    End end = unknown(cell);
    if (!cell.isStream()) {
      matrix.run(cell, json(envelope), end);
      return;
    }
    String terminator = cell.dialect().ending(TEXT).getLast().plain();
    String error = cell.dialect().plain(envelope);
    matrix.run(cell, bytes(error + terminator), end);
    matrix.run(cell, bytes(error + cell.dialect().plain("[DONE]")), end);
    matrix.run(cell, bytes(envelope), end);
    matrix.run(
        cell,
        bytes(plain(cell.dialect().opening(TEXT)) + error + terminator),
        new End.Broken(TEXT.text(), Kind.PROVIDER_EVENT));
  }

  @EachCell
  @Tag("FR-X05")
  void a_rate_limit_in_a_success_has_its_reset_time_as_retry_after(Cell cell) {
    String form =
        "{\"error\":{\"code\":429,\"message\":\"Rate limit exceeded\",\"metadata\":{\"headers\":"
            + "{\"X-RateLimit-Reset\":\"%s\"}}}}";
    everywhere(
        cell,
        cell.dialect().event("", form.formatted("1741305600000")), // is over
        Kind.PROVIDER_EVENT,
        new End.RetriedThenFallback(Kind.PROVIDER_EVENT, 429));
    everywhere(
        cell,
        cell.dialect()
            .event("", form.formatted("4102444800000")), // is too far away to be waited for
        Kind.PROVIDER_EVENT,
        new End.FallbackAtOnce(Kind.PROVIDER_EVENT, 429));
  }

  @EachCell
  @Tag("FR-X07")
  void an_error_event_keeps_its_code(Cell cell) {
    Event error =
        cell.dialect()
            .event(
                "error",
                "{\"type\":\"error\",\"sequence_number\":2,\"error\":"
                    + "{\"code\":\"server_is_overloaded\"}}");
    everywhere(
        cell, error, Kind.PROVIDER_EVENT, new End.RetriedThenFallback(Kind.PROVIDER_EVENT, 503));
    if (cell.isStream()) {
      Seen seen =
          matrix.run(
              cell,
              bytes(plain(cell.dialect().opening(TEXT)) + error.plain()),
              new End.Broken(TEXT.text(), Kind.PROVIDER_EVENT));
      assertEquals(
          Optional.of("server_is_overloaded"),
          ((ProviderException) seen.failed().getCause()).code());
    }
  }

  @EachCell
  @Tag("FR-X09")
  @Tag("R92")
  void an_input_that_is_too_long_is_no_failure_of_the_server(Cell cell) {
    String words =
        switch (cell.dialect()) {
          case CHAT, RESPONSES -> "Your input exceeds the context window of this model";
          case MESSAGES -> "prompt is too long: 208310 tokens > 200000 maximum";
          case GEMINI ->
              "The input token count (208310) exceeds the maximum number of tokens allowed"
                  + " (200000).";
          case OLLAMA -> "the input length exceeds the context length";
          case BEDROCK -> "Input is too long for requested model.";
        };
    String code = cell.dialect() == Dialect.MESSAGES ? "api_error" : "server_error";
    End atOnce = new End.FallbackAtOnce(Kind.CONTEXT_LENGTH, 500);
    everywhere(cell, error(cell, code, words), Kind.CONTEXT_LENGTH, atOnce);
    if (cell.dialect() == Dialect.RESPONSES) {
      String failed =
          "{\"id\":\"r1\",\"status\":\"failed\",\"output\":[],"
              + "\"error\":{\"code\":\"server_error\",\"message\":\""
              + words
              + "\"}}";
      matrix.run(
          cell,
          cell.isStream()
              ? bytes(
                  plain(cell.dialect().preamble(TEXT))
                      + Dialect.typed("response.failed", "\"response\":" + failed).plain())
              : json(failed),
          atOnce);
    }
    matrix.run(cell, "\"status\": 413", new End.FallbackAtOnce(Kind.CONTEXT_LENGTH, 413));
  }

  @EachCell
  @Tag("R144")
  void a_finish_that_reports_an_error_is_a_failure(Cell cell) {
    Said empty = new Said(List.of(), List.of(), "error", 7, 0);
    Seen seen = matrix.run(cell, said(cell, empty), new End.FallbackAtOnce(Kind.PROVIDER_EVENT, 0));
    assertEquals(FinishReason.Kind.STOP, seen.answered().finishReason().kind());
    if (cell.isStream()) {
      matrix.run(
          cell, said(cell, TEXT.finish("error")), new End.Broken(TEXT.text(), Kind.PROVIDER_EVENT));
    }
  }

  @EachCell
  @Tag("R87")
  @Tag("R88")
  @Tag("FR-E01")
  @Tag("FR-F05")
  @Tag("FR-F07")
  @Tag("FR-OB3")
  void a_status_is_retried_if_it_may_pass_and_no_tool_runs_again(Cell cell) {
    for (int status : new int[] {408, 429, 500, 503, 529}) {
      matrix.run(
          cell, "\"status\": " + status, new End.RetriedThenFallback(Kind.HTTP_STATUS, status));
    }
    for (int status : new int[] {400, 401, 403, 404, 422}) {
      matrix.run(cell, "\"status\": " + status, new End.FallbackAtOnce(Kind.HTTP_STATUS, status));
    }
  }

  @EachCell
  @Tag("R91")
  @Tag("FR-F03")
  void a_connection_that_breaks_before_any_output_is_tried_again(Cell cell) {
    End read = new End.RetriedThenFallback(Kind.READ, 0);
    matrix.run(cell, "\"reset\": \"BEFORE_HEADERS\"", read);
    matrix.run(cell, "\"reset\": \"AFTER_HEADERS\"", read);
    for (String end : List.of("BETWEEN_CHUNKS", "IN_CHUNK", "RESET", "HALF_CLOSED")) {
      matrix.run(cell, cut("\"chunks\": 0", end), read);
    }
    if (!cell.isStream()) {
      matrix.run(cell, "\"reset\": \"IN_BODY\"", read);
      for (String end : List.of("BETWEEN_CHUNKS", "IN_CHUNK", "RESET", "HALF_CLOSED")) {
        matrix.run(cell, cut("\"bytes\": 40", end), read);
      }
    }
  }

  private static String cut(String place, String end) {
    return "\"cut\": { %s, \"end\": \"%s\" }".formatted(place, end);
  }

  @EachCell
  @Tag("R93")
  @Tag("R138")
  @Tag("FR-F03")
  void what_is_no_answer_is_not_asked_for_again(Cell cell) {
    End protocol = new End.FallbackAtOnce(Kind.PROTOCOL, 0);
    matrix.run(cell, "\"garbage\": \"BYTES\"", protocol);
    matrix.run(cell, "\"garbage\": \"BODY\"", protocol);
    if (!cell.isStream()) {
      matrix.run(cell, cut("\"bytes\": 40", "CLEAN"), protocol);
      matrix.run(cell, json("{}"), protocol);
      return;
    }
    matrix.run(cell, cut("\"chunks\": 0", "CLEAN"), protocol);
    matrix.run(cell, cut("\"events\": 0", "CLEAN"), protocol);
    matrix.run(cell, bytes(cell.dialect().plain("[DONE]")), protocol);
    matrix.run(cell, bytes(cell.dialect().plain("{\"unclosed")), protocol);
    matrix.run(
        cell,
        bytes(plain(cell.dialect().preamble(TEXT)) + cell.dialect().plain("[DONE]")),
        protocol);
  }

  @EachStreamCell
  @Tag("FR-F01")
  @Tag("R136")
  @Tag("R141")
  @Tag("R142")
  @Tag("R143")
  @Tag("R387")
  void a_stream_that_breaks_behind_output_keeps_what_came_and_nobody_else_goes_on(Cell cell) {
    for (String end : List.of("BETWEEN_CHUNKS", "IN_CHUNK", "RESET", "HALF_CLOSED")) {
      matrix.run(cell, cut("\"chunks\": 1", end), new End.Broken("All ", Kind.READ));
      matrix.run(
          cell, cut("\"before\": \"FINISH\"", end), new End.Broken(FaultMatrix.PRIMARY, Kind.READ));
    }
    matrix.run(cell, cut("\"chunks\": 1", "CLEAN"), new End.Broken("All ", Kind.PROTOCOL));
    matrix.run(
        cell,
        cut("\"before\": \"FINISH\"", "CLEAN"),
        new End.Broken(FaultMatrix.PRIMARY, Kind.PROTOCOL));
    String opening = plain(cell.dialect().opening(TEXT));
    for (String more : List.of("[DONE]", "{\"unclosed", "nonsense", "")) {
      String end = more.isEmpty() ? "" : cell.dialect().plain(more);
      matrix.run(cell, bytes(opening + end), new End.Broken(TEXT.text(), Kind.PROTOCOL));
    }
  }

  @EachStreamCell
  @Tag("Y49")
  void a_stream_may_end_behind_its_finish_signal_without_the_terminator(Cell cell) {
    List<Event> events = new ArrayList<>(cell.dialect().events(TEXT));
    boolean apart = cell.dialect() == Dialect.CHAT || cell.dialect() == Dialect.MESSAGES;
    if (apart) { // the signal and the terminator
      events.removeLast();
    }
    matrix.run(cell, bytes(plain(events)), FaultMatrix.succeeds(TEXT));
    matrix.run(
        cell, bytes(plain(events) + cell.dialect().plain("[DONE]")), FaultMatrix.succeeds(TEXT));
  }

  @EachCell
  @Tag("R145")
  void an_answer_without_anything_is_an_answer(Cell cell) {
    Said empty = new Said(List.of(), List.of(), Dialect.STOP, 7, 1);
    Seen seen = matrix.run(cell, said(cell, empty), FaultMatrix.succeeds(empty));
    assertEquals("", seen.answered().text());
  }

  @EachCell
  @Tag("FR-P01")
  void nothing_is_offered_on_cleartext_but_http_1_1(Cell cell) {
    Seen seen =
        matrix.run(
            cell,
            "\"slowHeaders\": \"PT0S\"",
            FaultMatrix.succeeds(
                new Said(List.of(FaultMatrix.PRIMARY), List.of(), Dialect.STOP, 7, 4)));
    seen.primary()
        .forEach(
            exchange -> {
              assertTrue(!exchange.headers().containsKey("upgrade"));
              assertTrue(!exchange.headers().containsKey("http2-settings"));
              assertTrue(!exchange.headers().containsKey("connection"));
            });
  }
}
