package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.RawServer.Close;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class StreamExchangeTest extends ExchangeContract {
  private static final String EVENTS = "text/event-stream";
  private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
  private static final String OPEN = HEAD + "Transfer-Encoding: chunked\r\n\r\n";
  private static final String CHUNKED = OPEN + "5\r\ndata:\r\n";
  private static final String COUNTED = HEAD + "Content-Length: 100\r\n\r\ndata:";

  StreamExchangeTest() {
    super(EVENTS);
  }

  @Override
  Posting exchange(Transport transport, int maxBodyBytes) {
    StreamExchange streams = new StreamExchange(transport, FAILURES, maxBodyBytes);
    return uri -> post(streams, uri, new Kept(_ -> false));
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
        BodyType.EVENTS,
        _ -> body);
  }

  private <T> T post(URI uri, StreamExchange.Body<T> body) throws InterruptedException {
    return post(new StreamExchange(transport, FAILURES), uri, body);
  }

  private static String chunk(String text) {
    return Integer.toHexString(text.getBytes(StandardCharsets.UTF_8).length)
        + "\r\n"
        + text
        + "\r\n";
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
              assertTrue(seen.await(60, TimeUnit.SECONDS));
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
      assertEquals("firstsecond", post(server.uri(), kept));
      assertSame(Thread.currentThread(), reader.get());
    }
  }

  @Test
  @Tag("Y22")
  void an_answer_that_ended_leaves_its_connection_usable() throws Exception {
    try (RawServer server = new RawServer(c -> c.write(OPEN + chunk("a") + "0\r\n\r\n"))) {
      for (int i = 0; i < 5; i++) {
        assertEquals("a", exchange.post(server.uri()));
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
            post(server.uri(), new Kept(text -> text.contains("[DONE]"))).startsWith("[DONE]"));
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
      assertEquals("data:", post(server.uri(), new Kept(text -> text.equals("data:"))));
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
                  assertTrue(read.await(60, TimeUnit.SECONDS)); // a reset discards what was not
                  c.reset();
                })) {
      assertTrue(post(endless.uri(), new Kept(_ -> true)).startsWith("x"));
      close.await();
      Kept enough =
          new Kept(
              _ -> {
                read.countDown();
                return true;
              });
      assertEquals("data:", post(cutting.uri(), enough));
    }
  }

  // --- cancel --------------------------------------------------------------------------------

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
      assertTrue(reading.await(60, TimeUnit.SECONDS));
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
          surprise, assertThrows(IllegalStateException.class, () -> post(server.uri(), throwing)));
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
      Caller caller = new Caller(() -> post(server.uri(), kept));
      assertTrue(reading.await(60, TimeUnit.SECONDS));
      transport.close();
      ProviderException failure = assertInstanceOf(ProviderException.class, caller.outcome());
      assertEquals("The adapter was closed.", failure.getMessage());
      close.await();
    }
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
      assertEquals("abc", exchange.post(server.uri()));
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
            assertThrows(ProviderException.class, () -> exchange.post(server.uri()));
        assertEquals(Kind.PROTOCOL, failure.kind());
        assertTrue(failure.getMessage().contains("\"" + named + "\""), failure.getMessage());
        assertTrue(failure.getMessage().contains("text/event-stream"), failure.getMessage());
      }
      assertEquals(1, server.connections());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"application/json", "application/problem+json"})
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
}
