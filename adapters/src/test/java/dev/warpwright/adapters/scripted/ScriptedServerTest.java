package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ToolCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

@Tag("R379")
@Timeout(30)
class ScriptedServerTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final Script SCRIPT =
      Script.parse(
          """
          { "rules": [
            { "name": "tool", "when": { "turn": 0, "user": "order (?<order>\\\\w+)" },
              "answer": { "text": "Wait.", "tools": [
                            { "name": "lookup_order", "input": { "id": "${order}" } },
                            { "name": "broken", "rawInput": "{" } ],
                          "usage": { "input": 10, "output": 5, "cachedInput": 4, "cacheWrite": 2,
                                     "reasoning": 3 } } },
            { "name": "paid", "when": { "result": { "tool": "lookup_order", "error": false,
                                                    "output": "total\\":(?<total>[0-9.]+)" } },
              "answer": { "text": "${total} paid." } },
            { "name": "failed", "when": { "result": { "error": true, "output": "(?<why>g\\\\w+)" } },
              "answer": { "text": "It is ${why}." } },
            { "name": "no", "when": { "user": "refuse" }, "answer": { "refusal": "No." } },
            { "name": "hello", "when": { "user": "Hello" }, "answer": { "text": "Hello." } }
          ] }
          """);

  private static JsonNode json(String body) {
    return StrictJson.read(body);
  }

  private static JsonNode post(ScriptedServer server, String body) throws IOException {
    try (RawClient client = new RawClient(server)) {
      return json(client.post(body).read().body());
    }
  }

  @Test
  void aJdkClientGetsAnAnswer() throws Exception {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(server.uri().resolve("v1/chat/completions"))
              .header("content-type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString(Talk.chat("Hello there")))
              .build();
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      assertEquals(200, response.statusCode());
      assertEquals(HttpClient.Version.HTTP_1_1, response.version());
      assertEquals(Optional.of("req_1"), response.headers().firstValue("x-request-id"));
      assertEquals(Optional.of("application/json"), response.headers().firstValue("content-type"));
      JsonNode choice = json(response.body()).path("choices").path(0);
      assertEquals("Hello.", choice.path("message").path("content").stringValue());
      assertEquals("stop", choice.path("finish_reason").stringValue());
      assertFalse(json(response.body()).has("usage"));
    }
  }

  @Test
  void aResponseIsByteForByteThatOfChatCompletions() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      RawClient.Response response = client.post(Talk.chat("order A17")).read();
      List<ToolCall> calls = calls("order A17");
      String expected =
          """
          {"id":"chatcmpl-%s","object":"chat.completion","created":1735689600,"model":"m-1",\
          "choices":[{"index":0,"message":{"role":"assistant","content":"Wait.","refusal":null,\
          "tool_calls":[{"id":"%s","type":"function","function":{"name":"lookup_order",\
          "arguments":"{\\"id\\":\\"A17\\"}"}},{"id":"%s","type":"function","function":\
          {"name":"broken","arguments":"{"}}]},"logprobs":null,"finish_reason":"tool_calls"}],\
          "usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,\
          "prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":2},\
          "completion_tokens_details":{"reasoning_tokens":3}}}\
          """
              .formatted(
                  Fingerprint.of(List.of(answer("order A17").message())),
                  calls.get(0).id(),
                  calls.get(1).id());
      assertEquals(expected, response.body());
      assertEquals(
          List.of(
              "HTTP/1.1 200 OK",
              "Content-Type: application/json",
              "x-request-id: req_1",
              "Content-Length: " + expected.length(),
              "Connection: keep-alive"),
          response.head());
    }
  }

  /** What the script answers without a wire in between. */
  private static ModelResponse answer(String user) {
    List<Message> messages = List.of(Message.user(user));
    return SCRIPT.answer("m-1", messages).orElseThrow().to(messages);
  }

  private static List<ToolCall> calls(String user) {
    return answer(user).message().toolCalls();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"total\":12.50}                      | 12.50 paid.",
        "{\"output\":{\"total\":7}}             | 7 paid.",
        "{\"error\":{\"message\":\"gone\"}}     | It is gone."
      })
  void resultsAreUnderstoodPlainAndInTheEnvelope(String content, String expected)
      throws IOException {
    String messages =
        """
        {"role":"developer","content":"Be kind."},
        {"role":"user","content":[{"type":"text","text":"order "},{"type":"text","text":"A17"}]},
        {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",
          "function":{"name":"lookup_order","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c1","content":%s}
        """
            .formatted(StrictJson.write(StrictJson.mapper().getNodeFactory().stringNode(content)));
    try (ScriptedServer server = ScriptedServer.start(SCRIPT)) {
      assertEquals(
          expected,
          post(server, Talk.chatMessages(messages)).at("/choices/0/message/content").stringValue());
    }
  }

  @Test
  void aRefusalStandsInItsOwnField() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT)) {
      JsonNode message = post(server, Talk.chat("refuse")).at("/choices/0/message");
      assertTrue(message.path("content").isNull());
      assertEquals("No.", message.path("refusal").stringValue());
    }
  }

  @Test
  void aConversationWithoutARuleIsAnErrorThatNamesTheTurnButNotTheContent() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      RawClient.Response response = client.post(Talk.chat("secret words")).read();
      assertEquals("HTTP/1.1 500 Internal Server Error", response.status());
      assertEquals("no_rule", json(response.body()).at("/error/code").stringValue());
      assertEquals(
          "No rule of the script matches turn 0 of a conversation of 1 messages.",
          json(response.body()).at("/error/message").stringValue());
      assertEquals(1, server.count(ExchangeOutcome.NO_RULE));
    }
  }

  @Test
  void aRegexThatOverflowsTheStackIsAnErrorAndNotSilence() throws IOException {
    Script script =
        Script.parse(
            "{\"rules\":[{\"when\":{\"user\":\"^(a|b)*$\"},\"answer\":{\"text\":\"x\"}}]}");
    try (ScriptedServer server = ScriptedServer.start(script);
        RawClient client = new RawClient(server)) {
      JsonNode body = json(client.post(Talk.chat("ab".repeat(400_000))).read().body());
      assertEquals("script_failure", body.at("/error/code").stringValue());
      assertEquals("x", post(server, Talk.chat("ab")).at("/choices/0/message/content").asString());
    }
  }

  @Test
  void aRetryOfTheSameRequestGetsTheSameBytes() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server);
        RawClient other = new RawClient(server)) {
      String first = client.post(Talk.chat("order A17")).read().body();
      assertEquals(first, client.post(Talk.chat("order A17")).read().body());
      assertEquals(first, other.post(Talk.chat("order A17")).read().body());
    }
  }

  @Test
  void aConnectionIsKeptForManyRequestsAlsoIfTheyAreSentAhead() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      for (int i = 0; i < 50; i++) {
        client.post(Talk.chat("Hello " + i));
      }
      for (int i = 1; i <= 50; i++) {
        assertTrue(client.read().head().contains("x-request-id: req_" + i));
      }
      assertEquals(1, server.acceptedConnections());
      assertEquals(1, server.openConnections());
    }
  }

  @Test
  void aConnectionEndsWhenTheClientAsksForIt() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server);
        RawClient old = new RawClient(server)) {
      String all = client.post(Talk.chat("Hello"), "Connection: close").readToEnd();
      assertTrue(all.contains("\r\nConnection: close\r\n"), all);
      String body = Talk.chat("Hello");
      String answer =
          old.send(
                  "POST /v1/chat/completions HTTP/1.0\r\nContent-Length: "
                      + body.length()
                      + "\r\n\r\n"
                      + body)
              .readToEnd();
      assertTrue(answer.startsWith("HTTP/1.1 200 OK\r\n"), answer);
    }
  }

  @Test
  void peopleMayAskWhetherItLives() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      assertEquals(
          "{\"status\":\"ok\"}", client.send("GET /health HTTP/1.1\r\n\r\n").read().body());
      assertEquals(List.of(), server.exchanges());
      assertEquals(0, server.requests());
    }
  }

  @Test
  void unknownPathsAndWrongMethodsAreRefusedAndTheConnectionGoesOn() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      assertEquals(
          "HTTP/1.1 404 Not Found",
          client
              .send("POST /v1/embeddings HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
              .read()
              .status());
      RawClient.Response wrong = client.send("GET /v1/chat/completions HTTP/1.1\r\n\r\n").read();
      assertEquals("HTTP/1.1 405 Method Not Allowed", wrong.status());
      assertTrue(wrong.head().contains("Allow: POST"));
      assertEquals(
          "HTTP/1.1 200 OK",
          client
              .send(
                  "POST /openai/deployments/d/chat/completions?api-version=1 HTTP/1.1\r\n"
                      + "Content-Length: "
                      + Talk.chat("Hello").length()
                      + "\r\n\r\n"
                      + Talk.chat("Hello"))
              .read()
              .status());
      assertEquals(2, server.count(ExchangeOutcome.REFUSED));
      assertEquals(1, server.requests());
    }
  }

  @Test
  void aRequiredKeyIsCheckedAndNeverShown() throws IOException {
    try (ScriptedServer server = ScriptedServer.builder(SCRIPT).requireKey("k-1").start();
        RawClient client = new RawClient(server)) {
      String body = Talk.chat("Hello");
      RawClient.Response refused = client.post(body).read();
      assertEquals("HTTP/1.1 401 Unauthorized", refused.status());
      assertEquals("invalid_api_key", json(refused.body()).at("/error/code").stringValue());
      assertEquals(
          "HTTP/1.1 401 Unauthorized",
          client.post(body, "Authorization: Bearer k-2").read().status());
      assertEquals(
          "HTTP/1.1 200 OK", client.post(body, "Authorization: Bearer k-1").read().status());
      assertEquals("HTTP/1.1 200 OK", client.post(body, "api-key: k-1").read().status());
      assertEquals("Bearer k-1", server.exchanges().get(2).headers().get("authorization"));
      assertFalse(server.exchanges().toString().contains("k-1"));
    }
  }

  @Test
  void exchangesAreRecordedWithTheirBodies() throws Exception {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      client.post("{", "X-Test: a", "x-test: b").read();
      client.post(Talk.chat("Hello")).read();
      assertEquals(
          "[RecordedExchange[0, POST /v1/chat/completions, REFUSED 400],"
              + " RecordedExchange[1, POST /v1/chat/completions, ANSWERED 200, hello]]",
          server.exchanges().toString());
      assertEquals("a, b", server.exchanges().getFirst().headers().get("x-test"));
      assertEquals("{", server.exchanges().getFirst().body());
      assertEquals(Talk.chat("Hello"), server.awaitRequest(1, SOON).body());
      assertEquals(
          "Within PT0S, request 2 has not arrived; the latest is 1.",
          assertThrows(IllegalStateException.class, () -> server.awaitRequest(2, Duration.ZERO))
              .getMessage());
    }
  }

  @Test
  void onlyTheLatestExchangesAreRecorded() throws Exception {
    try (ScriptedServer server = ScriptedServer.builder(SCRIPT).recordLast(2).start();
        RawClient client = new RawClient(server)) {
      for (int i = 0; i < 5; i++) {
        client.post(Talk.chat("Hello")).read();
      }
      assertEquals(
          List.of(4L, 5L), server.exchanges().stream().map(RecordedExchange::number).toList());
      assertEquals(5, server.count(ExchangeOutcome.ANSWERED));
      assertEquals(
          "Within PT0S, request 1 is not among the recorded ones; see recordLast.",
          assertThrows(IllegalStateException.class, () -> server.awaitRequest(1, Duration.ZERO))
              .getMessage());
    }
  }

  @Test
  void largeBodiesAreRecordedWithinABound() throws IOException {
    String user = "Hello" + "x".repeat(9 * 1024 * 1024);
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      for (int i = 0; i < 3; i++) {
        assertEquals("HTTP/1.1 200 OK", client.post(Talk.chat(user)).read().status());
      }
      assertEquals(1, server.exchanges().size());
      assertTrue(server.exchanges().getFirst().body().length() > user.length());
    }
  }

  @Test
  void aPortThatIsTakenIsNamedAndOptionsAreChecked() {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT)) {
      ScriptedServer.Builder builder = ScriptedServer.builder(SCRIPT).port(server.port());
      assertEquals(
          "The scripted server cannot listen on port " + server.port() + ".",
          assertThrows(UncheckedIOException.class, builder::start).getMessage());
      assertEquals(
          "port must be 0 to 65535, but is 70000.",
          assertThrows(IllegalArgumentException.class, () -> builder.port(70_000)).getMessage());
      assertEquals("ScriptedServer[http://127.0.0.1:" + server.port() + "/v1]", server.toString());
    }
  }

  @Test
  void lengthsAreCountedInBytes() throws IOException {
    Script script =
        Script.parse(
            "{\"rules\":[{\"when\":{\"user\":\"(?<a>ü.*)\"},\"answer\":{\"text\":\"→${a}\"}}]}");
    try (ScriptedServer server = ScriptedServer.start(script)) {
      String content =
          post(server, Talk.chat("ü€😀")).at("/choices/0/message/content").stringValue();
      assertEquals("→ü€😀", content);
    }
  }
}
