package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.bedrock.Bedrock;
import dev.warpwright.adapters.wire.BinaryEventReader;
import dev.warpwright.adapters.wire.Frame;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The server in Bedrock's protocol: its bytes, and what it refuses as the real one does. */
@Tag("R379")
@Timeout(30)
class ConverseServerTest {
  private static final Script SCRIPT =
      Script.parse(
          """
          { "rules": [
            { "when": { "turn": 0, "user": "order (?<order>\\\\w+)" },
              "answer": { "thinking": "Order ${order}?", "text": "Wait.",
                          "tools": [ { "name": "lookup", "input": { "id": "${order}" } } ],
                          "usage": { "input": 10, "output": 5, "cachedInput": 4,
                                     "cacheWrite": 2 } } },
            { "when": { "result": { "tool": "lookup", "error": false,
                                    "output": "total\\":(?<total>[0-9.]+)" } },
              "answer": { "text": "${total} paid." } },
            { "when": { "result": { "error": true, "output": "(?<why>g\\\\w+)" } },
              "answer": { "text": "It is ${why}." } },
            { "when": { "system": "^Be kind\\\\.\\\\nBe brief\\\\.$" },
              "answer": { "text": "Dear." } },
            { "when": { "user": "Hello" }, "answer": { "text": "Hello." } } ],
            "faults": [
              { "when": { "user": "^429" }, "status": 429 },
              { "when": { "user": "^529" }, "status": 529 },
              { "when": { "user": "^exception" }, "errorEvent": {
                  "code": "throttlingException", "message": "Slow down." } } ] }
          """);
  private static final ToolSpec LOOKUP =
      new ToolSpec("lookup", "Looks up.", Json.parse("{\"type\":\"object\"}"));
  private static final String HELLO = "{\"role\":\"user\",\"content\":[{\"text\":\"Hello\"}]}";
  private static final String CONVERSE = "/v1/model/m-1/converse";

