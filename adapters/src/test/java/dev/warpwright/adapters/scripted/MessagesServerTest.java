package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.ToolCall;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The server in Anthropic's protocol: its bytes, and what it refuses as the real one does. */
@Tag("R379")
@Timeout(30)
class MessagesServerTest {
  private static final Script SCRIPT =
      Script.parse(
          """
          { "rules": [
            { "name": "tool", "when": { "turn": 0, "user": "order (?<order>\\\\w+)" },
              "answer": { "thinking": "Order ${order}?", "text": "Wait.",
                          "tools": [ { "name": "lookup", "input": { "id": "${order}" } },
                                     { "name": "broken", "rawInput": "{" } ],
                          "usage": { "input": 10, "output": 5, "cachedInput": 4, "cacheWrite": 2,
                                     "reasoning": 3 } } },
            { "name": "paid", "when": { "result": { "tool": "lookup", "error": false,
                                                    "output": "total\\":(?<total>[0-9.]+)" } },
              "answer": { "text": "${total} paid." } },
            { "name": "failed", "when": { "result": { "error": true, "output": "(?<why>g\\\\w+)" } },
              "answer": { "text": "It is ${why}." } },
            { "name": "no", "when": { "user": "refuse" }, "answer": { "refusal": "No." } },
            { "name": "kind", "when": { "system": "^Be kind\\\\.\\\\nBe brief\\\\.$" },
              "answer": { "text": "Dear." } },
            { "name": "cut", "when": { "user": "cut" },
              "answer": { "text": "Onc", "finish": "length" } },
            { "name": "hello", "when": { "user": "Hello" }, "answer": { "text": "Hello." } } ],
            "faults": [
              { "when": { "user": "^529" }, "status": 529 },
              { "when": { "user": "^503" }, "status": 503, "headers": { "retry-after": "1" } },
              { "when": { "user": "^400" }, "status": 400, "body": { "own": true } } ] }
          """);
  private static final String GENUINE =
      StrictJson.write(StrictJson.read(SignedThinking.of("m-1", "Order A17?").data().text()));

  private static String ask(String user) {
    return request("{\"role\":\"user\",\"content\":\"" + user + "\"}");
  }

  private static String request(String messages) {
    return request(messages, "");
  }

  private static String request(String messages, String more) {
    return "{\"model\":\"m-1\",\"max_tokens\":2000,\"messages\":[" + messages + "]" + more + "}";
  }

