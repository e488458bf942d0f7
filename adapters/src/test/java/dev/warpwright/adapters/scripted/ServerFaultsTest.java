package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("R379")
@Timeout(30)
class ServerFaultsTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  @AfterAll
  static void shutDown() {
    CLIENT.shutdownNow();
  }

  private static ScriptedServer serverWith(String faults) {
    return ScriptedServer.start(Talk.faulty(faults));
  }

  private static HttpResponse<String> send(ScriptedServer server)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(server.uri().resolve("v1/chat/completions"))
            .version(HttpClient.Version.HTTP_1_1)
            .POST(HttpRequest.BodyPublishers.ofString(Talk.chat("a")))
            .build();
    return CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
  }

  /** Every fault leaves a server that answers the next request as if nothing had been. */
  private static void assertAnswers(ScriptedServer server) throws Exception {
    HttpResponse<String> next = send(server);
    assertEquals(200, next.statusCode());
    assertTrue(next.body().contains("\"content\":\"Done.\""));
    assertEquals(1, server.count(ExchangeOutcome.FAULT));
    assertEquals(1, server.count(ExchangeOutcome.ANSWERED));
  }

  @Test
  void aStatusIsSentWithItsHeadersAndBodyByteForByte() throws Exception {
    try (ScriptedServer server =
            serverWith(
                """
                { "times": 1, "status": 429, "headers": { "Retry-After": "0.2", "X-B": "b" },
                  "body": { "error": { "code": "rate_limit_exceeded" } } }
                """);
        RawClient client = new RawClient(server)) {
      RawClient.Response response = client.post(Talk.chat("a")).read();
      assertEquals(
          List.of(
              "HTTP/1.1 429 Too Many Requests",
              "Content-Type: application/json",
              "Retry-After: 0.2",
              "X-B: b",
              "x-request-id: req_1",
              "Content-Length: 40",
              "Connection: keep-alive"),
          response.head());
      assertEquals("{\"error\":{\"code\":\"rate_limit_exceeded\"}}", response.body());
      assertEquals("HTTP/1.1 200 OK", client.post(Talk.chat("a")).read().status());
      RecordedExchange exchange = server.awaitRequest(1, SOON);
      assertEquals(429, exchange.status());
      assertEquals(Optional.of("faults[0]"), exchange.cause());
    }
  }

  @Test
  void aStatusMayHaveAPlainBodyItsOwnTypeOrNoBodyOfItsOwn() throws Exception {
    try (ScriptedServer server =
            serverWith(
                """
                { "every": 3, "from": 1, "status": 502, "body": "<h1>Bad</h1>" },
                { "every": 3, "from": 2, "status": 502, "body": "<h1>Bad</h1>",
                  "headers": { "content-type": "text/html" } },
                { "status": 503 }
                """);
        RawClient client = new RawClient(server)) {
      RawClient.Response plain = client.post(Talk.chat("a")).read();
      assertEquals("Content-Type: text/plain; charset=utf-8", plain.head().get(1));
      assertEquals("<h1>Bad</h1>", plain.body());
      RawClient.Response typed = client.post(Talk.chat("a")).read();
      assertEquals("content-type: text/html", typed.head().get(1));
      assertEquals(
          "{\"error\":{\"message\":\"The script answers with status 503.\","
              + "\"type\":\"server_error\",\"param\":null,\"code\":null}}",
          client.post(Talk.chat("a")).read().body());
    }
  }

  @Test
  void slowHeadersCostTheirTimeAndThenTheAnswerComes() throws Exception {
    try (ScriptedServer server = serverWith("{ \"times\": 1, \"slowHeaders\": \"PT0.05S\" }")) {
      long start = System.nanoTime();
      assertEquals(200, send(server).statusCode());
      assertTrue(System.nanoTime() - start >= 50_000_000);
      assertEquals(1, server.count(ExchangeOutcome.ANSWERED));
    }
  }

  @Test
  void theLatencyOfAnAnswerPassesBeforeIt() throws Exception {
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": {}, "answer": { "text": "Done.", "latency": "PT0.05S" } } ] }
            """);
    try (ScriptedServer server = ScriptedServer.start(script)) {
      long start = System.nanoTime();
      assertEquals(200, send(server).statusCode());
      assertTrue(System.nanoTime() - start >= 50_000_000);
    }
  }

  @Test
  void aRequestSentAheadDuringALatencyIsKept() throws Exception {
    try (ScriptedServer server = serverWith("{ \"times\": 1, \"slowHeaders\": \"PT0.05S\" }");
        RawClient client = new RawClient(server)) {
      client.post(Talk.chat("a")).post(Talk.chat("b".repeat(5_000)));
      assertTrue(client.read().head().contains("x-request-id: req_1"));
      assertTrue(client.read().head().contains("x-request-id: req_2"));
    }
  }

  @Test
  void aStallNeverAnswersAndSeesTheCloseOfAClient() throws Exception {
    try (ScriptedServer server = serverWith("{ \"times\": 1, \"stall\": true }")) {
      RawClient client = new RawClient(server).post(Talk.chat("a"));
      server.awaitRequest(1, SOON);
      assertEquals(1, server.openConnections());
      long closed = System.nanoTime();
      client.close();
      ClientClose close = server.awaitClose(1, SOON);
      assertEquals(ClientClose.Phase.WAITING, close.phase());
      assertFalse(close.reset());
      assertTrue(close.after(closed).compareTo(SOON) < 0, close::toString);
      assertTrue(close.sinceRequest().isPositive());
      server.awaitOpenConnections(0, SOON);
      assertAnswers(server);
    }
  }

  @Test
  void aStallSeesTheResetOfAClient() throws Exception {
    try (ScriptedServer server = serverWith("{ \"stall\": true }")) {
      RawClient client = new RawClient(server).post(Talk.chat("a"));
      server.awaitRequest(1, SOON);
      client.reset();
      assertTrue(server.awaitClose(1, SOON).reset());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{ \"times\": 1, \"stall\": true }",
        "{ \"times\": 1, \"slowHeaders\": \"PT1H\" }"
      })
  void theInterruptOfAJdkClientIsSeenWhileTheAnswerIsAwaited(String fault) throws Exception {
    try (ScriptedServer server = serverWith(fault)) {
      BlockingQueue<Throwable> ends = new LinkedBlockingQueue<>();
      Thread caller =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      send(server);
                    } catch (IOException | InterruptedException e) {
                      ends.add(e);
                    }
                  });
      server.awaitRequest(1, SOON);
      long interrupted = System.nanoTime();
      caller.interrupt();
      ClientClose close = server.awaitClose(1, SOON);
      assertEquals(ClientClose.Phase.WAITING, close.phase());
      assertTrue(close.after(interrupted).compareTo(SOON) < 0, close::toString);
      assertInstanceOf(InterruptedException.class, ends.poll(10, TimeUnit.SECONDS));
      assertEquals(200, send(server).statusCode());
    }
  }

  @Test
  void aResetBeforeTheHeadersSendsNothing() throws Exception {
    try (ScriptedServer server = serverWith("{ \"times\": 1, \"reset\": \"BEFORE_HEADERS\" }");
        RawClient client = new RawClient(server)) {
      client.post(Talk.chat("a"));
      assertReset(assertThrows(SocketException.class, client::readHead));
      assertAnswers(server);
      assertEquals(0, server.awaitRequest(1, SOON).status());
      assertEquals(List.of(), server.closes());
    }
  }

  @Test
  void aResetAfterTheHeadersSendsThemAndNoBody() throws Exception {
    try (ScriptedServer server = serverWith("{ \"times\": 1, \"reset\": \"AFTER_HEADERS\" }");
        RawClient client = new RawClient(server)) {
      List<String> head = client.post(Talk.chat("a")).readHead();
      assertEquals("HTTP/1.1 200 OK", head.getFirst());
      assertReset(assertThrows(SocketException.class, client::readToEnd));
      assertAnswers(server);
    }
  }

  @Test
  void aResetInTheBodySendsHalfOfIt() throws Exception {
    try (ScriptedServer server = serverWith("{ \"times\": 1, \"reset\": \"IN_BODY\" }");
        RawClient client = new RawClient(server);
        RawClient whole = new RawClient(server)) {
      client.post(Talk.chat("a")).readHead();
      StringBuilder half = new StringBuilder();
      assertReset(
          assertThrows(
              SocketException.class,
              () -> {
                while (true) {
                  half.append(client.readByte());
                }
              }));
      String body = whole.post(Talk.chat("a")).read().body();
      assertEquals(body.substring(0, body.length() / 2), half.toString());
    }
  }

  private static void assertReset(SocketException failure) {
    assertEquals("Connection reset", failure.getMessage());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 40, 1_000_000})
  void aCutBodyPromisesEverythingAndEndsInOrder(int bytes) throws Exception {
    try (ScriptedServer server = serverWith("{ \"times\": 1, \"cutBodyAfter\": " + bytes + " }");
        RawClient client = new RawClient(server);
        RawClient whole = new RawClient(server)) {
      List<String> head = client.post(Talk.chat("a")).readHead();
      String rest = client.readToEnd();
      RawClient.Response full = whole.post(Talk.chat("a")).read();
      int length = full.body().length();
      assertTrue(head.contains("Content-Length: " + length), head::toString);
      assertEquals(full.body().substring(0, Math.min(bytes, length - 1)), rest);
    }
  }

  @Test
  void garbageBytesAreNoHttp() throws Exception {
    try (ScriptedServer server = serverWith("{ \"times\": 1, \"garbage\": true }");
        RawClient client = new RawClient(server)) {
      assertEquals(
          "\u0000\u0001 this is no HTTP \u00FF\r\n\r\n", client.post(Talk.chat("a")).readToEnd());
      assertAnswers(server);
    }
  }

  @Test
  void aGarbageBodyIsASuccessThatIsNoJson() throws Exception {
    try (ScriptedServer server = serverWith("{ \"times\": 1, \"garbage\": \"BODY\" }")) {
      HttpResponse<String> response = send(server);
      assertEquals(200, response.statusCode());
      assertEquals(Optional.of("application/json"), response.headers().firstValue("content-type"));
      assertEquals("<html>This is no JSON.</html>", response.body());
      assertAnswers(server);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"reset\": \"BEFORE_HEADERS\"",
        "\"reset\": \"AFTER_HEADERS\"",
        "\"reset\": \"IN_BODY\"",
        "\"cutBodyAfter\": 40",
        "\"garbage\": true"
      })
  void aJdkClientSeesABrokenConnectionAsAnIoFailure(String fault) throws Exception {
    try (ScriptedServer server = serverWith("{ \"times\": 1, " + fault + " }")) {
      IOException failure = assertThrows(IOException.class, () -> send(server));
      assertFalse(failure instanceof java.net.http.HttpTimeoutException, failure::toString);
      if (fault.startsWith("\"garbage")) {
        assertTrue(rootOf(failure) instanceof ProtocolException, failure::toString);
      }
      if (fault.startsWith("\"cut")) {
        assertTrue(rootOf(failure) instanceof EOFException, failure::toString);
      }
    }
  }

  private static Throwable rootOf(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }

  @Test
  void aFaultChosenByItsConditionHitsOnlyWhatFits() throws Exception {
    try (ScriptedServer server =
            serverWith("{ \"when\": { \"user\": \"b\" }, \"times\": 1, \"status\": 503 }");
        RawClient client = new RawClient(server)) {
      assertEquals("HTTP/1.1 200 OK", client.post(Talk.chat("a")).read().status());
      assertEquals("HTTP/1.1 503 Service Unavailable", client.post(Talk.chat("b")).read().status());
      assertEquals("HTTP/1.1 200 OK", client.post(Talk.chat("b")).read().status());
    }
  }

  @Test
  void refusedRequestsAreNotCounted() throws Exception {
    try (ScriptedServer server = serverWith("{ \"every\": 2, \"status\": 503 }");
        RawClient client = new RawClient(server)) {
      assertEquals("HTTP/1.1 400 Bad Request", client.post("{}").read().status());
      assertEquals("HTTP/1.1 200 OK", client.post(Talk.chat("a")).read().status());
      assertEquals("HTTP/1.1 400 Bad Request", client.post("{}").read().status());
      assertEquals("HTTP/1.1 503 Service Unavailable", client.post(Talk.chat("a")).read().status());
    }
  }
}
