package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolResultFormat;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A result in protocols without a mark of errors: no success reads as a failure. */
@Tag("R195")
final class ToolResultTextTest {
  private static final ToolCall CALL = new ToolCall("c1", "f", Json.EMPTY_OBJECT);

  private static String text(ToolResult result) {
    return ToolResultText.of(result, ToolResultFormat.PLAIN);
  }

  private static String success(String output) {
    return text(ToolResult.success(CALL, Json.parse(output)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "3",
        "\"3\"",
        "[1.50]",
        "{}",
        "{\"errors\":1}",
        "{\"a\":{\"error\":1}}",
        "\"{\\\"error\\\":1}\"",
        "[{\"error\":1}]",
        "{\"error\":null,\"rows\":3}",
        "{\"output\":1,\"error\":2}"
      })
  void an_output_is_its_own_text(String output) {
    assertEquals(output, success(output));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":{\"message\":\"No.\"}}",
        "{\"error\":null}",
        "{\"error\":{\"message\":1.50,\"code\":9007199254740993}}",
        "{\"output\":{\"error\":{\"message\":\"No.\"}}}",
        "{\"output\":1}"
      })
  void an_output_that_looks_like_an_envelope_stands_in_one(String output) {
    assertEquals("{\"output\":" + output + "}", success(output));
  }

  @Test
  void a_failure_is_an_error_with_its_text_or_the_json_of_what_is_none() {
    assertEquals(
        "{\"error\":{\"message\":\"No \\\"x\\\".\"}}", text(ToolResult.failure(CALL, "No \"x\".")));
    assertEquals(
        "{\"error\":{\"message\":\"[1]\"}}",
        text(new ToolResult("c1", "f", Json.parse("[1]"), true)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "3", "\"3\"", "{}", "{\"error\":{\"message\":\"No.\"}}"})
  void in_the_envelope_format_every_success_is_an_output(String output) {
    ToolResult success = ToolResult.success(CALL, Json.parse(output));

    assertEquals(
        "{\"output\":" + output + "}", ToolResultText.of(success, ToolResultFormat.ENVELOPE));
  }

  @Test
  void in_the_envelope_format_a_failure_is_an_error() {
    assertEquals(
        "{\"error\":{\"message\":\"No.\"}}",
        ToolResultText.of(ToolResult.failure(CALL, "No."), ToolResultFormat.ENVELOPE));
  }

  @ParameterizedTest
  @EnumSource
  void no_two_results_have_one_text(ToolResultFormat format) {
    Map<String, ToolResult> seen = new HashMap<>();
    for (String text : List.of("No.", "{\"message\":\"No.\"}", "1")) {
      String quoted = Json.of(text).text();
      for (ToolResult result :
          List.of(
              ToolResult.failure(CALL, text),
              ToolResult.success(CALL, Json.of(text)),
              ToolResult.success(CALL, Json.parse("{\"error\":{\"message\":" + quoted + "}}")),
              ToolResult.success(
                  CALL, Json.parse("{\"output\":{\"error\":{\"message\":" + quoted + "}}}")))) {
        assertNull(seen.put(ToolResultText.of(result, format), result));
      }
    }
  }
}
