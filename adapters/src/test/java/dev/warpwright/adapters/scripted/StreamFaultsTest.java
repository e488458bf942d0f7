package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.json.StrictJson;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** What a script can do to a stream, byte by byte. */
@Tag("R379")
@Tag("R381")
@Timeout(30)
class StreamFaultsTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final String SAID = "One two three 😀 five.";

  /** A server that does this to its first request, and then answers as if nothing had been. */
  private static ScriptedServer faulty(String effect) {
    return serving("", "{ \"times\": 1, " + effect + " }");
  }

  private static ScriptedServer streaming(String form) {
    return serving(form, "");
  }

  private static ScriptedServer serving(String form, String faults) {
    return ScriptedServer.start(
        Script.parse(
            """
            { "rules": [ { "when": {}, "answer": { "text": "%s", "stream": { %s } } } ],
              "faults": [ %s ] }
            """
                .formatted(SAID, form, faults)));
  }

  /** The stream that the fault hits, and the one after it. */
  private record Pair(Streamed hit, Streamed next) {
    static Pair of(ScriptedServer server, Wire wire) throws IOException {
      Streamed hit;
      try (RawClient client = new RawClient(server)) {
        hit = wire.stream(client, "a");
      }
      try (RawClient client = new RawClient(server)) {
        Streamed next = wire.stream(client, "a");
        assertEquals(Streamed.End.WHOLE, next.end());
        assertEquals(SAID, next.said());
        assertEquals(1, server.count(ExchangeOutcome.FAULT));
        assertEquals(Optional.of("faults[0]"), server.exchanges().getFirst().cause());
        return new Pair(hit, next);
      }
    }

    /** Whether the first is exactly the beginning of the second. */
    void assertBegins() {
      byte[] bytes = hit.bytes();
      assertArrayEquals(Arrays.copyOf(next.bytes(), bytes.length), bytes);
    }
  }

  // --- cuts
  // ---------------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "CLEAN, WHOLE",
    "BETWEEN_CHUNKS, ENDED",
    "IN_CHUNK, ENDED",
    "RESET, RESET",
    "HALF_CLOSED, ENDED"
  })
  void aStreamIsCutAfterSoManyEventsAndEndsAsItIsScripted(String end, Streamed.End seen)
      throws Exception {
    for (Wire wire : Wire.values()) {
      for (int events : new int[] {0, 1, 4}) {
        try (ScriptedServer server =
            faulty("\"cut\": { \"events\": %d, \"end\": \"%s\" }".formatted(events, end))) {
          Pair pair = Pair.of(server, wire);
          assertEquals("HTTP/1.1 200 OK", pair.hit.head().getFirst());
          assertEquals(seen, pair.hit.end());
          assertEquals(pair.next.events().subList(0, events), pair.hit.events());
          pair.assertBegins();
          assertEquals(200, server.exchanges().getFirst().status());
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aStreamIsCutAtAnyByte(Wire wire) throws Exception {
    int length;
    try (ScriptedServer server = faulty("\"slowHeaders\": \"PT0S\"");
        RawClient client = new RawClient(server)) {
      length = wire.stream(client, "a").bytes().length;
    }
    for (int bytes = 0; bytes <= length; bytes += 1 + bytes / 2) {
      for (Fault.End end : Fault.End.values()) {
        try (ScriptedServer server =
            faulty("\"cut\": { \"bytes\": %d, \"end\": \"%s\" }".formatted(bytes, end))) {
          Pair pair = Pair.of(server, wire);
          assertEquals(bytes, pair.hit.bytes().length);
          pair.assertBegins();
          assertEquals(end == Fault.End.CLEAN, pair.hit.end() == Streamed.End.WHOLE);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void moreBytesThanThereAreCutOnlyTheEnd(Wire wire) throws Exception {
    for (String cut : List.of("\"cutBodyAfter\": 1000000", "\"cut\": { \"chunks\": 99 }")) {
      try (ScriptedServer server = faulty(cut)) {
        Pair pair = Pair.of(server, wire);
        assertEquals(pair.next.text(), pair.hit.text());
        assertEquals(Streamed.End.ENDED, pair.hit.end());
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void chunksAreCountedAndNotTheEventsAroundThem(Wire wire) throws Exception {
    List<String> said = List.of("", "One ", "One two ", "One two three ");
    for (int chunks = 0; chunks < said.size(); chunks++) {
      try (ScriptedServer server =
          faulty("\"cut\": { \"chunks\": %d, \"end\": \"CLEAN\" }".formatted(chunks))) {
        Pair pair = Pair.of(server, wire);
        assertEquals(said.get(chunks), pair.hit.said());
        assertTrue(pair.hit.events().size() > chunks, pair.hit::text); // the preamble has come
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "CHAT, TERMINATOR, 1, finish_reason\":\"stop",
    "CHAT, FINISH, 2, five.",
    "MESSAGES, TERMINATOR, 1, message_delta",
    "MESSAGES, FINISH, 2, content_block_stop",
    "RESPONSES, TERMINATOR, 1, output_item.done",
    "RESPONSES, FINISH, 1, output_item.done"
  })
  void theTerminatorOrTheFinishIsLeftOut(Wire wire, String before, int missing, String last)
      throws Exception {
    try (ScriptedServer server =
        faulty("\"cut\": { \"before\": \"%s\", \"end\": \"CLEAN\" }".formatted(before))) {
      Pair pair = Pair.of(server, wire);
      List<Streamed.Event> all = pair.next.events();
      assertEquals(all.subList(0, all.size() - missing), pair.hit.events());
      assertEquals(SAID, pair.hit.said());
      assertEquals(Streamed.End.WHOLE, pair.hit.end());
      assertTrue(pair.hit.events().getLast().toString().contains(last), pair.hit::text);
    }
  }

  @Test
  void aHalfClosedConnectionIsStillRead() throws Exception {
    try (ScriptedServer server = faulty("\"cut\": { \"events\": 2, \"end\": \"HALF_CLOSED\" }")) {
      try (RawClient client = new RawClient(server)) {
        assertEquals(2, Wire.CHAT.stream(client, "a").events().size());
        client.send("more".repeat(10_000)); // nobody resets it
        assertEquals(1, server.openConnections());
        assertEquals(List.of(), server.closes());
      }
      ClientClose close = server.awaitClose(1, SOON);
      assertEquals(2, close.events());
      assertFalse(close.reset());
      server.awaitOpenConnections(0, SOON);
    }
  }

  // --- stalls
  // -------------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"events\": 0              | 0",
        "\"events\": 3              | 3",
        "\"chunks\": 0              | 1",
        "\"chunks\": 2              | 3",
        "\"before\": \"FINISH\"     | 6",
        "\"before\": \"TERMINATOR\" | 7",
        "\"events\": 99             | 8"
      })
  void aStreamStallsAndTheCloseOfItsClientIsSeen(String point, int events) throws Exception {
    try (ScriptedServer server = faulty("\"stall\": { " + point + " }")) {
      RawClient client = Wire.CHAT.ask(new RawClient(server), "a", true);
      assertEquals("HTTP/1.1 200 OK", client.readHead().getFirst());
      for (int i = 0; i < events; i++) {
        assertTrue(client.readChunk().length > 0);
      }
      assertEquals(1, server.openStreams());
      client.close();
      ClientClose close = server.awaitClose(1, SOON);
      assertEquals(ClientClose.Phase.STREAMING, close.phase());
      assertEquals(events, close.events());
      server.awaitOpenConnections(0, SOON);
      assertEquals(0, server.openStreams());
      try (RawClient next = new RawClient(server)) {
        assertEquals(SAID, Wire.CHAT.stream(next, "a").said());
      }
    }
  }

  @Test
  void aStreamStallsInTheMiddleOfAnEvent() throws Exception {
    try (ScriptedServer server = faulty("\"stall\": { \"bytes\": 10 }")) {
      RawClient client = Wire.CHAT.ask(new RawClient(server), "a", true);
      client.readHead();
      assertEquals("data: {\"id", new String(client.readChunk(), StandardCharsets.US_ASCII));
      client.reset();
      ClientClose close = server.awaitClose(1, SOON);
      assertEquals(0, close.events());
      assertTrue(close.reset());
    }
  }

  // --- errors inside a success
  // --------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "CHAT      | | {\"error\":{\"message\":\"Full.\",\"type\":\"server_error\","
            + "\"param\":null,\"code\":\"overloaded_error\"}}",
        "RESPONSES | error | {\"type\":\"error\",\"sequence_number\":%d,"
            + "\"code\":\"overloaded_error\",\"message\":\"Full.\",\"param\":null}",
        "MESSAGES  | error | {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
            + "\"message\":\"Full.\"}}"
      })
  void anErrorEventHasTheFormOfItsProtocol(Wire wire, String name, String data) throws Exception {
    for (int chunks : new int[] {0, 2}) {
      try (ScriptedServer server =
          faulty(
              "\"errorEvent\": { \"chunks\": %d, \"code\": \"overloaded_error\", \"message\":"
                      .formatted(chunks)
                  + " \"Full.\" }")) {
        Pair pair = Pair.of(server, wire);
        List<Streamed.Event> events = pair.hit.events();
        assertEquals(chunks == 0 ? "" : "One two ", pair.hit.said());
        assertEquals(name == null ? "" : name, events.getLast().name());
        assertEquals(data.replace("%d", "" + (events.size() - 1)), events.getLast().data());
        assertEquals(Streamed.End.WHOLE, pair.hit.end());
      }
    }
  }

  @Test
  void anErrorMayBeTheFirstEventOfAStream() throws Exception {
    try (ScriptedServer server =
        faulty("\"errorEvent\": { \"events\": 0, \"code\": \"overloaded_error\" }")) {
      Streamed hit = Pair.of(server, Wire.MESSAGES).hit;
      assertEquals(List.of("error"), hit.names());
    }
  }

  @Test
  void aFailedResponseEndsItsStream() throws Exception {
    try (ScriptedServer server =
        faulty("\"errorEvent\": { \"chunks\": 1, \"failed\": true, \"code\": \"server_error\" }")) {
      Streamed.Event last = Pair.of(server, Wire.RESPONSES).hit.events().getLast();
      assertEquals("response.failed", last.name());
      assertEquals("failed", last.json().at("/response/status").stringValue());
      assertEquals("server_error", last.json().at("/response/error/code").stringValue());
    }
  }

  @ParameterizedTest
  @EnumSource
  void aStatusOf200MayCarryAnErrorOrAnyBytesOfAStream(Wire wire) throws Exception {
    try (ScriptedServer server =
            serving(
                "",
                """
                { "every": 2, "from": 1, "status": 200, "body": { "error": { "code": 429 } } },
                { "every": 2, "status": 200, "headers": { "Content-Type": "text/event-stream" },
                  "body": "data: {\\"error\\":{}}\\n\\ndata: [DONE]\\n\\n" }
                """);
        RawClient client = new RawClient(server)) {
      RawClient.Response error = wire.ask(client, "a", true).read();
      assertEquals("HTTP/1.1 200 OK", error.status());
      assertEquals("Content-Type: application/json", error.head().get(1));
      assertEquals("{\"error\":{\"code\":429}}", error.body());
      RawClient.Response raw = wire.ask(client, "a", true).read();
      assertEquals("Content-Type: text/event-stream", raw.head().get(1));
      assertEquals("data: {\"error\":{}}\n\ndata: [DONE]\n\n", raw.body());
    }
  }

  // --- the wrong kind of answer
  // -------------------------------------------------------------------

  @ParameterizedTest
  @EnumSource
  void aStreamIsAnsweredAsJsonAndAnythingElseAsAStream(Wire wire) throws Exception {
    try (ScriptedServer server = serving("", "{ \"times\": 2, \"wrongType\": true }");
        RawClient client = new RawClient(server)) {
      RawClient.Response whole = wire.ask(client, "a", true).read();
      assertTrue(whole.head().contains("Content-Type: application/json"), whole::toString);
      Streamed streamed = Streamed.read(wire.ask(client, "a", false));
      assertTrue(
          streamed.head().contains("Content-Type: text/event-stream; charset=utf-8"),
          streamed::text);
      assertEquals(SAID, streamed.said());
      assertEquals(whole.body(), wire.ask(client, "a", false).read().body());
      assertEquals(2, server.count(ExchangeOutcome.FAULT));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"status\": 503             | HTTP/1.1 503 Service Unavailable",
        "\"garbage\": \"BODY\"       | HTTP/1.1 200 OK"
      })
  void faultsOfWholeAnswersHitStreamsToo(String effect, String status) throws Exception {
    for (Wire wire : Wire.values()) {
      try (ScriptedServer server = faulty(effect);
          RawClient client = new RawClient(server)) {
        RawClient.Response response = wire.ask(client, "a", true).read();
        assertEquals(status, response.status());
        assertTrue(response.head().contains("Content-Type: application/json"));
        assertEquals(SAID, wire.stream(client, "a").said());
      }
    }
  }

  @Test
  void resetsGarbageAndStallsHitStreamsToo() throws Exception {
    for (Wire wire : Wire.values()) {
      try (ScriptedServer server =
          serving(
              "",
              """
              { "every": 5, "from": 1, "reset": "BEFORE_HEADERS" },
              { "every": 5, "from": 2, "reset": "AFTER_HEADERS" },
              { "every": 5, "from": 3, "reset": "IN_BODY" },
              { "every": 5, "from": 4, "garbage": "BYTES" }, { "every": 5, "stall": true }
              """)) {
        try (RawClient client = new RawClient(server)) {
          wire.ask(client, "a", true);
          assertThrows(SocketException.class, client::readHead);
        }
        try (RawClient client = new RawClient(server)) {
          Streamed head = wire.stream(client, "a");
          assertEquals("HTTP/1.1 200 OK", head.head().getFirst());
          assertTrue(head.head().contains("Transfer-Encoding: chunked"));
          assertEquals(List.of(), head.chunks());
          assertEquals(Streamed.End.RESET, head.end());
        }
        try (RawClient client = new RawClient(server)) {
          Streamed half = wire.stream(client, "a");
          assertEquals(Streamed.End.RESET, half.end());
          assertFalse(half.events().isEmpty());
          assertFalse(half.said().equals(SAID));
        }
        try (RawClient client = new RawClient(server)) {
          assertTrue(wire.ask(client, "a", true).readToEnd().contains("this is no HTTP"));
        }
        try (RawClient client = new RawClient(server)) {
          wire.ask(client, "a", true);
          assertEquals(5, server.awaitRequest(5, SOON).number());
          assertEquals(0, server.openStreams());
        }
        ClientClose close = server.awaitClose(5, SOON);
        assertEquals(ClientClose.Phase.WAITING, close.phase());
        assertEquals(0, close.events());
      }
    }
  }

  // --- faults of streams and answers that are none
  // ------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"events\": 0               | IN_CHUNK    | 0  | ENDED",
        "\"events\": 1               | IN_CHUNK    | -1 | ENDED",
        "\"chunks\": 5               | RESET       | -1 | RESET",
        "\"bytes\": 20               | HALF_CLOSED | 20 | ENDED",
        "\"before\": \"TERMINATOR\"  | RESET       | -1 | RESET"
      })
  void anAnswerThatIsNoStreamIsOneEvent(String point, String end, int bytes, Streamed.End seen)
      throws Exception {
    try (ScriptedServer server = faulty("\"cut\": { %s, \"end\": \"%s\" }".formatted(point, end));
        RawClient client = new RawClient(server);
        RawClient whole = new RawClient(server)) {
      Wire.CHAT.ask(client, "a", false).readHead();
      StringBuilder got = new StringBuilder();
      Streamed.End ended = Streamed.End.ENDED;
      try {
        while (true) {
          got.append(client.readByte());
        }
      } catch (SocketException e) {
        ended = Streamed.End.RESET;
      } catch (IOException e) {
        // The end in order.
      }
      RawClient.Response full = Wire.CHAT.ask(whole, "a", false).read();
      int length = full.body().getBytes(StandardCharsets.UTF_8).length;
      assertEquals(bytes < 0 ? length + bytes : bytes, got.length());
      assertEquals(seen, ended);
    }
  }

  @Test
  void anAnswerThatIsNoStreamMayBeCutInOrder() throws Exception {
    try (ScriptedServer server = faulty("\"cut\": { \"bytes\": 20, \"end\": \"CLEAN\" }");
        RawClient client = new RawClient(server)) {
      RawClient.Response cut = Wire.CHAT.ask(client, "a", false).read();
      assertEquals(20, cut.body().length());
      assertTrue(cut.head().contains("Content-Length: 20"));
    }
  }

  @Test
  void anAnswerThatIsNoStreamStallsInItsBody() throws Exception {
    try (ScriptedServer server = faulty("\"stall\": { \"bytes\": 5 }")) {
      RawClient client = Wire.CHAT.ask(new RawClient(server), "a", false);
      client.readHead();
      StringBuilder got = new StringBuilder();
      for (int i = 0; i < 5; i++) {
        got.append(client.readByte());
      }
      assertEquals("{\"id\"", got.toString());
      client.close();
      assertEquals(ClientClose.Phase.WAITING, server.awaitClose(1, SOON).phase());
    }
  }

  @ParameterizedTest
  @EnumSource
  void anErrorInAnAnswerThatIsNoStreamIsItsBody(Wire wire) throws Exception {
    try (ScriptedServer server =
            faulty("\"errorEvent\": { \"code\": \"api_error\", \"message\": \"Oh.\" }");
        RawClient client = new RawClient(server)) {
      RawClient.Response response = wire.ask(client, "a", false).read();
      assertEquals("HTTP/1.1 200 OK", response.status());
      JsonNode error = StrictJson.read(response.body()).path("error");
      assertEquals("Oh.", error.path("message").stringValue());
      assertEquals("api_error", error.path("code").asString(error.path("type").stringValue()));
    }
  }

  // --- the form of the bytes
  // ----------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({"LF, '\n'", "CRLF, '\r\n'", "CR, '\r'"})
  void linesEndAsItIsScripted(String name, String end) throws Exception {
    for (Wire wire : Wire.values()) {
      try (ScriptedServer plain = streaming("");
          ScriptedServer other = streaming("\"lineEnd\": \"" + name + "\"");
          RawClient first = new RawClient(plain);
          RawClient second = new RawClient(other)) {
        Streamed streamed = wire.stream(second, "a");
        assertEquals(wire.stream(first, "a").text().replace("\n", end), streamed.text());
        assertEquals(SAID, streamed.said());
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void bytesComeSoManyAtATimeWhereverThatCuts(Wire wire) throws Exception {
    for (int size : new int[] {1, 3, 1_000, 100_000}) {
      try (ScriptedServer plain = streaming("");
          ScriptedServer dribbling = streaming("\"dribble\": { \"bytes\": " + size + " }");
          RawClient first = new RawClient(plain);
          RawClient second = new RawClient(dribbling)) {
        Streamed whole = wire.stream(first, "a");
        Streamed parcels = wire.stream(second, "a");
        assertEquals(whole.text(), parcels.text());
        List<byte[]> chunks = parcels.chunks();
        for (byte[] parcel : chunks.subList(0, chunks.size() - 1)) {
          assertEquals(size, parcel.length);
        }
        assertTrue(chunks.getLast().length <= size);
      }
    }
  }

  @Test
  void aStreamThatDribblesIsCutWhereItIsScripted() throws Exception {
    for (String point : List.of("\"bytes\": 100", "\"events\": 2", "\"chunks\": 1")) {
      try (ScriptedServer server =
          serving(
              "\"dribble\": { \"bytes\": 7 }",
              "{ \"times\": 1, \"cut\": { " + point + ", \"end\": \"RESET\" } }")) {
        Pair pair = Pair.of(server, Wire.CHAT);
        assertEquals(Streamed.End.RESET, pair.hit.end());
        pair.assertBegins();
        if (point.startsWith("\"bytes")) {
          assertEquals(100, pair.hit.bytes().length);
        } else {
          assertEquals(2, pair.hit.events().size());
        }
      }
    }
  }

  @Test
  void pausesPassBeforeParcelsAndChunks() throws Exception {
    for (String form :
        List.of(
            "\"dribble\": { \"bytes\": 10000, \"pause\": \"PT0.05S\" }, \"firstPause\":"
                + " \"PT0.05S\"",
            "\"pause\": \"PT0.0125S\"", // five chunks
            "\"characters\": 99, \"heartbeats\": 4, \"firstPause\": \"PT0.01S\"",
            "\"dribble\": { \"bytes\": 300, \"pause\": \"PT0.02S\" }")) {
      try (ScriptedServer server = streaming(form);
          RawClient client = new RawClient(server)) {
        long start = System.nanoTime();
        assertEquals(SAID, Wire.CHAT.stream(client, "a").said());
        assertTrue(System.nanoTime() - start >= 50_000_000, form);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "CHAT, ': heartbeat'",
    "RESPONSES, ': heartbeat'",
    "MESSAGES, 'event: ping\ndata: {\"type\":\"ping\"}'"
  })
  void signsOfLifeStandInFrontOfEachChunk(Wire wire, String sign) throws Exception {
    try (ScriptedServer plain = streaming("");
        ScriptedServer alive = streaming("\"heartbeats\": 2");
        RawClient first = new RawClient(plain);
        RawClient second = new RawClient(alive)) {
      Streamed whole = wire.stream(first, "a");
      Streamed more = wire.stream(second, "a");
      assertEquals(SAID, more.said());
      List<String> chunks = new ArrayList<>();
      for (byte[] chunk : more.chunks()) {
        chunks.add(new String(chunk, StandardCharsets.UTF_8));
      }
      String written = sign + "\n\n";
      assertEquals(whole.chunks().size() + 10, chunks.size());
      int at = chunks.indexOf(chunks.stream().filter(c -> c.contains("One ")).findFirst().get());
      assertEquals(List.of(written, written), chunks.subList(at - 2, at));
    }
  }
}
