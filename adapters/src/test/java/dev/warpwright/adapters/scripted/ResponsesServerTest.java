package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
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

/** The server in OpenAI's Responses: its bytes, and what it refuses as the real one does. */
@Tag("R379")
@Timeout(30)
class ResponsesServerTest {
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
            { "name": "think", "when": { "turn": 0, "user": "think" },
              "answer": { "thinking": "ä😀", "tools": [ { "name": "lookup" } ] } },
            { "name": "no", "when": { "user": "refuse" }, "answer": { "refusal": "No." } },
            { "name": "kind", "when": { "system": "^Be kind\\\\.\\\\nBe brief\\\\.$" },
              "answer": { "text": "Dear." } },
            { "name": "cut", "when": { "user": "cut" },
              "answer": { "text": "Onc", "finish": "length" } },
            { "name": "hello", "when": { "user": "Hello" }, "answer": { "text": "Hello." } } ],
            "faults": [
              { "when": { "user": "^503" }, "status": 503, "headers": { "retry-after": "1" } } ] }
          """);

  private static String user(String text) {
    return "{\"role\":\"user\",\"content\":\"" + text + "\"}";
  }

  private static String request(String input) {
    return request(input, "");
  }

  private static String request(String input, String more) {
    return "{\"model\":\"m-1\",\"input\":[" + input + "]" + more + "}";
  }

  private static RawClient.Response post(String body) throws IOException {
    try (ScriptedServer server = ScriptedServer.start(SCRIPT);
        RawClient client = new RawClient(server)) {
      return client.postTo("/v1/responses", body).read();
    }
  }

  private static JsonNode answer(String body) throws IOException {
    return StrictJson.read(post(body).body());
  }

  private static String said(String body) throws IOException {
    JsonNode answer = answer(body);
    return answer.at("/output/0/content/0/text").asString(answer.toString());
  }

  private static void assertRefused(String body, String message) throws IOException {
    RawClient.Response response = post(body);
    assertEquals("HTTP/1.1 400 Bad Request", response.status(), response.body());
    JsonNode error = StrictJson.read(response.body()).path("error");
    assertEquals("invalid_request_error", error.path("type").stringValue());
    String text = error.path("param").asString("") + ": " + error.path("message").stringValue();
    assertTrue(text.contains(message), text);
  }

  // --- answers
  // -------------------------------------------------------------------------------------

  @Test
  void aResponseIsByteForByteThatOfResponses() throws IOException {
    List<Message> asked = List.of(Message.user("order A17"));
    ModelResponse said = SCRIPT.answer("m-1", asked).orElseThrow().to("m-1", asked);
    List<ToolCall> calls = said.message().toolCalls();
    RawClient.Response response = post(request(user("order A17")));
    JsonNode thought = StrictJson.read(response.body()).at("/output/0");
    String expected =
        """
        {"id":"resp_%1$s","object":"response","created_at":1735689600,"status":"completed",\
        "error":null,"incomplete_details":null,"model":"m-1","output":[\
        {"id":"%2$s","type":"reasoning","summary":[],"encrypted_content":"%3$s"},\
        {"id":"msg_%1$s_1","type":"message","status":"completed","role":"assistant","content":[\
        {"type":"output_text","text":"Wait.","annotations":[]}]},\
        {"id":"fc_%1$s_2","type":"function_call","status":"completed","call_id":"%4$s",\
        "name":"lookup","arguments":"{\\"id\\":\\"A17\\"}"},\
        {"id":"fc_%1$s_3","type":"function_call","status":"completed","call_id":"%5$s",\
        "name":"broken","arguments":"{"}],"store":false,"usage":{"input_tokens":10,\
        "input_tokens_details":{"cached_tokens":4,"cache_write_tokens":2},"output_tokens":5,\
        "output_tokens_details":{"reasoning_tokens":3},"total_tokens":15}}\
        """
            .formatted(
                Fingerprint.of(List.of(said.message())),
                thought.path("id").stringValue(),
                thought.path("encrypted_content").stringValue(),
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

  @ParameterizedTest
  @CsvSource({
    "Hello, completed, , output_text",
    "refuse, completed, , refusal",
    "cut, incomplete, max_output_tokens, output_text"
  })
  void statusAndReasonAreThoseOfTheProtocol(
      String user, String status, String reason, String content) throws IOException {
    JsonNode answer = answer(request(user(user)));
    assertEquals(status, answer.path("status").stringValue());
    assertEquals(reason, answer.at("/incomplete_details/reason").asString(null));
    assertEquals(content, answer.at("/output/0/content/0/type").stringValue());
  }

  private static final String CALL =
      "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"lookup\",\"arguments\":\"{}\"}";

  private static String result(String output) {
    return "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"" + output + "\"}";
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\\\"total\\\":12.50}                         | 12.50 paid.",
        "{\\\"output\\\":{\\\"total\\\":7}}            | 7 paid.",
        "{\\\"error\\\":{\\\"message\\\":\\\"gone\\\"}} | It is gone."
      })
  @Tag("R195")
  void resultsAreUnderstood(String output, String expected) throws IOException {
    assertEquals(expected, said(request(user("order A17") + "," + CALL + "," + result(output))));
  }

  @Test
  void systemTextsWordsAroundCallsAndPlainInputAreUnderstood() throws IOException {
    assertEquals(
        "Dear.",
        said(
            request(
                "{\"role\":\"developer\",\"content\":[{\"type\":\"input_text\",\"text\":"
                    + "\"Be brief.\"}]},"
                    + user("?"),
                ",\"instructions\":\"Be kind.\"")));
    assertEquals("Hello.", said("{\"model\":\"m-1\",\"input\":\"Hello\"}"));
    String around =
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\","
            + "\"text\":\"a\"}]}";
    String search = "{\"id\":\"ws\",\"type\":\"web_search_call\",\"status\":\"completed\"}";
    assertEquals(
        "7 paid.",
        said(
            request(
                String.join(
                    ",",
                    user("order A17"),
                    around,
                    search,
                    CALL,
                    around,
                    result("{\\\"total\\\":7}")))));
  }

  // --- refusals
  // ------------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        ",\"max_tokens\":9 | max_tokens: Unknown",
        ",\"stream\":\"true\" | stream: A boolean",
        ",\"stream_options\":{\"include_obfuscation\":false} | only allowed when 'stream'",
        ",\"stream\":true,\"stream_options\":[] | stream_options: An object",
        ",\"stream\":true,\"stream_options\":{\"include_usage\":true} |"
            + " stream_options.include_usage: Unknown",
        ",\"reasoning\":{\"summary\":\"long\"} | reasoning.summary",
        ",\"previous_response_id\":\"r\" | previous_response_id",
        ",\"max_output_tokens\":15 | max_output_tokens",
        ",\"max_output_tokens\":\"16\" | max_output_tokens",
        ",\"reasoning\":{\"effort\":\"LOW\"} | reasoning.effort",
        ",\"tool_choice\":\"auto\" | tool_choice",
        ",\"tools\":{} | tools",
        ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}] | tools[0].name",
        ",\"tools\":[{\"type\":\"function\",\"name\":\"a b\"}] | tools[0].name",
        ",\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"parameters\":1}] | parameters",
        ",\"tools\":[{\"type\":\"web_search\"}],\"tool_choice\":\"any\" | tool_choice",
        ",\"tools\":[],\"tool_choice\":{\"type\":\"function\",\"function\":{}} | tool_choice.name"
      })
  void optionsThatTheServiceRefusesAreRefused(String more, String message) throws IOException {
    assertRefused(request(user("Hello"), more), message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"role\":\"tool\",\"content\":\"x\"} | input[0].role",
        "{\"role\":\"user\"} | input[0].content",
        "{\"role\":\"user\",\"content\":[]} | input[0].content",
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]} | content[0].type",
        "{\"role\":\"user\",\"content\":[{\"type\":\"output_text\",\"text\":\"\"}]} | content[0]",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"input_text\",\"text\":\"\"}]} | content",
        "{\"role\":\"user\",\"content\":[{\"type\":\"input_image\"}]} | content[0].image_url",
        "{\"type\":\"image_url\"} | input[0].type",
        "{\"type\":\"computer_call\",\"call_id\":\"c\"} | input[0].type",
        "{\"type\":\"function_call\",\"name\":\"f\",\"arguments\":\"{}\"} | input[0].call_id",
        "{\"type\":\"function_call\",\"call_id\":\"\",\"name\":\"f\",\"arguments\":\"{}\"} | 1 to",
        "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":{}} |"
            + " arguments",
        "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"1\"} | No tool call"
      })
  void itemsThatTheServiceRefusesAreRefused(String item, String message) throws IOException {
    assertRefused(request(item), message);
  }

  @Test
  @Tag("FR-T23")
  void anIdOfMoreThan64CharactersIsRefused() throws IOException {
    String longest = "c".repeat(64);
    String hello = user("order A17");
    String fits = hello + "," + CALL + "," + result("{\\\"total\\\":7}");
    assertEquals("7 paid.", said(request(fits.replace("c1", longest))));
    assertRefused(request(fits.replace("c1", longest + "c")), "1 to 64 characters, but got 65");
  }

  @Test
  void callsAndOutputsBelongTogether() throws IOException {
    String hello = user("Hello");
    String two = CALL.replace("c1", "c2");
    String missing = "No tool output found";
    assertRefused(request(hello + "," + CALL), missing);
    assertRefused(request(CALL + "," + hello), missing);
    assertRefused(request(CALL + "," + two + "," + result("1") + "," + hello), missing);
    assertRefused(
        request(
            CALL + "," + two + "," + result("1") + ",{\"role\":\"assistant\",\"content\":\"x\"}"),
        missing);
    assertRefused(request(CALL + "," + CALL), "same id");
    assertRefused(request(CALL + "," + result("1") + "," + result("1")), "No tool call");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{\"model\":\"m\"}",
        "{\"model\":\"m\",\"input\":[]}",
        "{\"input\":\"x\"}"
      })
  void aBodyThatIsNoRequestIsRefused(String body) throws IOException {
    assertRefused(body, "");
  }

  @Test
  @Tag("FR-Q01")
  void reasoningIsAcceptedOnlyAsItWasAndInFrontOfWhatFollowedIt() throws IOException {
    JsonNode output = answer(request(user("think"))).path("output");
    String thought = output.path(0).toString();
    String call = output.path(1).toString();
    String id = output.path(1).path("call_id").stringValue();
    String result = result("{\\\"total\\\":7}").replace("c1", id);
    String refused = "could not be verified";
    String asked = user("think");
    assertEquals("7 paid.", said(request(String.join(",", asked, thought, call, result))));
    assertEquals("7 paid.", said(request(String.join(",", asked, call, result))));
    assertRefused(request(String.join(",", asked, call, thought, result)), refused);
    assertRefused(request(String.join(",", asked, call, result, thought)), refused);
    assertRefused(request(String.join(",", asked, thought, user("x"))), refused);
    assertRefused(request(String.join(",", asked, thought, CALL, result("1"))), refused);
    for (String changed :
        List.of(
            thought.replace("rs_", "rs_0"),
            thought.replaceFirst("encrypted_content\":\"", "encrypted_content\":\"0"),
            thought.replaceFirst("encrypted_content\":\"[^\"]*", "encrypted_content\":\""),
            thought.replaceFirst("\\.[^\"]*", ".%%%%"),
            thought.replace("encrypted_content", "content"))) {
      assertRefused(request(String.join(",", asked, changed, call, result)), refused);
    }
  }

  @Test
  void errorsHaveOpenAisForm() throws IOException {
    RawClient.Response busy = post(request(user("503")));
    assertEquals("HTTP/1.1 503 Service Unavailable", busy.status());
    assertTrue(busy.body().contains("\"type\":\"server_error\""), busy.body());
    assertTrue(post(request(user("?"))).body().contains("\"code\":\"no_rule\""));
    try (ScriptedServer server = ScriptedServer.builder(SCRIPT).requireKey("k").start();
        RawClient client = new RawClient(server)) {
      RawClient.Response keyless = client.postTo("/v1/responses", request(user("Hello"))).read();
      assertEquals("HTTP/1.1 401 Unauthorized", keyless.status());
      assertTrue(keyless.body().contains("invalid_api_key"), keyless.body());
      String body = request(user("Hello"));
      assertEquals(
          "HTTP/1.1 200 OK",
          client.postTo("/v1/responses", body, "authorization: Bearer k").read().status());
    }
  }
}
