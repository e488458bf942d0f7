package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.RawServer.Close;
import dev.warpwright.adapters.http.RawServer.Script;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class StreamExchangeTest {
  private static final Failures FAILURES =
      new Failures(
          new ErrorTable(
              "Test",
              "x-request-id",
              ErrorTable.COMMON_NAMES,
              ErrorTable.COMMON_CONTEXT_NAMES,
              List.of()),
          InstantSource.fixed(Instant.ofEpochMilli(1_741_305_570_000L)),
          Optional.empty());
  private static final String EVENTS = "text/event-stream";
  private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
  private static final String OPEN = HEAD + "Transfer-Encoding: chunked\r\n\r\n";
  private static final String CHUNKED = OPEN + "5\r\ndata:\r\n";
  private static final String COUNTED = HEAD + "Content-Length: 100\r\n\r\ndata:";
  private static final String FAILED =
      "HTTP/1.1 500 No\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"a\":";
  private static final String OTHER_TYPE =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"a\":";

  private final Transport transport = Transport.own(Duration.ofSeconds(10));
  private final StreamExchange exchange = new StreamExchange(transport, FAILURES);

  @AfterEach
  void close() {
    assertEquals(0, transport.leases());
    transport.close();
  }

  /** Keeps what came; wants more until the text says that it is enough. */
  private static final class Kept implements StreamExchange.Body<String> {
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private final Predicate<String> enough;

    Kept(Predicate<String> enough) {
      this.enough = enough;
    }

    @Override
    public boolean read(byte[] bytes, int length) {
      assertTrue(length > 0);
      kept.write(bytes, 0, length);
      return !enough.test(kept.toString(StandardCharsets.UTF_8));
    }

    @Override
    public String end() {
      return kept.toString(StandardCharsets.UTF_8);
    }
  }

  private static <T> T post(StreamExchange exchange, URI uri, StreamExchange.Body<T> body)
      throws InterruptedException {
    return exchange.post(
        uri,
        Map.of("Authorization", "Bearer k"),
        "{\"q\":1}".getBytes(StandardCharsets.UTF_8),
        _ -> body);
  }

  private static String post(StreamExchange exchange, URI uri) throws InterruptedException {
    return post(exchange, uri, new Kept(_ -> false));
  }

  private ProviderException failure(Script script, Close... closes) throws Exception {
    return failure(exchange, script, closes);
  }

  private static ProviderException failure(StreamExchange exchange, Script script, Close... closes)
      throws Exception {
    try (RawServer server = new RawServer(script)) {
      ProviderException failure =
          assertThrows(ProviderException.class, () -> post(exchange, server.uri()));
      assertEquals(1, server.requests().size(), "a request is sent once");
      for (Close close : closes) {
        close.await();
      }
      return failure;
    }
  }

  private static String chunk(String text) {
    return Integer.toHexString(text.getBytes(StandardCharsets.UTF_8).length)
        + "\r\n"
        + text
        + "\r\n";
  }

  // --- the request ---------------------------------------------------------------------------

  @Test
  @Tag("Y18")
  @Tag("Y33")
  @Tag("FR-P01")
  void a_request_is_json_that_asks_for_events_over_http_1_1_without_an_upgrade() throws Exception {
    try (HttpClient lent = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
        RawServer server = new RawServer(c -> c.answer("200 OK", EVENTS, "data: a\n\n"))) {
      ObservedClient observed = new ObservedClient(lent);
      StreamExchange borrowing = new StreamExchange(Transport.borrow(observed), FAILURES);
      assertEquals("data: a\n\n", post(borrowing, server.uri()));
      String request = server.requests().getFirst().toLowerCase(Locale.ROOT);
      assertTrue(request.startsWith("post / http/1.1\r\n"), request);
      assertFalse(request.contains("upgrade"), request);
      assertTrue(request.contains("\r\ncontent-type: application/json\r\n"), request);
      assertTrue(request.contains("\r\naccept: text/event-stream\r\n"), request);
      assertTrue(request.contains("\r\nauthorization: bearer k\r\n"), request);
      assertTrue(request.endsWith("\r\n\r\n{\"q\":1}"), request);
      assertTrue(observed.requests.getFirst().timeout().isEmpty(), "Y19");
    }
  }

  // --- the answer while it comes -------------------------------------------------------------

  @Test
  @Tag("Y11")
  void bytes_are_read_as_soon_as_they_are_there_and_on_the_calling_thread() throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    AtomicReference<Thread> reader = new AtomicReference<>();
    try (RawServer server =
        new RawServer(
            c -> {
              c.write(OPEN + chunk("first"));
              assertTrue(seen.await(10, TimeUnit.SECONDS));
              c.write(chunk("second") + "0\r\n\r\n");
            })) {
      Kept kept =
          new Kept(
              text -> {
                reader.set(Thread.currentThread());
                if (text.equals("first")) {
                  seen.countDown();
                }
                return false;
              });
      assertEquals("firstsecond", post(exchange, server.uri(), kept));
      assertSame(Thread.currentThread(), reader.get());
    }
  }

  @Test
  @Tag("Y22")
  void an_answer_that_ended_leaves_its_connection_usable() throws Exception {
    try (RawServer server = new RawServer(c -> c.write(OPEN + chunk("a") + "0\r\n\r\n"))) {
      for (int i = 0; i < 5; i++) {
        assertEquals("a", post(exchange, server.uri()));
      }
      assertEquals(1, server.connections());
    }
  }

  @Test
  @Tag("Y9")
  @Tag("Y22")
  void behind_the_terminator_the_end_is_read_if_it_comes_at_once() throws Exception {
    try (RawServer server =
        new RawServer(c -> c.write(OPEN + chunk("[DONE]") + chunk("more") + "0\r\n\r\n"))) {
      for (int i = 0; i < 5; i++) {
        assertTrue(
            post(exchange, server.uri(), new Kept(text -> text.contains("[DONE]")))
                .startsWith("[DONE]"));
      }
      assertEquals(1, server.connections());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {CHUNKED, COUNTED, HEAD + "\r\ndata:"})
  @Tag("Y9")
  @Tag("R122")
  void behind_the_terminator_a_body_that_stays_open_is_closed(String sent) throws Exception {
    Close close = new Close();
    try (RawServer server =
        new RawServer(
            c -> {
              c.write(sent);
              c.awaitClose(close);
            })) {
      assertEquals("data:", post(exchange, server.uri(), new Kept(text -> text.equals("data:"))));
      close.await();
    }
  }

  @Test
  @Tag("Y9")
  @Tag("R119")
  void behind_the_terminator_endless_bytes_and_a_cut_change_nothing() throws Exception {
    CountDownLatch read = new CountDownLatch(1);
    Close close = new Close();
    try (RawServer endless =
            new RawServer(
                c -> {
                  c.write(OPEN);
                  try {
                    while (true) {
                      c.write(chunk("x".repeat(1_000)));
                    }
                  } catch (IOException _) {
                    c.awaitClose(close);
                  }
                });
        RawServer cutting =
            new RawServer(
                c -> {
                  c.write(CHUNKED);
                  assertTrue(read.await(10, TimeUnit.SECONDS)); // a reset discards what was not
                  c.reset();
                })) {
      assertTrue(post(exchange, endless.uri(), new Kept(_ -> true)).startsWith("x"));
      close.await();
      Kept enough =
          new Kept(
              _ -> {
                read.countDown();
                return true;
              });
      assertEquals("data:", post(exchange, cutting.uri(), enough));
    }
  }

  // --- cancel --------------------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(strings = {"", HEAD, OPEN, OPEN + "5\r\nda", CHUNKED, COUNTED, FAILED, OTHER_TYPE})
  @Tag("Y20")
  @Tag("Y22")
  @Tag("FR-C03")
  @Tag("R118")
  @Tag("R122")
  void an_interrupt_ends_the_call_and_the_server_sees_the_close(String sent) throws Exception {
    Close close = new Close();
    CountDownLatch stalled = new CountDownLatch(1);
    try (RawServer server =
        new RawServer(
            c -> {
              c.write(sent);
              stalled.countDown();
              c.awaitClose(close);
            })) {
      Caller caller = new Caller(() -> post(exchange, server.uri()));
      assertTrue(stalled.await(10, TimeUnit.SECONDS));
      caller.awaitWaiting();
      caller.thread.interrupt();
      assertInstanceOf(InterruptedException.class, caller.outcome());
      close.await();
    }
  }

  @Test
  @Tag("Y20")
  @Tag("Y22")
  void no_connection_stays_open_whenever_the_interrupt_comes() throws Exception {
    AtomicReference<Close> next = new AtomicReference<>();
    try (RawServer server =
        new RawServer(
            c -> {
              Close close = next.get();
              c.write(CHUNKED);
              c.awaitClose(close);
            })) {
      for (int i = 0; i < 100; i++) {
        Close close = new Close();
        next.set(close);
        int before = server.requests().size();
        Caller caller = new Caller(() -> post(exchange, server.uri()));
        while (server.requests().size() == before) {
          Thread.onSpinWait();
        }
        LockSupport.parkNanos(i * 10_000L); // from before the headers to within the body
        caller.thread.interrupt();
        assertInstanceOf(InterruptedException.class, caller.outcome());
        close.await();
      }
    }
  }

  /** A reader that is told of the interrupt by what it waits for, or not at all. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("Y20")
  @Tag("Y22")
  void an_interrupt_while_the_reader_is_busy_ends_the_call_though_bytes_are_there(boolean blocks)
      throws Exception {
    Close close = new Close();
    CountDownLatch reading = new CountDownLatch(1);
    try (RawServer server =
        new RawServer(
            c -> {
              c.write(OPEN + chunk("x".repeat(100_000)));
              c.awaitClose(close);
            })) {
      Caller caller =
          new Caller(
              () ->
                  post(
                      exchange,
                      server.uri(),
                      new StreamExchange.Body<String>() {
                        @Override
                        public boolean read(byte[] bytes, int length) throws InterruptedException {
                          reading.countDown();
                          if (blocks) {
                            new CountDownLatch(1).await();
                          }
                          while (!Thread.currentThread().isInterrupted()) {
                            Thread.onSpinWait();
                          }
                          return true;
                        }

                        @Override
                        public String end() {
                          return "ended";
                        }
                      }));
      assertTrue(reading.await(10, TimeUnit.SECONDS));
      caller.thread.interrupt();
      assertInstanceOf(InterruptedException.class, caller.outcome());
      close.await();
    }
  }

  @Test
  @Tag("Y22")
  void what_a_reader_throws_goes_through_and_closes_the_body() throws Exception {
    Close close = new Close();
    IllegalStateException surprise = new IllegalStateException("surprise");
    try (RawServer server =
        new RawServer(
            c -> {
              c.write(CHUNKED);
              c.awaitClose(close);
            })) {
      Kept throwing =
          new Kept(
              _ -> {
                throw surprise;
              });
      assertSame(
          surprise,
          assertThrows(IllegalStateException.class, () -> post(exchange, server.uri(), throwing)));
      close.await();
    }
  }

  @Test
  @Tag("Y26")
  void closing_the_adapter_ends_an_open_stream() throws Exception {
    Close close = new Close();
    CountDownLatch reading = new CountDownLatch(1);
    try (RawServer server =
        new RawServer(
            c -> {
              c.write(CHUNKED);
              c.awaitClose(close);
            })) {
      Kept kept =
          new Kept(
              _ -> {
                reading.countDown();
                return false;
              });
      Caller caller = new Caller(() -> post(exchange, server.uri(), kept));
      assertTrue(reading.await(10, TimeUnit.SECONDS));
      transport.close();
      ProviderException failure = assertInstanceOf(ProviderException.class, caller.outcome());
      assertEquals("The adapter was closed.", failure.getMessage());
      close.await();
    }
  }

  // --- broken connections --------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(strings = {"", "HTTP/1.1 200 OK\r\nCont", OPEN, CHUNKED, OPEN + "ff\r\nd", COUNTED})
  @Tag("Y17")
  @Tag("R91")
  void a_body_that_is_cut_or_reset_is_a_read_failure(String sent) throws Exception {
    ProviderException cut =
        failure(
            c -> {
              c.write(sent);
              c.cut();
            });
    assertEquals(Kind.READ, cut.kind(), cut.getMessage());
    ProviderException reset =
        failure(
            c -> {
              c.write(sent);
              c.reset();
            });
    assertEquals(Kind.READ, reset.kind(), reset.getMessage());
  }

  // --- what is no stream ---------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(strings = {EVENTS, "TEXT/Event-Stream; charset=UTF-8", "text/event-stream;x=y", ""})
  @Tag("Y15")
  void events_are_recognised_whatever_the_parameters_and_case_and_without_a_type(String type)
      throws Exception {
    try (RawServer server =
        new RawServer(
            c ->
                c.write(
                    "HTTP/1.1 200 OK\r\n"
                        + (type.isEmpty() ? "" : "Content-Type: " + type + "\r\n")
                        + "Content-Length: 3\r\n\r\nabc"))) {
      assertEquals("abc", post(exchange, server.uri()));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "application/json; charset=utf-8, application/json",
    "text/html, text/html",
    "application/x-ndjson, application/x-ndjson",
    "text/plain, text/plain",
    "'a\"b c', a?b?c"
  })
  @Tag("Y16")
  @Tag("FR-S23")
  void another_content_type_breaks_the_protocol_and_is_named(String type, String named)
      throws Exception {
    try (RawServer server =
        new RawServer(c -> c.answer("200 OK", type, "{\"choices\":[{\"message\":{}}]}"))) {
      for (int i = 0; i < 3; i++) {
        ProviderException failure =
            assertThrows(ProviderException.class, () -> post(exchange, server.uri()));
        assertEquals(Kind.PROTOCOL, failure.kind());
        assertTrue(failure.getMessage().contains("\"" + named + "\""), failure.getMessage());
        assertTrue(failure.getMessage().contains("text/event-stream"), failure.getMessage());
      }
      assertEquals(1, server.connections());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"application/json", "text/plain", "application/problem+json"})
  @Tag("Y16")
  @Tag("FR-X05")
  void an_error_object_instead_of_a_stream_is_classified(String type) throws Exception {
    ProviderException failure =
        failure(
            c ->
                c.answer(
                    "200 OK",
                    type,
                    "{\"error\":{\"code\":429,\"message\":\"Rate limit exceeded\",\"metadata\":"
                        + "{\"headers\":{\"X-RateLimit-Reset\":\"1741305600000\"}}}}"));
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(429, failure.status());
    assertEquals(Duration.ofSeconds(30), failure.retryAfter().orElseThrow());
    ProviderException bare =
        failure(c -> c.answer("200 OK", type, "{\"code\":503,\"message\":\"no\"}"));
    assertEquals(503, bare.status());
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 429, 500, 529})
  @Tag("Y35")
  @Tag("R103")
  void a_failed_status_is_reported_and_its_connection_is_used_again(int status) throws Exception {
    try (RawServer server =
        new RawServer(c -> c.answer(status + " No", EVENTS, "{\"error\":{\"message\":\"no\"}}"))) {
      for (int i = 0; i < 3; i++) {
        ProviderException failure =
            assertThrows(ProviderException.class, () -> post(exchange, server.uri()));
        assertEquals(Kind.HTTP_STATUS, failure.kind());
        assertEquals(status, failure.status());
        assertEquals("no", failure.providerMessage().orElseThrow());
      }
      assertEquals(1, server.connections());
    }
  }

  @Test
  @Tag("Y23")
  @Tag("R377")
  void a_redirect_is_not_followed() throws Exception {
    try (RawServer other = new RawServer(c -> c.answer("200 OK", EVENTS, ""))) {
      ProviderException failure =
          failure(
              c ->
                  c.write(
                      "HTTP/1.1 307 Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"
                          .formatted(other.uri())));
      assertEquals(Kind.PROTOCOL, failure.kind());
      assertEquals(0, other.connections());
    }
  }

  // --- bounds --------------------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 500 No\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n",
        OPEN
      })
  @Tag("R378")
  @Tag("Y22")
  void an_endless_body_crosses_a_bound_and_is_closed(String head) throws Exception {
    Close close = new Close();
    ProviderException failure =
        failure(
            new StreamExchange(transport, FAILURES, 100_000),
            c -> {
              c.write(head);
              try {
                while (true) {
                  c.write(chunk(":".repeat(1_000)));
                }
              } catch (IOException _) {
                c.awaitClose(close);
              }
            },
            close);
    assertEquals(head.contains("500") ? Kind.HTTP_STATUS : Kind.PROTOCOL, failure.kind());
    if (head.equals(OPEN)) {
      assertTrue(failure.getMessage().contains("100000 bytes"), failure.getMessage());
    }
  }

  @Test
  @Tag("R378")
  void an_answer_at_the_bound_is_read_and_one_byte_more_is_refused() throws Exception {
    String body = "x".repeat(1_000);
    try (RawServer server =
        new RawServer(c -> c.write(OPEN + chunk(body.substring(1)) + chunk("x") + "0\r\n\r\n"))) {
      assertEquals(body, post(new StreamExchange(transport, FAILURES, 1_000), server.uri()));
      ProviderException failure =
          assertThrows(
              ProviderException.class,
              () -> post(new StreamExchange(transport, FAILURES, 999), server.uri()));
      assertEquals(Kind.PROTOCOL, failure.kind());
    }
  }

  @Test
  @Tag("R378")
  void an_answer_that_announces_more_than_128_mib_is_refused_without_being_read() throws Exception {
    Close close = new Close();
    ProviderException failure =
        failure(
            c -> {
              c.write(HEAD + "Content-Length: 134217729\r\n\r\ndata:");
              c.awaitClose(close);
            },
            close);
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("134217728"), failure.getMessage());
  }
}
