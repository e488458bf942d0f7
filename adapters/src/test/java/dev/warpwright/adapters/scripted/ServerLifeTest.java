package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.management.ObjectName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("R379")
@Timeout(60)
class ServerLifeTest {
  private static final Duration SOON = Duration.ofSeconds(10);

  private static String threads(Path folder) throws Exception {
    Path dump = folder.resolve("threads.txt");
    Files.deleteIfExists(dump);
    ManagementFactory.getPlatformMBeanServer()
        .invoke(
            new ObjectName("com.sun.management:type=HotSpotDiagnostic"),
            "dumpThreads",
            new Object[] {dump.toString(), "TEXT_PLAIN"},
            new String[] {String.class.getName(), String.class.getName()});
    return Files.readString(dump);
  }

  @Test
  void closeEndsConnectionsInEveryPhaseAndLeavesNoThread(@TempDir Path folder) throws Exception {
    ScriptedServer server =
        ScriptedServer.start(
            Talk.faulty(
                """
                { "when": { "user": "stall" }, "stall": true },
                { "when": { "user": "slow" }, "slowHeaders": "PT1H" }
                """));
    String name = "scripted-server-" + server.port() + "-";
    try (RawClient idle = new RawClient(server);
        RawClient reading = new RawClient(server).send("POST /v1/chat");
        RawClient stalled = new RawClient(server).post(Talk.chat("stall"));
        RawClient slow = new RawClient(server).post(Talk.chat("slow"));
        RawClient _ = new RawClient(server).post(Talk.chat("slow")).send("x".repeat(100_000))) {
      idle.post(Talk.chat("a")).read();
      server.awaitRequest(4, SOON);
      assertEquals(5, server.openConnections());
      assertTrue(threads(folder).contains(name + "accept"));

      server.close();
      server.close();

      assertEquals(0, server.openConnections());
      assertFalse(threads(folder).contains(name));
      assertEquals(List.of(), server.closes());
      for (RawClient client : List.of(idle, stalled, slow, reading)) {
        assertEquals("", readToEnd(client));
      }
      assertThrows(ConnectException.class, () -> new RawClient(server));
    }
  }

  /** Everything until the end, whichever way it comes: a reset if something was left unread. */
  private static String readToEnd(RawClient client) throws IOException {
    try {
      return client.readToEnd();
    } catch (java.net.SocketException e) {
      return "";
    }
  }

  @Test
  void anInterruptOfTheCloserIsKeptAndTheCloseIsWhole() throws Exception {
    ScriptedServer server = ScriptedServer.start(Talk.faulty("{ \"stall\": true }"));
    try (RawClient _ = new RawClient(server).post(Talk.chat("a"))) {
      server.awaitRequest(1, SOON);
      Thread.currentThread().interrupt();
      server.close();
      assertTrue(Thread.interrupted());
      assertEquals(0, server.openConnections());
    }
  }

  @Test
  void closesOfClientsAreRecordedWithTheirPhase() throws Exception {
    try (ScriptedServer server = ScriptedServer.start(Talk.faulty(""))) {
      RawClient idle = new RawClient(server);
      idle.post(Talk.chat("a")).read();
      idle.close();
      server.awaitOpenConnections(0, SOON);
      try (RawClient reading = new RawClient(server)) {
        reading.send("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 5\r\n\r\n12");
        reading.endOutput();
        assertEquals("", reading.readToEnd());
        server.awaitOpenConnections(0, SOON);
      }
      assertEquals(
          List.of("1 0 IDLE", "2 0 READING"),
          server.closes().stream()
              .map(close -> close.connection() + " " + close.number() + " " + close.phase())
              .toList());
      assertEquals(Duration.ZERO, server.closes().getFirst().sinceRequest());
    }
  }

  @Test
  void aClientThatGoesWhileALargeAnswerIsWrittenIsSeen() throws Exception {
    Script script =
        Script.parse(
            "{\"rules\":[{\"when\":{},\"answer\":{\"text\":\"" + "x".repeat(9_000_000) + "\"}}]}");
    try (ScriptedServer server = ScriptedServer.start(script)) {
      RawClient client = new RawClient(server).post(Talk.chat("a"));
      client.readHead();
      client.reset();
      ClientClose close = server.awaitClose(1, SOON);
      assertEquals(ClientClose.Phase.WRITING, close.phase());
      assertTrue(close.reset());
    }
  }

  @Test
  void awaitingSaysWhatIsMissing() {
    try (ScriptedServer server = ScriptedServer.start(Talk.faulty(""))) {
      assertEquals(
          "Within PT0S, the client of request 1 has not closed its connection.",
          assertThrows(IllegalStateException.class, () -> server.awaitClose(1, Duration.ZERO))
              .getMessage());
      assertEquals(
          "Within PT0S, 0 connections are open, more than -1.",
          assertThrows(
                  IllegalStateException.class, () -> server.awaitOpenConnections(-1, Duration.ZERO))
              .getMessage());
    }
  }

  @Test
  void twoHundredClientsAtOnceGetTheirOwnAnswersAndTheFaultsInNumber() throws Exception {
    int clients = 200;
    int each = 10;
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": { "user": "(?<n>\\\\d+)" }, "answer": { "text": "n${n}" } } ],
              "faults": [ { "every": 10, "status": 503 }, { "every": 7, "slowHeaders": "PT0.01S" } ] }
            """);
    try (ScriptedServer server = ScriptedServer.start(script);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Map<String, Integer> statuses = new ConcurrentHashMap<>();
      List<Future<?>> all = new ArrayList<>();
      for (int n = 0; n < clients; n++) {
        String own = Integer.toString(n);
        all.add(
            threads.submit(
                () -> {
                  try (RawClient client = new RawClient(server)) {
                    for (int i = 0; i < each; i++) {
                      RawClient.Response response = client.post(Talk.chat(own)).read();
                      statuses.merge(response.status(), 1, Integer::sum);
                      if (response.status().endsWith("OK")) {
                        assertTrue(response.body().contains("\"n" + own + "\""));
                      }
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
      assertEquals(
          Map.of("HTTP/1.1 200 OK", 1_800, "HTTP/1.1 503 Service Unavailable", 200),
          new HashMap<>(statuses));
      assertEquals(2_000, server.requests());
      assertEquals(200, server.count(ExchangeOutcome.FAULT));
      assertEquals(1_800, server.count(ExchangeOutcome.ANSWERED));
      assertEquals(clients, server.acceptedConnections());
      server.awaitOpenConnections(0, SOON);
    }
  }

  @Test
  void theSameOrderOfArrivalGivesTheSameFaultsOnEveryServer() throws Exception {
    Script script =
        Talk.faulty(
            """
            { "every": 3, "status": 503 }, { "every": 4, "status": 429 },
            { "every": 5, "from": 2, "garbage": "BODY" }
            """);
    List<List<String>> runs = new ArrayList<>();
    for (int run = 0; run < 2; run++) {
      try (ScriptedServer server = ScriptedServer.start(script);
          RawClient client = new RawClient(server)) {
        List<String> responses = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
          responses.add(client.post(Talk.chat("a")).read().toString());
        }
        runs.add(responses);
      }
    }
    assertEquals(runs.get(0), runs.get(1));
  }
}
