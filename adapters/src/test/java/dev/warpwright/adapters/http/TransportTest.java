package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.RawServer.Close;
import dev.warpwright.model.ProviderException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of the connections on which something came that is no HTTP. */
@Timeout(120)
final class TransportTest {
  private static final Failures FAILURES =
      new Failures(
          new ErrorTable(
              "Test",
              "x-request-id",
              ErrorTable.COMMON_NAMES,
              ErrorTable.COMMON_CONTEXT_NAMES,
              List.of()),
          InstantSource.system(),
          Authorization.NONE);

  /** Answers for which the JDK's client does not close the connection. */
  enum Garbled {
    ANOTHER_PROTOCOL("SSH-2.0-OpenSSH\r\n"),
    NO_STATUS("HTTP/1.1 abc\r\n\r\n"),
    NO_HEADER_NAME("HTTP/1.1 200 OK\r\nb@d(): x\r\n\r\n"),
    CONTROL_CHARACTER("HTTP/1.1 200 OK\r\nX: a\u0001b\r\n\r\n"),
    NO_CONTENT_LENGTH("HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n{}"),
    ENDLESS_HEADER("HTTP/1.1 200 OK\r\nX: ", "x".repeat(1_000)),
    ENDLESS_HEADERS("HTTP/1.1 200 OK\r\n", "X: x\r\n".repeat(100)),
    ENDLESS_INTERIM_ANSWERS("", "HTTP/1.1 100 Continue\r\n\r\n".repeat(40));

    private final String first;
    private final String endless;

    Garbled(String first) {
      this(first, "");
    }

    Garbled(String first, String endless) {
      this.first = first;
      this.endless = endless;
    }

    /** Writes until the client goes away, or waits for that. */
    void serve(RawServer.Connection connection, Close close) {
      try {
        connection.write(first);
        while (!endless.isEmpty()) {
          connection.write(endless);
        }
      } catch (IOException _) {
        // the client has gone
      }
      connection.awaitClose(close);
    }
  }

  private final AtomicInteger made = new AtomicInteger();
  private final Transport transport =
      Transport.own(
          () -> {
            made.incrementAndGet();
            return HttpClient.newBuilder()
                .executor(task -> Thread.ofVirtual().start(task))
                .connectTimeout(Duration.ofSeconds(10))
                .build();
          });
  private final JsonExchange exchange = new JsonExchange(transport, FAILURES);
  private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Close> closes = new CopyOnWriteArrayList<>();
  private final CountDownLatch release = new CountDownLatch(1);

  @AfterEach
  void close() {
    release.countDown();
    transport.close();
    callers.shutdownNow();
  }

  private static String post(JsonExchange exchange, URI uri) throws InterruptedException {
    return exchange.post(
        uri, Map.of(), "{}".getBytes(StandardCharsets.UTF_8), answer -> answer.json().toString());
  }

  private RawServer garbling(Garbled garbled) throws IOException {
    return new RawServer(
        c -> {
          Close close = new Close();
          closes.add(close);
          garbled.serve(c, close);
        });
  }

  /** Answers once the test lets it. */
  private RawServer holding() throws IOException {
    return new RawServer(
        c -> {
          release.await();
          c.answer("200 OK", "application/json", "{\"a\":1}");
        });
  }

  private Future<String> begin(RawServer server) {
    int before = server.requests().size();
    Future<String> call = callers.submit(() -> post(exchange, server.uri()));
    while (server.requests().size() == before && !call.isDone()) {
      Thread.onSpinWait();
    }
    assertFalse(call.isDone());
    return call;
  }

  private void fail(RawServer server) {
    assertThrows(ProviderException.class, () -> post(exchange, server.uri()));
  }

  private void awaitCloses(int expected) throws InterruptedException {
    assertEquals(expected, closes.size());
    for (Close close : closes) {
      close.await();
    }
  }

  @ParameterizedTest
  @EnumSource(Garbled.class)
  @Tag("R122")
  void the_connection_of_an_answer_that_is_no_http_is_closed(Garbled garbled) throws Exception {
    try (RawServer server = garbling(garbled)) {
      for (int i = 0; i < 100; i++) {
        fail(server);
      }
      awaitCloses(100);
    }
  }

  @ParameterizedTest
  @EnumSource(Garbled.class)
  @Tag("R122")
  void a_call_in_flight_on_the_same_client_finishes_undisturbed(Garbled garbled) throws Exception {
    try (RawServer healthy = holding();
        RawServer server = garbling(garbled)) {
      Future<String> call = begin(healthy);
      fail(server); // on the client of the call
      assertEquals(1, made.get());
      for (int i = 0; i < 5; i++) {
        fail(server); // each on its own
      }
      for (Close close : closes.subList(1, 6)) {
        close.await();
      }
      assertFalse(call.isDone());

      release.countDown();

      assertEquals("{\"a\":1}", call.get(60, TimeUnit.SECONDS));
      awaitCloses(6);
      assertEquals("{\"a\":1}", post(exchange, healthy.uri()));
      assertEquals(7, made.get());
    }
  }