  private static RawClient.Response post(String path, String body) throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      return client.postTo(path, body).read();
    }
  }

  private static String request(String messages, String more) {
    return "{\"messages\":[" + messages + "]" + more + "}";
  }

  private static String ask(String user) {
    return request(HELLO.replace("Hello", user), "");
  }

  private static JsonNode answer(String body) throws IOException {
    return StrictJson.read(post(CONVERSE, body).body());
  }

  // --- answers
  // ------------------------------------------------------------------------------------

  @Test
  void an_answer_has_the_services_form() throws IOException {
    JsonNode answer = answer(ask("order A17"));
    assertEquals(
        "[{\"reasoningContent\":{\"reasoningText\":{\"text\":\"Order A17?\",\"signature\":%s}}},{\"text\":\"Wait.\"},"
                .formatted(
                    answer.at("/output/message/content/0/reasoningContent/reasoningText/signature"))
            + "{\"toolUse\":{\"toolUseId\":%s,\"name\":\"lookup\",\"input\":{\"id\":\"A17\"}}}]"
                .formatted(answer.at("/output/message/content/2/toolUse/toolUseId")),
        StrictJson.write(answer.at("/output/message/content")));
    assertEquals("tool_use", answer.path("stopReason").stringValue());
    assertEquals(
        "{\"inputTokens\":4,\"outputTokens\":5,\"totalTokens\":15,\"cacheReadInputTokens\":4,"
            + "\"cacheWriteInputTokens\":2}",
        StrictJson.write(answer.path("usage")));
  }

  @Test
  void a_stream_is_messages_with_names_and_ends_with_the_counters() throws IOException {
    List<String> frames = new ArrayList<>();
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      client.postTo("/v1/model/m-1/converse-stream", ask("order A17"));
      List<String> head = client.readHead();
      assertTrue(head.contains("Content-Type: application/vnd.amazon.eventstream"), head::toString);
      assertTrue(head.contains("x-amzn-RequestId: req_1"), head::toString);
      BinaryEventReader reader = new BinaryEventReader();
      for (byte[] chunk = client.readChunk(); chunk.length > 0; chunk = client.readChunk()) {
        reader.feed(chunk, chunk.length);
        for (Frame frame = reader.next(); frame != null; frame = reader.next()) {
          frames.add(frame.name());
        }
      }
    }
    assertEquals(
        List.of(
            "messageStart",
            "contentBlockDelta",
            "contentBlockDelta",
            "contentBlockDelta",
            "contentBlockStop",
            "contentBlockDelta",
            "contentBlockStop",
            "contentBlockStart"),
        frames.subList(0, 8));
    assertEquals(
        List.of("contentBlockStop", "messageStop", "metadata"),
        frames.subList(frames.size() - 3, frames.size()));
  }

  @Test
  void the_model_stands_in_the_path() throws IOException {
    String body = ask("Hello");
    assertEquals(
        "HTTP/1.1 200 OK", post("/v1/model/arn%3Aaws%3Abedrock%2Fx/converse", body).status());
    for (String path :
        List.of("/v1/model/a/b/converse", "/v1/model//converse", "/v1/converse", "/model/x")) {
      assertEquals("HTTP/1.1 404 Not Found", post(path, body).status(), path);
    }
  }

  @ParameterizedTest
  @CsvSource({"429, ThrottlingException", "529, ''"})
  void an_error_has_its_type_in_a_header(int status, String type) throws IOException {
    RawClient.Response response = post(CONVERSE, ask(status + ""));
    assertEquals(
        "{\"message\":\"The script answers with status " + status + ".\"}", response.body());
    String expected = "x-amzn-ErrorType: " + type + ":http";
    assertEquals(
        !type.isEmpty(),
        response.head().stream().anyMatch(field -> field.startsWith(expected)),
        response.head()::toString);
  }

  @Test
  void a_key_is_a_bearer_token() throws IOException {
    try (ScriptedServer server = ScriptedServer.builder(SCRIPT).requireKey("k").start()) {
      try (RawClient client = new RawClient(server)) {
        RawClient.Response refused = client.postTo(CONVERSE, ask("Hello")).read();
        assertEquals("HTTP/1.1 403 Forbidden", refused.status());
      }
      try (RawClient client = new RawClient(server)) {
        assertEquals(
            "HTTP/1.1 200 OK",
            client.postTo(CONVERSE, ask("Hello"), "Authorization: Bearer k").read().status());
      }
    }
  }

  // --- what it refuses
  // ----------------------------------------------------------------------------

  private static final String ASKS =
      HELLO
          + ",{\"role\":\"assistant\",\"content\":[{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":"
          + "\"f\",\"input\":{}}}]}";
  private static final String TOOLS =
      ",\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"f\",\"inputSchema\":{\"json\":"
          + "{\"type\":\"object\"}}}}]}";

  private static String result(String members) {
    return ",{\"role\":\"user\",\"content\":[{\"toolResult\":{" + members + "}}]}";
  }

  private static final String FOUND =
      "\"toolUseId\":\"t1\",\"content\":[{\"text\":\"1\"}],\"status\":\"success\"";

  private static void assertRefused(String body, String message) throws IOException {
    RawClient.Response response = post(CONVERSE, body);
    assertEquals("HTTP/1.1 400 Bad Request", response.status(), response.body());
    String text = StrictJson.read(response.body()).path("message").stringValue();
    assertTrue(text.contains(message), text);
  }

  @Test
  void what_it_takes() throws IOException {
    for (String body :
        List.of(
            request(ASKS + result(FOUND), TOOLS),
            request(ASKS + result(FOUND.replace("success", "error")), TOOLS),
            request(ASKS + result("\"toolUseId\":\"t1\",\"content\":[{\"json\":{}}]"), TOOLS))) {
      assertEquals("HTTP/1.1 200 OK", post(CONVERSE, body).status());
    }
    assertEquals(
        "Dear.",
        answer(request(HELLO, ",\"system\":[{\"text\":\"Be kind.\"},{\"text\":\"Be brief.\"}]"))
            .at("/output/message/content/0/text")
            .stringValue());
  }

  @Test
  void histories_that_break_the_rules_are_refused() throws IOException {
    assertRefused(request(ASKS + result(FOUND), ""), "toolConfig field must be defined");
    assertRefused(request(ASKS, TOOLS), "Expected toolResult");
    assertRefused(request(ASKS + "," + HELLO, TOOLS), "Expected toolResult");
    assertRefused(request(HELLO + "," + HELLO, ""), "alternate");
    assertRefused(request(HELLO.replace("user", "assistant"), ""), "alternate");
    assertRefused(request(HELLO.replace("Hello", " "), ""), "is blank");
    assertRefused(request("{\"role\":\"user\",\"content\":[]}", ""), "empty");
    assertRefused(request(ASKS.replace("t1", "a.b") + result(FOUND), TOOLS), "must match");
    assertRefused(request(ASKS.replace("\"f\"", "\"f g\"") + result(FOUND), TOOLS), "must match");
    assertRefused(request(ASKS + result(FOUND.replace("t1", "t2")), TOOLS), "exceeds");
    assertRefused(request(ASKS + result(FOUND.replace("success", "x")), TOOLS), "status");
    assertRefused(
        request(ASKS + result("\"toolUseId\":\"t1\",\"content\":[{\"json\":[]}]"), TOOLS),
        "json object");
    assertRefused(
        request(HELLO.replace("{\"text\"", "{\"image\":{},\"text\""), ""), "exactly one member");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ",\"stream\":true",
        ",\"model\":\"m\"",
        ",\"inferenceConfig\":{\"maxTokens\":0}",
        ",\"inferenceConfig\":{\"topK\":1}",
        ",\"system\":[{\"text\":\" \"}]",
        ",\"toolConfig\":{\"tools\":[]}",
        ",\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"f\",\"description\":\"\",\"inputSchema\":{\"json\":{\"type\":\"object\"}}}}]}",
        ",\"additionalModelRequestFields\":{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":9}}",
        ",\"outputConfig\":{\"textFormat\":{\"type\":\"json_schema\",\"structure\":{\"jsonSchema\":{\"schema\":\"no"
            + " json\"}}}}",
        ",\"outputConfig\":{\"textFormat\":{\"type\":\"json_schema\",\"structure\":{\"jsonSchema\":{\"schema\":\"{}\"}}}}"
      })
  void members_that_are_unknown_or_wrong_are_refused(String more) throws IOException {
    assertRefused(request(HELLO, more), "");
  }

  @Test
  void reasoning_that_is_not_as_it_was_is_refused() throws IOException {
    String forged =
        HELLO
            + ",{\"role\":\"assistant\",\"content\":[{\"reasoningContent\":{\"reasoningText\":"
            + "{\"text\":\"x\",\"signature\":\"y\"}}},{\"text\":\"a\"}]},"
            + HELLO;
    assertRefused(request(forged, ""), "Invalid `signature`");
  }

  // --- with the adapter
  // ---------------------------------------------------------------------------

  private static ModelCall.Builder call(Message... messages) {
    return ModelCall.builder(List.of(messages));
  }

  @Test
  @Tag("FR-A07")
  @Tag("Y50")
  void a_tool_round_with_reasoning_goes_on_also_when_no_tool_is_offered_any_more()
      throws Exception {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        ProviderAdapter adapter = Bedrock.builder("us-east-1").baseUrl(server.uri()).build()) {
      var model = adapter.model("us.anthropic.claude-x-v1:0");
      Message question = Message.user("order A17");
      ModelResponse asked =
          model.generate(
              call(question)
                  .tools(List.of(LOOKUP))
                  .reasoning(Optional.of(Reasoning.budget(2_000)))
                  .build());
      ToolCall called = asked.message().toolCalls().getFirst();
      Message[] found = {
        question,
        asked.message(),
        Message.tool(List.of(ToolResult.success(called, Json.parse("{\"total\":12.50}"))))
      };
      Message[] failed = {
        question, asked.message(), Message.tool(List.of(ToolResult.failure(called, "gone")))
      };
      for (ModelCall.Builder form :
          List.of(
              call(found).tools(List.of(LOOKUP)).reasoning(Optional.of(Reasoning.budget(2_000))),
              call(found),
              call(found).tools(List.of(LOOKUP)).toolChoice(ToolChoice.NONE))) {
        assertEquals("12.50 paid.", model.generate(form.build()).message().text());
      }
      assertEquals("It is gone.", model.generate(call(failed).build()).message().text());
    }
  }
}
