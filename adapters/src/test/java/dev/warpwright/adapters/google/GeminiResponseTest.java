package dev.warpwright.adapters.google;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.FinishReason.Kind;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole answers. */
final class GeminiResponseTest {
  private static final Failures FAILURES =
      new Failures(GeminiErrors.table("Gemini"), InstantSource.system(), Authorization.NONE);
  private static final HttpHeaders NO_HEADERS = HttpHeaders.of(Map.of(), (name, value) -> true);

  private static ModelResponse read(String body, Message... conversation) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    ModelCall call = ModelCall.builder(List.of(conversation)).build();
    return GeminiResponse.read(
        FAILURES, "g-3", call, new Answer(StrictJson.readDocument(bytes), bytes, NO_HEADERS));
  }

  private static ModelResponse parts(String parts, String reason) {
    return read(
        "{\"candidates\":[{\"content\":{\"parts\":[%s]},\"finishReason\":\"%s\"}]}"
            .formatted(parts, reason));
  }

  private static ProviderException failure(String body) {
    return assertThrows(ProviderException.class, () -> read(body));
  }

  private static ProviderState state(String data) {
    return ProviderState.of("gemini", "g-3", Json.parse(data));
  }

  @Test
  @Tag("FR-G05")
  @Tag("Y47")
  void an_answer_is_read_in_its_order_and_what_is_unknown_is_passed_over() {
    ModelResponse response =
        read(
            """
            {"candidates":[
              {"content":{"role":"model","parts":[
                 {"text":"Hm.","thought":true},
                 {"text":"Hm!","thought":true,"thoughtSignature":"t+/="},
                 {"text":"Look \\ud83c\\udf0d","thoughtSignature":"s0"},
                 {"functionCall":{"id":"c1","name":"f","args":{"a":1.50}},"thoughtSignature":"s1"},
                 {"functionCall":{"id":"c2","name":"g"}},
                 {"executableCode":{"language":"PYTHON","code":"1"}},
                 {"new":{"a":[1]}},{"text":""},{"text":"So."},7,
                 {"text":"","thoughtSignature":"end"}]},
               "finishReason":"STOP","index":0,"safetyRatings":[]},
              {"content":{"parts":[{"text":"Another."}]},"finishReason":"STOP","index":1}],
             "modelVersion":"g-3-001","responseId":"r1","new":1,
             "usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11}}
            """);
    assertEquals(
        List.of(
            state("{\"part\":{\"text\":\"Hm!\",\"thought\":true,\"thoughtSignature\":\"t+/=\"}}"),
            state("{\"before\":\"text 142e0d6d773031f8\",\"thoughtSignature\":\"s0\"}"),
            new Part.Text("Look 🌍"),
            state("{\"before\":\"call c1\",\"thoughtSignature\":\"s1\",\"issuedId\":true}"),
            new ToolCall("c1", "f", Json.parse("{\"a\":1.50}")),
            state("{\"before\":\"call c2\",\"issuedId\":true}"),
            new ToolCall("c2", "g", Json.EMPTY_OBJECT),
            state("{\"part\":{\"executableCode\":{\"language\":\"PYTHON\",\"code\":\"1\"}}}"),
            new Part.Text("So."),
            state("{\"part\":{\"text\":\"\",\"thoughtSignature\":\"end\"}}")),
        response.message().parts());
    assertEquals(new FinishReason(Kind.TOOL_CALLS, "STOP"), response.finishReason());
    assertEquals(Optional.of("r1"), response.requestId());
    assertEquals(TokenCount.reported(11), response.usage().total());
  }

  // --- calls -------------------------------------------------------------------------------------

  @Test
  @Tag("Y41")
  void a_call_without_an_id_gets_one_that_is_not_the_services_own() {
    String body =
        "{\"functionCall\":{\"name\":\"f\"}},{\"functionCall\":{\"id\":\"\",\"name\":\"f\"}}";
    List<Part> parts = parts(body, "STOP").message().parts();
    assertEquals(2, parts.size());
    ToolCall first = (ToolCall) parts.get(0);
    ToolCall second = (ToolCall) parts.get(1);
    assertNotEquals(first.id(), second.id());
    assertEquals(parts, parts(body, "STOP").message().parts());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}|{}",
        "null|{}",
        "\"\"|{}",
        "\"{\\\"a\\\":3}\"|{\"a\":3}",
        "{\"a\":9223372036854775817,\"b\":1234567890.123456789}"
            + "|{\"a\":9223372036854775817,\"b\":1234567890.123456789}"
      })
  @Tag("Y28")
  @Tag("Y31")
  void arguments_are_read_exactly_and_none_are_the_empty_object(String args, String expected) {
    ToolCall call =
        parts("{\"functionCall\":{\"name\":\"f\",\"args\":%s}}".formatted(args), "STOP")
            .message()
            .toolCalls()
            .getFirst();
    assertEquals(expected, call.input().text());
    assertTrue(call.malformed().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(strings = {"[1]", "7", "\"{\"", "{\"a\":1,\"a\":2}", "{\"b\":[{\"a\":1,\"a\":2}]}"})
  @Tag("Y29")
  void arguments_that_are_no_clear_object_make_the_call_malformed(String args) {
    ToolCall call =
        parts("{\"functionCall\":{\"name\":\"f\",\"args\":%s}}".formatted(args), "STOP")
            .message()
            .toolCalls()
            .getFirst();
    assertTrue(call.malformed().isPresent());
  }

  @Test
  void calls_without_a_name_or_with_one_id_break_the_protocol() {
    for (String calls :
        List.of(
            "{\"functionCall\":{\"id\":\"a\"}}",
            "{\"functionCall\":{\"id\":\"a\",\"name\":\"f\"}},{\"functionCall\":{\"id\":\"a\",\"name\":\"f\"}}")) {
      ProviderException failure = assertThrows(ProviderException.class, () -> parts(calls, "STOP"));
      assertEquals(ProviderException.Kind.PROTOCOL, failure.kind());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE"
      })
  @Tag("FR-G03")
  void a_call_that_went_wrong_is_an_error_and_no_call_is_handed_out(String reason) {
    ModelResponse response =
        parts("{\"text\":\"I pay.\"},{\"functionCall\":{\"name\":\"pay\",\"args\":{}}}", reason);
    assertEquals(new FinishReason(Kind.ERROR, reason), response.finishReason());
    assertEquals(List.of(), response.message().toolCalls());
  }

  // --- how it ends -------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "STOP, STOP",
    "MAX_TOKENS, LENGTH",
    "SAFETY, CONTENT_FILTER",
    "RECITATION, CONTENT_FILTER",
    "BLOCKLIST, CONTENT_FILTER",
    "PROHIBITED_CONTENT, CONTENT_FILTER",
    "SPII, CONTENT_FILTER",
    "LANGUAGE, OTHER",
    "OTHER, OTHER",
    "BRAND_NEW, OTHER"
  })
  @Tag("FR-Q17")
  @Tag("Y39")
  void finish_reasons_are_told_apart_also_of_an_empty_answer(String raw, Kind kind) {
    assertEquals(new FinishReason(kind, raw), parts("", raw).finishReason());
    ModelResponse bare = read("{\"candidates\":[{\"finishReason\":\"" + raw + "\"}]}");
    assertEquals(new FinishReason(kind, raw), bare.finishReason());
    assertEquals(List.of(), bare.message().parts());
  }

  @Test
  void calls_of_an_answer_that_was_cut_off_keep_its_reason() {
    assertEquals(
        Kind.LENGTH,
        parts("{\"functionCall\":{\"name\":\"f\"}}", "MAX_TOKENS").finishReason().kind());
  }

  @ParameterizedTest
  @ValueSource(strings = {"SAFETY", "OTHER", "BLOCKLIST", "BRAND_NEW"})
  @Tag("FR-G01")
  void a_blocked_prompt_is_an_answer_that_a_filter_cut_off_with_its_usage(String reason) {
    ModelResponse blocked =
        read(
            "{\"promptFeedback\":{\"blockReason\":\"%s\"},\"usageMetadata\":{\"promptTokenCount\":8}}"
                .formatted(reason));
    assertEquals(new FinishReason(Kind.CONTENT_FILTER, reason), blocked.finishReason());
    assertEquals(TokenCount.reported(8), blocked.usage().input());
    assertEquals(List.of(), blocked.message().parts());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"candidates\":[]}",
        "{\"candidates\":[{}]}",
        "{\"candidates\":[{\"content\":{}}],\"usageMetadata\":{\"promptTokenCount\":8}}",
        "{\"promptFeedback\":{}}",
        "[]"
      })
  void an_answer_without_a_candidate_and_a_reason_breaks_the_protocol(String body) {
    assertEquals(ProviderException.Kind.PROTOCOL, failure(body).kind());
  }

  @Test
  @Tag("Y36")
  void an_error_without_its_envelope_is_an_error() {
    ProviderException failure =
        failure("{\"code\":503,\"message\":\"Overloaded.\",\"status\":\"UNAVAILABLE\"}");
    assertEquals(ProviderException.Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(503, failure.status());
  }

  // --- usage -------------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        // prompt, cached, tools, candidates, thoughts, total: input, output
        "10, 4, -, 5, -, 15, 10, 5",
        "10, 4, -, 5, 3, 18, 10, 8",
        "10, -, -, 136, 31, 146, 10, 136",
        "10, -, -, 1944, 1360, 1954, 10, 1944",
        "10, -, -, 5, 3, -, 10, 8",
        "10, -, -, 5, 3, 99, 10, 8",
        "10, -, -, -, 7, 17, 10, 7",
        "10, -, 20, 5, 3, 38, 30, 8",
        "10, -, -, -, -, 10, 10, -",
        "-, -, -, 5, 3, -, -, 8"
      })
  @Tag("FR-G09")
  @Tag("FR-M09")
  @Tag("Y46")
  void the_total_judges_whether_thoughts_are_inside(
      Long prompt,
      Long cached,
      Long ofTools,
      Long candidates,
      Long thoughts,
      Long total,
      Long input,
      Long output) {
    StringBuilder members = new StringBuilder("{\"x\":0");
    put("promptTokenCount", prompt, members);
    put("cachedContentTokenCount", cached, members);
    put("toolUsePromptTokenCount", ofTools, members);
    put("candidatesTokenCount", candidates, members);
    put("thoughtsTokenCount", thoughts, members);
    put("totalTokenCount", total, members);
    Usage usage = GeminiUsage.read(StrictJson.readDocument(members + "}"));
    requireCount(input, usage.input());
    requireCount(cached, usage.cachedInput());
    requireCount(output, usage.output());
    requireCount(thoughts, usage.reasoning());
    requireCount(total, usage.total());
    assertFalse(usage.cacheWrite().isPresent());
    boolean summed = candidates != null && thoughts != null && output > candidates;
    assertEquals(summed, usage.output().provenance() == Provenance.DERIVED && candidates != null);
  }

  private static void put(String name, Long count, StringBuilder members) {
    if (count != null) {
      members.append(",\"").append(name).append("\":").append(count);
    }
  }

  private static void requireCount(Long expected, TokenCount count) {
    assertEquals(expected != null, count.isPresent());
    if (expected != null) {
      assertEquals(expected, count.tokens());
    }
  }
}