  @Test
  @Tag("R122")
  void many_failures_at_once_retire_their_client_once() throws Exception {
    int calls = 64;
    release.countDown();
    CountDownLatch arrived = new CountDownLatch(calls);
    try (RawServer healthy = holding();
        RawServer server =
            new RawServer(
                c -> {
                  Close close = new Close();
                  closes.add(close);
                  arrived.countDown();
                  arrived.await();
                  Garbled.ANOTHER_PROTOCOL.serve(c, close);
                })) {
      List<Future<String>> failing = new ArrayList<>();
      for (int i = 0; i < calls; i++) {
        failing.add(callers.submit(() -> post(exchange, server.uri())));
      }
      for (Future<String> call : failing) {
        assertThrows(Exception.class, () -> call.get(60, TimeUnit.SECONDS));
      }
      awaitCloses(calls);
      assertEquals("{\"a\":1}", post(exchange, healthy.uri()));
      assertEquals(2, made.get());
      assertEquals("{\"a\":1}", post(exchange, healthy.uri()));
      assertEquals(1, healthy.connections(), "a healthy client is kept");
    }
  }

  @Test
  @Tag("R122")
  void retired_clients_on_which_calls_run_are_bounded_and_all_connections_end_with_the_calls()
      throws Exception {
    int rounds = Transport.MAX_RETIRED + 5;
    try (RawServer healthy = holding();
        RawServer server = garbling(Garbled.ANOTHER_PROTOCOL)) {
      List<Future<String>> calls = new ArrayList<>();
      for (int i = 0; i < rounds; i++) {
        calls.add(begin(healthy));
        fail(server);
      }
      assertEquals(Transport.MAX_RETIRED + 1, made.get());

      release.countDown();

      for (Future<String> call : calls) {
        assertEquals("{\"a\":1}", call.get(60, TimeUnit.SECONDS));
      }
      awaitCloses(rounds);
      assertEquals("{\"a\":1}", post(exchange, healthy.uri()));
      assertEquals(Transport.MAX_RETIRED + 2, made.get());
    }
  }

  @Test
  @Tag("R122")
  @Tag("Y26")
  void closing_ends_retired_clients_too() throws Exception {
    try (RawServer healthy = holding();
        RawServer server = garbling(Garbled.NO_HEADER_NAME)) {
      Future<String> call = begin(healthy);
      fail(server);
      transport.close();
      awaitCloses(1);
      Throwable failure =
          assertThrows(Exception.class, () -> call.get(60, TimeUnit.SECONDS)).getCause();
      assertEquals(
          "The adapter was closed.",
          assertInstanceOf(ProviderException.class, failure).getMessage());
      fail(server);
      assertEquals(1, made.get());
    }
  }

  @Test
  @Tag("R122")
  void the_connection_is_closed_whenever_an_interrupt_comes_as_well() throws Exception {
    try (RawServer server = garbling(Garbled.ANOTHER_PROTOCOL)) {
      for (int i = 0; i < 200; i++) {
        interruptAfter(server, i * 5_000L);
      }
      awaitCloses(200);
    }
  }

  @Test
  @Tag("R122")
  void an_interrupt_among_endless_headers_closes_the_connection() throws Exception {
    try (RawServer server =
        new RawServer(
            c -> {
              Close close = new Close();
              closes.add(close);
              try {
                c.write("HTTP/1.1 200 OK\r\n");
                while (true) {
                  c.write("X: x\r\n");
                  LockSupport.parkNanos(1_000_000);
                }
              } catch (IOException _) {
                c.awaitClose(close);
              }
            })) {
      for (int i = 0; i < 20; i++) {
        interruptAfter(server, i * 500_000L);
      }
      awaitCloses(20);
    }
  }

  private void interruptAfter(RawServer server, long nanos) throws InterruptedException {
    int before = closes.size();
    Thread caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    post(exchange, server.uri());
                  } catch (ProviderException | InterruptedException _) {
                    // whichever comes first
                  }
                });
    while (closes.size() == before) {
      Thread.onSpinWait();
    }
    LockSupport.parkNanos(nanos);
    caller.interrupt();
    assertTrue(caller.join(Duration.ofSeconds(10)));
  }

  @Test
  @Tag("Y26")
  void a_lent_client_is_never_ended() throws Exception {
    release.countDown();
    try (HttpClient lent = HttpClient.newHttpClient();
        RawServer healthy = holding();
        RawServer server = garbling(Garbled.ANOTHER_PROTOCOL)) {
      JsonExchange borrowing = new JsonExchange(Transport.borrow(lent), FAILURES);
      assertThrows(ProviderException.class, () -> post(borrowing, server.uri()));
      assertEquals("{\"a\":1}", post(borrowing, healthy.uri()));
      assertFalse(lent.isTerminated());
    }
  }
}
