package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of streams whose client or server ends them. */
@Tag("R379")
@Timeout(60)
class StreamLifeTest {
  private static final Duration SOON = Duration.ofSeconds(10);

  private static ScriptedServer streaming(String text, String form) {
    return ScriptedServer.start(
        Script.parse(
            """
            { "rules": [ { "when": {}, "answer": { "text": "%s", "stream": { %s } } } ] }
            """
                .formatted(text, form)));
  }

  @ParameterizedTest
  @EnumSource
  void theCloseOfAClientIsSeenWhileAStreamPauses(Wire wire) throws Exception {
    try (ScriptedServer server = streaming("One two", "\"pause\": \"PT1H\"")) {
      RawClient client = wire.ask(new RawClient(server), "a", true);
      client.readHead();
      int events = 0;
      for (String chunk = ""; !chunk.contains("One "); events++) {
        chunk = new String(client.readChunk(), StandardCharsets.UTF_8);
      }
      assertEquals(1, server.openStreams());
      long closed = System.nanoTime();
      client.close();
      ClientClose close = server.awaitClose(1, SOON);
      assertEquals(ClientClose.Phase.STREAMING, close.phase());
      assertEquals(events, close.events());
      assertTrue(close.after(closed).toMillis() < 1_000, close::toString);
      server.awaitOpenConnections(0, SOON);
      assertEquals(0, server.openStreams());
    }
  }

  @Test
  void theCloseOfAClientIsSeenWhileAStreamIsWritten() throws Exception {
    try (ScriptedServer server = streaming("word ".repeat(200_000), "")) {
      RawClient client = Wire.CHAT.ask(new RawClient(server), "a", true);
      client.readHead();
      client.readChunk();
      client.reset();
      ClientClose close = server.awaitClose(1, SOON);
      assertEquals(ClientClose.Phase.STREAMING, close.phase());
      assertTrue(close.reset());
      assertTrue(close.events() > 0 && close.events() < 200_000, close::toString);
    }
  }

  @Test
  void theInterruptOfAJdkClientInTheMiddleOfAStreamIsSeen() throws Exception {
    try (ScriptedServer server = streaming("One two", "\"pause\": \"PT1H\"");
        HttpClient client = HttpClient.newHttpClient()) {
      CountDownLatch reads = new CountDownLatch(1);
      Thread caller =
          Thread.ofVirtual()
              .start(
                  () -> {
                    HttpRequest request =
                        HttpRequest.newBuilder(server.uri().resolve("v1/chat/completions"))
                            .version(HttpClient.Version.HTTP_1_1)
                            .POST(HttpRequest.BodyPublishers.ofString(Wire.CHAT.request("a", true)))
                            .build();
                    try (var body =
                        client.send(request, HttpResponse.BodyHandlers.ofInputStream()).body()) {
                      body.read();
                      reads.countDown();
                      body.readAllBytes();
                    } catch (IOException | InterruptedException e) {
                      // Both are how a client ends here.
                    }
                  });
      assertTrue(reads.await(60, TimeUnit.SECONDS));
      caller.interrupt();
      assertEquals(2, server.awaitClose(1, SOON).events());
      caller.join();
    }
  }

  @Test
  void closingTheServerEndsItsStreamsAndBlamesNoClient() throws Exception {
    ScriptedServer server = streaming("One two", "\"pause\": \"PT1H\"");
    try (RawClient first = Wire.CHAT.ask(new RawClient(server), "a", true);
        RawClient second = Wire.MESSAGES.ask(new RawClient(server), "a", true)) {
      first.readHead();
      second.readHead();
      server.awaitRequest(2, SOON);
      server.close();
      assertEquals(0, server.openConnections());
      assertEquals(0, server.openStreams());
      assertEquals(List.of(), server.closes());
    }
  }

  @Test
  void aRequestSentAheadDuringAStreamIsAnsweredAfterIt() throws Exception {
    try (ScriptedServer server = streaming("One two three", "\"pause\": \"PT0.01S\"");
        RawClient client = new RawClient(server)) {
      Wire.CHAT.ask(client, "a", true);
      Wire.CHAT.ask(client, "b", true);
      assertEquals("One two three", Streamed.read(client).said());
      assertEquals("One two three", Streamed.read(client).said());
      assertEquals(2, server.requests());
    }
  }

  @Test
  void manyStreamsAreHeldAtOnceAndEachIsWhole() throws Exception {
    int streams = 300;
    CountDownLatch open = new CountDownLatch(streams);
    try (ScriptedServer server = streaming("One two three four", "\"pause\": \"PT0.2S\"");
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<String>> all = new ArrayList<>();
      List<Wire> wires = List.of(Wire.values());
      for (int i = 0; i < streams; i++) {
        Wire wire = wires.get(i % wires.size());
        all.add(
            threads.submit(
                () -> {
                  try (RawClient client = wire.ask(new RawClient(server), "a", true)) {
                    open.countDown();
                    return Streamed.read(client).said();
                  }
                }));
      }
      assertTrue(open.await(20, TimeUnit.SECONDS));
      for (Future<String> one : all) {
        assertEquals("One two three four", one.get());
      }
      server.awaitOpenConnections(0, SOON);
      assertEquals(0, server.openStreams());
      assertEquals(streams, server.count(ExchangeOutcome.ANSWERED));
      assertEquals(
          List.of(),
          server.closes().stream()
              .filter(close -> close.phase() != ClientClose.Phase.IDLE)
              .collect(Collectors.toList()));
    }
  }
}
