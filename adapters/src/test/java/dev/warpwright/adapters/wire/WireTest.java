package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.wire.Counters.Reasoning;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

final class WireTest {
  @ParameterizedTest
  @CsvSource({
    "STOP, stop end_turn stop_sequence completed STOP",
    "LENGTH, length max_tokens MAX_TOKENS max_output_tokens model_length"
        + " model_context_window_exceeded",
    "TOOL_CALLS, tool_calls tool_use function_call",
    "CONTENT_FILTER, content_filter content_filtered guardrail_intervened sensitive SAFETY"
        + " RECITATION BLOCKLIST PROHIBITED_CONTENT SPII",
    "REFUSAL, refusal",
    "PAUSED, pause_turn",
    "ERROR, error failed insufficient_system_resource network_error MALFORMED_FUNCTION_CALL"
        + " UNEXPECTED_TOOL_CALL",
    "OTHER, eos tool_call stop_ _ LENGTHY null"
  })
  @Tag("Y39")
  void a_finish_reason_is_read_by_the_table_whatever_its_case(
      FinishReason.Kind kind, String words) {
    for (String raw : words.split(" ", -1)) {
      for (String word : List.of(raw, raw.toLowerCase(Locale.ROOT), raw.toUpperCase(Locale.ROOT))) {
        assertEquals(new FinishReason(kind, word), FinishReasons.read(word));
      }
    }
  }

  @Test
  @Tag("Y39")
  void no_finish_reason_is_no_reason_and_allows_no_tools() {
    assertEquals(new FinishReason(FinishReason.Kind.OTHER, ""), FinishReasons.read(null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-1",
        "1.0",
        "0.5",
        "\"12\"",
        "null",
        "true",
        "{}",
        "[1]",
        "9223372036854775808",
        "9223372036854775807",
        "1e3"
      })
  void a_counter_that_is_no_reasonable_integer_is_absent(String value) {
    assertEquals(TokenCount.ABSENT, Counters.read(StrictJson.read(value)));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 4_294_967_296L})
  void a_counter_is_reported_zero_included(long value) {
    assertEquals(TokenCount.reported(value), Counters.read(StrictJson.read(Long.toString(value))));
  }

  @ParameterizedTest
  @CsvSource({
    "8, 1944, 1360, 1952, INSIDE",
    "8, 136, 31, 144, INSIDE",
    "8, 136, 31, 175, OUTSIDE",
    "8, 136, 0, 144, INSIDE",
    "8, 136, 31, 150, MISMATCH",
    "8, 136, , 175, MISMATCH",
    "8, 136, 31, , UNKNOWN",
    ", 136, 31, 175, UNKNOWN",
    "8, , 31, 39, UNKNOWN"
  })
  @Tag("Y46")
  @Tag("FR-M09")
  void the_total_judges_where_reasoning_stands(
      Long input, Long output, Long reasoning, Long total, Reasoning place) {
    assertEquals(
        place, Counters.judge(count(input), count(output), count(reasoning), count(total)));
  }

  private static TokenCount count(Long tokens) {
    return tokens == null ? TokenCount.ABSENT : TokenCount.reported(tokens);
  }

  private static String id(List<Message> conversation, String answer, int ordinal) {
    return new CallIds(conversation, answer.getBytes(StandardCharsets.UTF_8)).id(ordinal);
  }

  @Test
  @Tag("Y41")
  void a_synthetic_id_is_deterministic_and_differs_by_call_step_and_answer() {
    List<Message> first = List.of(Message.user("a"));
    String id = id(first, "{}", 0);
    assertEquals(id, id(List.of(Message.user("a")), "{}", 0));
    assertNotEquals(id, id(first, "{}", 1));
    assertNotEquals(id, id(first, "{ }", 0));
    List<Message> second =
        List.of(
            Message.user("a"),
            new Message(Role.ASSISTANT, List.of(new ToolCall(id, "f", Json.EMPTY_OBJECT))),
            Message.user("b"));
    assertNotEquals(id, id(second, "{}", 0));
    assertTrue(id.matches("[A-Za-z0-9_]{1,40}"), id);
    assertTrue(id(first, "{}", 127).matches("[A-Za-z0-9_]{1,40}"));
  }

  @Test
  @Tag("Y45")
  void a_counter_that_is_reported_again_takes_the_place_of_the_earlier_one() {
    ObjectNode counters = StrictJson.mapper().createObjectNode();
    for (String report :
        List.of(
            "{\"in\":1,\"out\":1,\"details\":{\"cached\":4,\"new\":1},\"odd\":5}",
            "null",
            "{\"in\":null,\"out\":7,\"details\":{\"new\":2},\"odd\":{\"x\":1}}",
            "{\"details\":null,\"odd\":{\"y\":2}}")) {
      Counters.update(counters, StrictJson.readDocument(report));
    }
    assertEquals(
        "{\"in\":1,\"out\":7,\"details\":{\"cached\":4,\"new\":2},\"odd\":{\"x\":1,\"y\":2}}",
        counters.toString());
    JsonNode report = StrictJson.readDocument("{\"fresh\":{\"a\":1}}");
    Counters.update(counters, report);
    Counters.update(counters, StrictJson.readDocument("{\"fresh\":{\"a\":2}}"));
    assertEquals("{\"fresh\":{\"a\":1}}", report.toString(), "a report is not changed");
  }
}
