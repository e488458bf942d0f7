package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Ollama's chat on the server's side. */
final class OllamaServerTest {
  private static final OllamaApi API = new OllamaApi();

  private static ModelRequest read(String members) throws RefusedException {
    String body =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]" + members + "}";
    return API.read(
        new ServerRequest("POST", "/api/chat", 1, Map.of())
            .withBody(body.getBytes(StandardCharsets.UTF_8)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ",\"model\":\"\"",
        ",\"model\":null",
        ",\"stream\":\"yes\"",
        ",\"options\":[]",
        ",\"think\":\"minimal\"",
        ",\"think\":1",
        ",\"format\":\"xml\"",
        ",\"messages\":[]",
        ",\"messages\":[{\"role\":\"king\",\"content\":\"x\"}]",
        ",\"messages\":[{\"role\":\"user\"}]",
        ",\"messages\":[{\"role\":\"user\",\"content\":\"x\",\"images\":[\"https://x\"]}]",
        ",\"messages\":[{\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":\"a\"}]",
        ",\"messages\":[{\"role\":\"assistant\",\"content\":\"\",\"thinking\":{}}]",
        ",\"messages\":[{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\","
            + "\"function\":{\"name\":\"f\",\"arguments\":{}}}]}]",
        ",\"messages\":[{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\","
            + "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}]",
        ",\"tools\":[{\"type\":\"tool\"}]",
        ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
            + "\"parameters\":{\"type\":\"object\",\"minProperties\":1}}}]",
        ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":"
            + "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}}}}}]"
      })
  void what_the_service_refuses_or_loses_is_refused(String members) {
    RefusedException refused = assertThrows(RefusedException.class, () -> read(members));
    assertEquals(400, refused.status());
  }

  @Test
  void a_request_that_says_nothing_of_a_stream_wants_one() throws Exception {
    assertTrue(read("").form().stream());
    assertEquals(false, read(",\"stream\":false").form().stream());
  }

  @Test
  void a_stream_is_lines_each_with_a_piece_or_a_whole_call_and_the_last_with_the_counters()
      throws Exception {
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": {}, "answer": {
                "thinking": "Hm.", "text": "Once upon", "usage": { "input": 7, "output": 4 },
                "tools": [ { "name": "look", "input": { "a": 1.50 } } ] } } ] }
            """);
    ModelRequest asked = read("");
    Said said = Said.of(script.answer(asked.conversation()).orElseThrow().answer(), asked);
    List<String> lines = new ArrayList<>();
    API.stream(said, (mark, name, data) -> lines.add(data));
    JsonNode call = StrictJson.read(lines.get(3)).at("/message/tool_calls/0/function");
    assertEquals("{\"index\":0,\"name\":\"look\",\"arguments\":{\"a\":1.50}}", call.toString());
    assertEquals(
        List.of("Hm.", "", "", "", ""),
        lines.stream()
            .map(line -> StrictJson.read(line).at("/message/thinking").asString(""))
            .toList());
    assertEquals(
        List.of("", "Once ", "upon", "", ""),
        lines.stream().map(l -> StrictJson.read(l).at("/message/content").asString("")).toList());
    assertTrue(
        lines
            .getLast()
            .endsWith(
                "\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":7,\"eval_count\":4}"),
        lines.getLast());
  }
}
