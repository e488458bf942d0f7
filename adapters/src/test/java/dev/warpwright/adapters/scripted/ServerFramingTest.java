package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("R379")
@Timeout(30)
class ServerFramingTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final String POST = "POST /v1/chat/completions HTTP/1.1\r\n";

  private static ScriptedServer start() {
    return ScriptedServer.start(Talk.faulty(""));
  }

  private static String chunk(String text) {
    return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n";
  }

  @Test
  void aChunkedBodyWithExtensionsAndTrailersIsRead() throws Exception {
    String body = Talk.chat("x".repeat(3_000));
    try (ScriptedServer server = start();
        RawClient client = new RawClient(server)) {
      String request =
          POST
              + "Transfer-Encoding: chunked\r\n\r\n"
              + chunk(body.substring(0, 10))
              + "A;note=1\r\n"
              + body.substring(10, 20)
              + "\r\n"
              + chunk(body.substring(20))
              + "0\r\nX-Sum: 1\r\n\r\n";
      assertEquals("HTTP/1.1 200 OK", client.send(request).read().status());
      assertEquals("HTTP/1.1 200 OK", client.send(request).read().status());
      assertEquals(body, server.awaitRequest(2, SOON).body());
    }
  }

  @Test
  void aRequestMayArriveByteByByteAndBehindAnEmptyLine() throws Exception {
    String body = Talk.chat("a");
    String request = "\r\n" + POST + "Content-Length: " + body.length() + "\r\n\r\n" + body;
    try (ScriptedServer server = start();
        RawClient client = new RawClient(server)) {
      for (int i = 0; i < request.length(); i++) {
        client.send(request.substring(i, i + 1));
      }
      assertEquals("HTTP/1.1 200 OK", client.read().status());
      assertEquals(body, server.awaitRequest(1, SOON).body());
    }
  }

  @Test
  void aClientThatAsksFirstIsToldToGoOn() throws Exception {
    String body = Talk.chat("a");
    try (ScriptedServer server = start();
        RawClient client = new RawClient(server)) {
      client.send(POST + "Expect: 100-continue\r\nContent-Length: " + body.length() + "\r\n\r\n");
      assertEquals("HTTP/1.1 100 Continue", client.readHead().getFirst());
      assertEquals("HTTP/1.1 200 OK", client.send(body).read().status());
    }
  }

  @ParameterizedTest(name = "{1}: {0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "PRI * HTTP/2.0\\n\\n                                                       | 505",
        "hello\\n\\n                                                                | 400",
        "POST  HTTP/1.1\\n\\n                                                       | 400",
        "POST /v1/chat/completions HTTP/1.1\\n\\n                                   | 411",
        "POST /v1/chat/completions HTTP/1.1\\nno field\\n\\n                        | 400",
        "POST /v1/chat/completions HTTP/1.1\\nContent-Length: x\\n\\n               | 400",
        "POST /v1/chat/completions HTTP/1.1\\nContent-Length: -1\\n\\n              | 400",
        "POST /v1/chat/completions HTTP/1.1\\nContent-Length: 2, 2\\n\\n{}          | 400",
        "POST /v1/chat/completions HTTP/1.1\\nContent-Length: 999999999999\\n\\n    | 413",
        "POST /v1/chat/completions HTTP/1.1\\nTransfer-Encoding: gzip\\n\\n         | 400",
        "POST /v1/chat/completions HTTP/1.1\\n"
            + "Transfer-Encoding: chunked\\n"
            + "Content-Length: 1\\n"
            + "\\n"
            + " | 400",
        "POST /v1/chat/completions HTTP/1.1\\nTransfer-Encoding: chunked\\n\\nzz\\n | 400",
        "POST /v1/chat/completions HTTP/1.1\\nTransfer-Encoding: chunked\\n\\n2\\n{}} | 400",
        "POST /v1/chat/completions HTTP/1.1\\nTransfer-Encoding: chunked\\n\\nFFFFFFFFF\\n | 413"
      })
  void framingThatCannotBeUnderstoodIsRefusedAndTheConnectionEnds(String request, int status)
      throws IOException {
    try (ScriptedServer server = start();
        RawClient client = new RawClient(server)) {
      String answer = client.send(request.replace("\\n", "\r\n") + "\r\n").readToEnd();
      assertTrue(answer.startsWith("HTTP/1.1 " + status + " "), answer);
      assertTrue(answer.contains("\r\nConnection: close\r\n"), answer);
      assertEquals(1, server.count(ExchangeOutcome.REFUSED));
    }
  }

  @Test
  void aHeadOrABodyThatIsTooLargeIsRefused() throws IOException {
    try (ScriptedServer server =
            ScriptedServer.builder(Talk.faulty("")).maxRequestBytes(100).start();
        RawClient client = new RawClient(server);
        RawClient chunks = new RawClient(server);
        RawClient head = new RawClient(server)) {
      assertTrue(client.post(Talk.chat("x".repeat(100))).readToEnd().startsWith("HTTP/1.1 413 "));
      String half = chunk("x".repeat(60));
      assertTrue(
          chunks
              .send(POST + "Transfer-Encoding: chunked\r\n\r\n" + half + half)
              .readToEnd()
              .startsWith("HTTP/1.1 413 "));
      assertTrue(
          head.send(POST + "X: " + "x".repeat(70_000) + "\r\n\r\n")
              .readToEnd()
              .startsWith("HTTP/1.1 431 "));
    }
  }

  @ParameterizedTest(name = "{1}: {0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      nullValues = "-",
      value = {
        "no json                                   | -",
        "[]                                        | -",
        "{}                                        | model",
        "{'model':1,'messages':[]}                 | model",
        "{'model':'m'}                             | messages",
        "{'model':'m','messages':[]}               | messages",
        "{'model':'m','messages':[{'role':'user','content':'a'}],'stream':'yes'}  | stream",
        "{'model':'m','messages':[{'role':'user','content':'a'}],'stream_options':{}} |"
            + " stream_options",
        "{'model':'m','messages':[{'role':'user','content':'a'}],'stream':true,'stream_options':{'usage':true}}"
            + " | stream_options.usage",
        "{'model':'m','messages':[{'role':'user','content':'a'}],'stream':true,'stream_options':{'include_usage':1}}"
            + " | stream_options.include_usage",
        "{'model':'m','messages':[{'role':'user','content':'a'}],'tools':[]}      | tools",
        "{'model':'m','messages':[{'role':'user','content':'a'}],'tool_choice':'auto'} |"
            + " tool_choice",
        "{'model':'m','messages':[{'role':'user','content':'a'}],'tools':[{'type':'x'}]} |"
            + " tools[0].type",
        "{'model':'m','messages':[{'role':'user','content':'a'}],'tools':[{'type':'function','function':{'name':'a"
            + " b'}}]} | tools[0].function.name",
        "{'model':'m','messages':[{'content':'a'}]}                               |"
            + " messages[0].role",
        "{'model':'m','messages':[{'role':'human','content':'a'}]}                |"
            + " messages[0].role",
        "{'model':'m','messages':[{'role':'user'}]}                               |"
            + " messages[0].content",
        "{'model':'m','messages':[{'role':'user','content':[]}]}                  |"
            + " messages[0].content",
        "{'model':'m','messages':[{'role':'user','content':[{'type':'video'}]}]}  |"
            + " messages[0].content[0].type",
        "{'model':'m','messages':[{'role':'user','content':[{'type':'text'}]}]}   |"
            + " messages[0].content[0].text",
        "{'model':'m','messages':[{'role':'assistant'}]}                          |"
            + " messages[0].content",
        "{'model':'m','messages':[{'role':'assistant','tool_calls':[]}]}          |"
            + " messages[0].tool_calls",
        "{'model':'m','messages':[{'role':'assistant','tool_calls':[{'id':'1','type':'function','function':{'name':'t'}}]}]}"
            + " | messages[0].tool_calls[0].function.arguments",
        "{'model':'m','messages':[{'role':'assistant','tool_calls':[{'id':'1','type':'function','function':{'name':'t','arguments':''}}]}]}"
            + " | messages",
        "{'model':'m','messages':[{'role':'assistant','tool_calls':[{'id':'1','type':'function','function':{'name':'t','arguments':''}}]},{'role':'user','content':'a'}]}"
            + " | messages[1]",
        "{'model':'m','messages':[{'role':'tool','tool_call_id':'1','content':'a'}]} |"
            + " messages[0].tool_call_id"
      })
  void whatTheRealServiceRefusesIsRefused(String body, @Nullable String param) throws IOException {
    try (ScriptedServer server = start();
        RawClient client = new RawClient(server)) {
      RawClient.Response response = client.post(body.replace('\'', '"')).read();
      assertEquals("HTTP/1.1 400 Bad Request", response.status());
      var error = StrictJson.read(response.body()).path("error");
      assertEquals("invalid_request_error", error.path("type").stringValue());
      assertEquals(param == null ? "null" : "\"" + param + "\"", error.path("param").toString());
      assertEquals("HTTP/1.1 200 OK", client.post(Talk.chat("a")).read().status());
    }
  }
}