  private static RawClient.Response post(String body) throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      return client.postMessages(body).read();
    }
  }

  private static String said(String body) throws IOException {
    JsonNode answer = StrictJson.read(post(body).body());
    return answer.path("content").path(0).path("text").asString(answer.toString());
  }

  private static void assertRefused(String body, String message) throws IOException {
    RawClient.Response response = post(body);
    assertEquals("HTTP/1.1 400 Bad Request", response.status(), response.body());
    JsonNode error = StrictJson.read(response.body());
    assertEquals("error", error.path("type").stringValue());
    assertEquals("invalid_request_error", error.at("/error/type").stringValue());
    String text = error.at("/error/message").stringValue();
    assertTrue(text.contains(message), text);
  }

  // --- answers
  // ------------------------------------------------------------------------------------

  @Test
  void aResponseIsByteForByteThatOfMessages() throws IOException {
    List<Message> asked = List.of(Message.user("order A17"));
    ModelResponse said = SCRIPT.answer("m-1", asked).orElseThrow().to("m-1", asked);
    List<ToolCall> calls = said.message().toolCalls();
    String expected =
        """
        {"id":"msg_%s","type":"message","role":"assistant","model":"m-1","content":[%s,\
        {"type":"text","text":"Wait."},\
        {"type":"tool_use","id":"%s","name":"lookup","input":{"id":"A17"}},\
        {"type":"tool_use","id":"%s","name":"broken","input":"{"}],\
        "stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":4,\
        "cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":5,\
        "output_tokens_details":{"thinking_tokens":3}}}\
        """
            .formatted(
                Fingerprint.of(List.of(said.message())),
                GENUINE,
                calls.get(0).id(),
                calls.get(1).id());
    RawClient.Response response = post(ask("order A17"));
    assertEquals(expected, response.body());
    assertEquals(
        List.of(
            "HTTP/1.1 200 OK",
            "Content-Type: application/json",
            "request-id: req_1",
            "Content-Length: " + expected.length(),
            "Connection: keep-alive"),
        response.head());
  }

  @ParameterizedTest
  @CsvSource({"Hello, end_turn", "refuse, refusal", "cut, max_tokens", "order 1, tool_use"})
  void reasonsAreThoseOfTheProtocol(String user, String reason) throws IOException {
    JsonNode answer = StrictJson.read(post(ask(user)).body());
    assertEquals(reason, answer.path("stop_reason").stringValue());
    assertEquals(user.startsWith("order"), answer.has("usage"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"content\":\"{\\\"total\\\":12.50}\"                                   | 12.50 paid.",
        "\"content\":[{\"type\":\"text\",\"text\":\"{\\\"total\\\":7}\"}]         | 7 paid.",
        "\"content\":\"gone\",\"is_error\":true                                  | It is gone."
      })
  @Tag("R194")
  void resultsAndSystemTextsAreUnderstood(String content, String expected) throws IOException {
    String messages =
        """
        {"role":"user","content":[{"type":"text","text":"order "},{"type":"text","text":"A17"}]},
        {"role":"assistant","content":[
          {"type":"tool_use","id":"c1","name":"lookup","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1",%s}]}
        """
            .formatted(content);
    assertEquals(expected, said(request(messages)));
    assertEquals(
        "Dear.",
        said(
            request(
                "{\"role\":\"user\",\"content\":\"?\"}",
                ",\"system\":[{\"type\":\"text\",\"text\":\"Be kind.\\n\"},"
                    + "{\"type\":\"text\",\"text\":\"Be brief.\"}]")));
  }

  @Test
  void textBehindResultsIsANewTurn() throws IOException {
    assertEquals(
        "Hello.",
        said(
            request(
                """
                {"role":"user","content":"order A17"},
                {"role":"assistant","content":[
                  {"type":"tool_use","id":"c1","name":"other","input":{}}]},
                {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"},
                  {"type":"text","text":"Hello"}]}
                """)));
  }

  @Test
  void thinkingHasNoPlaceInChatCompletions() throws IOException {
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": {}, "answer": {
                "thinking": "s3cr3t", "tools": [ { "name": "f" } ] } } ] }
            """);
    try (ScriptedServer server = ScriptedServer.start(script);
        RawClient client = new RawClient(server)) {
      String body = client.post(Talk.chat("Hi")).read().body();
      assertFalse(body.contains("s3cr3t"), body);
      assertTrue(StrictJson.read(body).at("/choices/0/message/content").isNull(), body);
    }
  }

  @Test
  void theModelInsideTheProgramThinksTheSame() throws Exception {
    ModelResponse said =
        ScriptedModel.of(SCRIPT).model("m-1").generate(Talk.ask(Message.user("order A17")));
    assertEquals(GENUINE, ((ProviderState) said.message().parts().getFirst()).data().text());
  }

  // --- errors
  // -------------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "529, overloaded_error, HTTP/1.1 529 Overloaded",
    "503, api_error, HTTP/1.1 503 Service Unavailable",
    "no rule, no_rule, HTTP/1.1 500 Internal Server Error"
  })
  void errorsHaveTheFormOfTheProtocol(String user, String type, String status) throws IOException {
    RawClient.Response response = post(ask(user));
    assertEquals(status, response.status());
    assertTrue(
        response.body().startsWith("{\"type\":\"error\",\"error\":{\"type\":\"" + type + "\","),
        response.body());
    assertTrue(response.head().contains("request-id: req_1"), response.head().toString());
    assertEquals(user.equals("503"), response.head().contains("retry-after: 1"));
  }

  @Test
  void aBodyOfTheScriptIsSentAsItIs() throws IOException {
    assertEquals("{\"own\":true}", post(ask("400")).body());
  }

  @Test
  void theKeyIsCheckedInItsOwnHeader() throws IOException {
    try (ScriptedServer server = ScriptedServer.builder(SCRIPT).requireKey("k-1").start();
        RawClient client = new RawClient(server)) {
      for (String field : List.of("x-api-key: k-2", "Authorization: Bearer k-1", "a: b")) {
        RawClient.Response refused = client.postMessages(ask("Hello"), field).read();
        assertEquals("HTTP/1.1 401 Unauthorized", refused.status());
        assertEquals(
            "authentication_error",
            StrictJson.read(refused.body()).at("/error/type").stringValue());
      }
      assertEquals(
          "HTTP/1.1 200 OK", client.postMessages(ask("Hello"), "x-api-key: k-1").read().status());
      assertEquals(3, server.count(ExchangeOutcome.REFUSED));
    }
  }

  @Test
  void theVersionIsRequiredAndOtherMethodsAreRefused() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      RawClient.Response refused = client.postTo("/v1/messages", ask("Hello")).read();
      assertEquals("HTTP/1.1 400 Bad Request", refused.status());
      assertTrue(refused.body().contains("anthropic-version"), refused.body());
      RawClient.Response get =
          client.send("GET /v1/messages HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n").read();
      assertEquals("HTTP/1.1 405 Method Not Allowed", get.status());
      assertTrue(get.head().contains("Allow: POST"), get.head().toString());
      assertTrue(get.body().startsWith("{\"type\":\"error\""), get.body());
    }
  }

  // --- what it refuses
  // ----------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{                                                           | no JSON",
        "[]                                                          | must be a JSON object",
        "{\"max_tokens\":1,\"messages\":[]}                           | model: A string",
        "{\"model\":\"m\",\"messages\":[]}                            | max_tokens: ",
        "{\"model\":\"m\",\"max_tokens\":0,\"messages\":[]}           | max_tokens: ",
        "{\"model\":\"m\",\"max_tokens\":1}                           | at least one message",
        "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[]}           | at least one message",
        "{\"model\":\"m\",\"max_tokens\":1,\"stream\":1}              | stream: A boolean",
        "{\"model\":\"m\",\"max_tokens\":1,\"stream\":true,\"stream_options\":{}} |"
            + " stream_options: Extra inputs",
        "{\"model\":\"m\",\"max_tokens\":1,\"stop\":[\"x\"]}          | stop: Extra inputs",
        "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[],\"tool_choice\":{}} | tool_choice: "
      })
  void theBodyIsChecked(String body, String message) throws IOException {
    assertRefused(body, message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"role\":\"assistant\",\"content\":\"x\"}          | must use the \"user\" role",
        "{\"role\":\"user\",\"content\":\" \"}               | messages.0.content: text content",
        "{\"role\":\"user\",\"content\":[]}                  | non-empty content",
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\"}]} | non-whitespace",
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_use\"}]} | content.0.type",
        "{\"role\":\"user\"}                                 | A string is needed",
        "{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"system\",\"content\":\"x\"} |"
            + " messages.1.role",
        "{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":[]} |"
            + " non-empty content",
        "{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":\"\"} |"
            + " non-whitespace"
      })
  void messagesAreChecked(String messages, String message) throws IOException {
    assertRefused(request(messages), message);
  }

  private static String answered(String blocks, String next) {
    return request(
        "{\"role\":\"user\",\"content\":\"order A17\"},{\"role\":\"assistant\",\"content\":["
            + blocks
            + "]}"
            + next);
  }

  private static String use(String id) {
    return "{\"type\":\"tool_use\",\"id\":\"" + id + "\",\"name\":\"lookup\",\"input\":{}}";
  }

  private static String user(String... blocks) {
    return ",{\"role\":\"user\",\"content\":[" + String.join(",", blocks) + "]}";
  }

  private static String result(String id) {
    return "{\"type\":\"tool_result\",\"tool_use_id\":\"" + id + "\",\"content\":\"1\"}";
  }

  @Test
  @Tag("Y43")
  void resultsFollowTheirCallsInOneMessage() throws IOException {
    String both = use("c1") + "," + use("c2");
    String text = "{\"type\":\"text\",\"text\":\"Hello\"}";
    String missing = "`tool_use` ids were found without `tool_result` blocks immediately after";
    assertEquals("Hello.", said(answered(both, user(result("c2"), result("c1"), text))));

    assertRefused(answered(both, ""), missing);
    assertRefused(answered(both, user(result("c1")) + user(result("c2"))), missing);
    assertRefused(answered(both, ",{\"role\":\"user\",\"content\":\"Hello\"}"), missing);
    assertRefused(answered(both, ",{\"role\":\"assistant\",\"content\":\"Hello\"}"), missing);
    assertRefused(answered(use("c1"), user(text, result("c1"))), "before all others");
    assertRefused(answered(use("c1"), user(result("c9"))), "must have a corresponding");
    assertRefused(
        answered(use("c1"), user(result("c1"), result("c1"))), "must have a corresponding");
    assertRefused(
        answered(
            use("c1"), user("{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"is_error\":true}")),
        "cannot be empty");
    assertRefused(
        answered(
            use("c1"), user("{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":7}")),
        "a string or a list");
  }

  @Test
  @Tag("Y42")
  void callsAreChecked() throws IOException {
    assertRefused(answered(use("f:0"), user(result("f:0"))), "should match pattern");
    assertRefused(answered(use("c1") + "," + use("c1"), ""), "must be unique");
    assertRefused(
        answered("{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"a b\",\"input\":{}}", ""),
        "content.0.name");
    assertRefused(
        answered("{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":\"{}\"}", ""),
        "valid dictionary");
    assertRefused(answered("{\"type\":\"new\"}", ""), "content.0.type");
  }

  @Test
  @Tag("FR-A09")
  @Tag("Y47")
  void aBlockOfThinkingMustBeAsItWas() throws IOException {
    String end = "," + use("c1");
    String next =
        user("{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"{\\\"total\\\":1}\"}");
    assertEquals("1 paid.", said(answered(GENUINE + end, next)));
    String redacted = "{\"type\":\"redacted_thinking\",\"data\":\"x\"}";
    assertEquals("1 paid.", said(answered(redacted + end, next)));

    for (String changed :
        List.of(
            GENUINE.replace("A17?", "A18?"),
            GENUINE.replaceFirst("\"signature\":\".", "\"signature\":\"-"),
            GENUINE.replaceFirst("\"signature\":\"[^\"]*\"", "\"signature\":\"\""))) {
      assertRefused(answered(changed + end, next), "Invalid `signature` in `thinking` block");
    }
    assertRefused(
        answered(GENUINE.replaceFirst(",\"signature\":\"[^\"]*\"", "") + end, next),
        "content.0.signature");
    assertRefused(answered(redacted.replace("x", "") + end, next), "Invalid `data`");
  }

  private static String budget(String messages, String more) {
    return request(messages, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}" + more);
  }

  @Test
  @Tag("FR-A07")
  void whatDoesNotGoWithABudgetIsRefused() throws IOException {
    String hi = "{\"role\":\"user\",\"content\":\"Hello\"}";
    String tools =
        ",\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}}],\"tool_choice\":";
    assertEquals("Hello.", said(budget(hi, ",\"temperature\":1")));
    assertEquals("Hello.", said(budget(hi, tools + "{\"type\":\"none\"}")));
    assertEquals("Hello.", said(request(hi, ",\"thinking\":{\"type\":\"adaptive\"}")));

    assertRefused(budget(hi, ",\"temperature\":0.5"), "temperature: may only be set to 1");
    assertRefused(budget(hi, tools + "{\"type\":\"any\"}"), "forces tool use");
    assertRefused(
        request(hi, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1000}"), "1024");
    assertRefused(
        request(hi, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000}"), "max_tokens");
    assertRefused(request(hi, ",\"thinking\":{\"type\":\"often\"}"), "thinking.type");
    String turn =
        "{\"role\":\"user\",\"content\":\"order A17\"},{\"role\":\"assistant\",\"content\":[%s]}"
            + user(
                "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"{\\\"total\\\":1}\"}");
    assertEquals("1 paid.", said(budget(turn.formatted(GENUINE + "," + use("c1")), "")));
    assertRefused(
        budget(turn.formatted(use("c1")), ""),
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`");
    assertEquals("1 paid.", said(budget(turn.formatted(use("c1")) + "," + hi, "")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[{}]",
        "[{\"name\":\"a b\",\"input_schema\":{\"type\":\"object\"}}]",
        "[{\"name\":\"f\"}]",
        "[{\"name\":\"f\",\"input_schema\":{\"type\":\"string\"}}]"
      })
  void toolsAreChecked(String tools) throws IOException {
    assertRefused(
        request("{\"role\":\"user\",\"content\":\"Hello\"}", ",\"tools\":" + tools), "tools");
  }
}
