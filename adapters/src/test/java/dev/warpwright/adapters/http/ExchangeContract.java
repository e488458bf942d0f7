package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.RawServer.Close;
import dev.warpwright.adapters.http.RawServer.Script;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What every exchange does, whatever its answer is read into: the request, cancelling, broken
 * connections, failures, bounds.
 */
@Timeout(60)
abstract class ExchangeContract {
  static final Failures FAILURES =
      new Failures(
          new ErrorTable(
              "Test",
              "x-request-id",
              ErrorTable.COMMON_NAMES,
              ErrorTable.COMMON_CONTEXT_NAMES,
              List.of()),
          InstantSource.fixed(Instant.ofEpochMilli(1_741_305_570_000L)),
          Authorization.NONE);

  final Transport transport = Transport.own(Duration.ofSeconds(10));
  final Posting exchange = exchange(transport, Exchange.MAX_BODY_BYTES);
  private final String type;

  /** An exchange that expects answers of a content type. */
  ExchangeContract(String type) {
    this.type = type;
  }

  /** Sends a request and returns the answer's text. */
  @FunctionalInterface
  interface Posting {
    String post(URI uri) throws InterruptedException;
  }

  /** The kind of exchange. */
  abstract Posting exchange(Transport transport, int maxBodyBytes);

  @AfterEach
  void close() {
    assertEquals(0, transport.leases());
    transport.close();
  }

  private static String post(Posting exchange, URI uri) throws InterruptedException {
    return exchange.post(uri);
  }

  final ProviderException failure(Script script) throws Exception {
    return failure(exchange, script);
  }

  /** How the call fails; the closes are awaited while the server runs. */
  static ProviderException failure(Posting exchange, Script script, Close... closes)
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

  private static final String COUNTED =
      "HTTP/1.1 200 OK\r\nContent-Type: TYPE\r\nContent-Length: 100\r\n\r\n{\"a\":";
  private static final String CHUNKED =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n";
  private static final String FAILED =
      "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"a\":";
  private static final String MISLABELLED =
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n{\"a\":";

  @Test
  @Tag("Y18")
  @Tag("Y33")
  @Tag("FR-P01")
  void a_cleartext_request_is_http_1_1_and_offers_no_upgrade() throws Exception {
    try (RawServer server = new RawServer(c -> c.answer("200 OK", type, "{\"a\":1}"))) {
      assertEquals("{\"a\":1}", post(exchange, server.uri()));
      String request = server.requests().getFirst().toLowerCase(Locale.ROOT);
      assertTrue(request.startsWith("post / http/1.1\r\n"), request);
      assertFalse(request.contains("upgrade"), request);
      assertFalse(request.contains("http2-settings"), request);
      assertTrue(request.contains("\r\ncontent-type: application/json\r\n"), request);
      assertTrue(request.contains("\r\naccept: " + type + "\r\n"), request);
      assertTrue(request.contains("\r\nauthorization: bearer k\r\n"), request);
      assertTrue(request.endsWith("\r\n\r\n{\"q\":1}"), request);
    }
  }

  @Test
  @Tag("Y18")
  @Tag("FR-P01")
  void a_lent_client_that_prefers_http_2_sends_no_upgrade_on_cleartext_either() throws Exception {
    try (HttpClient lent = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
        RawServer server = new RawServer(c -> c.answer("200 OK", type, "{}"))) {
      post(exchange(Transport.borrow(lent), Exchange.MAX_BODY_BYTES), server.uri());
      String request = server.requests().getFirst().toLowerCase(Locale.ROOT);
      assertFalse(request.contains("upgrade"), request);
    }
  }

  @Test
  @Tag("Y19")
  @Tag("Y24")
  @Tag("FR-C05")
  void a_request_has_no_timeout_of_the_jdk() throws Exception {
    try (HttpClient client = HttpClient.newHttpClient();
        RawServer server = new RawServer(c -> c.answer("200 OK", type, "{}"))) {
      ObservedClient observed = new ObservedClient(client);
      post(exchange(Transport.borrow(observed), Exchange.MAX_BODY_BYTES), server.uri());
      assertEquals(1, observed.requests.size());
      assertTrue(observed.requests.getFirst().timeout().isEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "HTTP/1.1 200 OK\r\nX: ", COUNTED, CHUNKED, FAILED, MISLABELLED})
  @Tag("Y20")
  @Tag("Y22")
  @Tag("FR-C01")
  @Tag("FR-C03")
  void an_interrupt_ends_the_call_and_the_server_sees_the_close_within_100_ms(String sent)
      throws Exception {
    // The bound is the quickest of some rounds: a busy machine may delay any single one.
    long quickestNanos = Long.MAX_VALUE;
    for (int round = 0; round < 30 && quickestNanos > 100_000_000; round++) {
      Close close = new Close();
      CountDownLatch stalled = new CountDownLatch(1);
      try (RawServer server =
          new RawServer(
              c -> {
                c.write(sent.replace("TYPE", type));
                stalled.countDown();
                c.awaitClose(close);
              })) {
        Caller caller = new Caller(() -> post(exchange, server.uri()));
        assertTrue(stalled.await(60, TimeUnit.SECONDS));
        caller.awaitWaiting();
        long interrupted = System.nanoTime();
        caller.thread.interrupt();
        assertInstanceOf(InterruptedException.class, caller.outcome());
        quickestNanos = Math.min(quickestNanos, close.await() - interrupted);
      }
    }
    assertTrue(quickestNanos <= 100_000_000, quickestNanos + " ns");
  }

  @Test
  @Tag("Y20")
  void an_interrupt_before_the_call_sends_nothing() throws Exception {
    try (RawServer server = new RawServer(c -> c.answer("200 OK", type, "{}"))) {
      Thread.currentThread().interrupt();
      assertThrows(InterruptedException.class, () -> post(exchange, server.uri()));
      assertEquals(0, server.requests().size());
    }
  }

  @Test
  @Tag("Y22")
  void no_connection_stays_open_whenever_the_interrupt_comes() throws Exception {
    List<Close> closes = new ArrayList<>();
    AtomicReference<Close> next = new AtomicReference<>();
    try (RawServer server =
        new RawServer(
            c -> {
              Close close = next.get();
              try {
                c.write(COUNTED.replace("TYPE", type));
              } catch (IOException _) {
                // the client has gone
              }
              c.awaitClose(close);
            })) {
      for (int i = 0; i < 200; i++) {
        Close close = new Close();
        next.set(close);
        int before = server.requests().size();
        Caller caller = new Caller(() -> post(exchange, server.uri()));
        while (server.requests().size() == before) {
          Thread.onSpinWait();
        }
        closes.add(close);
        LockSupport.parkNanos(i * 5_000L); // from before the headers to within the body
        caller.thread.interrupt();
        assertInstanceOf(InterruptedException.class, caller.outcome());
        close.await();
      }
    }
    assertEquals(200, closes.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "HTTP/1.1 200 OK\r\nContent-", COUNTED, CHUNKED, CHUNKED + "ff\r\n1"})
  @Tag("R91")
  void a_connection_that_is_cut_or_reset_is_a_read_failure(String sent) throws Exception {
    ProviderException cut =
        failure(
            c -> {
              c.write(sent.replace("TYPE", type));
              c.cut();
            });
    assertEquals(Kind.READ, cut.kind(), cut.getMessage());
    ProviderException reset =
        failure(
            c -> {
              c.write(sent.replace("TYPE", type));
              c.reset();
            });
    assertEquals(Kind.READ, reset.kind(), reset.getMessage());
    assertInstanceOf(IOException.class, reset.getCause());
  }

  @Test
  @Tag("R91")
  void a_body_that_is_complete_json_but_shorter_than_announced_is_a_read_failure()
      throws Exception {
    ProviderException failure =
        failure(
            c -> {
              c.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"a\":1}");
              c.cut();
            });
    assertEquals(Kind.READ, failure.kind());
  }

  @Test
  void an_error_whose_body_breaks_off_keeps_its_status() throws Exception {
    ProviderException failure =
        failure(
            c -> {
              c.write("HTTP/1.1 429 No\r\nContent-Length: 100\r\nRetry-After: 7\r\n\r\n{\"err");
              c.cut();
            });
    assertEquals(Kind.HTTP_STATUS, failure.kind());
    assertEquals(429, failure.status());
    assertEquals(Duration.ofSeconds(7), failure.retryAfter().orElseThrow());
  }

  @ParameterizedTest
  @ValueSource(strings = {"SSH-2.0-x\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "{\"a\":1}\r\n\r\n"})
  @Tag("R93")
  void bytes_that_are_no_http_break_the_protocol(String sent) throws Exception {
    ProviderException failure =
        failure(
            c -> {
              c.write(sent.replace("TYPE", type));
              c.cut();
            });
    assertEquals(Kind.PROTOCOL, failure.kind(), String.valueOf(failure.getCause()));
  }

  @Test
  @Tag("R91")
  void a_refused_connection_and_an_unknown_host_are_connect_failures() throws Exception {
    try (Socket reserved = new Socket()) { // nobody listens on its port, and nobody else gets it
      reserved.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      int port = reserved.getLocalPort();
      for (String uri : List.of("http://127.0.0.1:" + port, "http://no-such-host.invalid")) {
        ProviderException failure =
            assertThrows(ProviderException.class, () -> post(exchange, URI.create(uri)));
        assertEquals(Kind.CONNECT, failure.kind(), uri + " " + failure.getCause());
        assertFalse(failure.getMessage().contains("host."), failure.getMessage());
      }
    }
  }

  @Test
  @Tag("R91")
  void a_server_without_tls_behind_an_https_url_is_a_connect_failure() throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual()
          .start(
              () -> {
                try (Socket client = socket.accept()) {
                  client
                      .getOutputStream()
                      .write("HTTP/1.1 400 Bad\r\n\r\n".getBytes(StandardCharsets.UTF_8));
                  client.getOutputStream().flush();
                  client.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
                } catch (IOException _) {
                  // the client gave up
                }
              });
      URI uri = URI.create("https://localhost:" + socket.getLocalPort());
      ProviderException failure = assertThrows(ProviderException.class, () -> post(exchange, uri));
      assertEquals(Kind.CONNECT, failure.kind(), String.valueOf(failure.getCause()));
    }
  }

  @Test
  @Tag("Y23")
  @Tag("R91")
  void a_connection_that_is_not_made_in_time_is_a_timeout() throws Exception {
    // Nobody accepts, and connections beyond the backlog are not completed.
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket first = new Socket();
        Socket second = new Socket();
        Transport impatient = Transport.own(Duration.ofMillis(200))) {
      first.connect(new InetSocketAddress(full.getInetAddress(), full.getLocalPort()));
      second.connect(new InetSocketAddress(full.getInetAddress(), full.getLocalPort()));
      URI uri =
          URI.create(
              "http://" + full.getInetAddress().getHostAddress() + ":" + full.getLocalPort());
      ProviderException failure =
          assertThrows(
              ProviderException.class,
              () -> post(exchange(impatient, Exchange.MAX_BODY_BYTES), uri));
      assertEquals(Kind.TIMEOUT, failure.kind(), String.valueOf(failure.getCause()));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 303, 307, 308, 304})
  @Tag("Y23")
  @Tag("R377")
  void a_redirect_is_not_followed(int status) throws Exception {
    try (RawServer other = new RawServer(c -> c.answer("200 OK", type, "{}"))) {
      ProviderException failure =
          failure(
              c ->
                  c.write(
                      "HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"
                          .formatted(status, other.uri())));
      assertEquals(Kind.PROTOCOL, failure.kind());
      assertEquals(status, failure.status());
      assertEquals(0, other.connections());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404, 407, 408, 429, 500, 503, 529, 599})
  @Tag("Y22")
  @Tag("Y35")
  @Tag("R103")
  void a_failed_status_is_reported_once_and_its_connection_is_used_again(int status)
      throws Exception {
    try (RawServer server =
        new RawServer(
            c ->
                c.answer(
                    status + " No", type, "{\"error\":{\"message\":\"no\",\"code\":\"c\"}}"))) {
      for (int i = 1; i <= 5; i++) {
        ProviderException failure =
            assertThrows(ProviderException.class, () -> post(exchange, server.uri()));
        assertEquals(Kind.HTTP_STATUS, failure.kind());
        assertEquals(status, failure.status());
        assertEquals("Test request failed with status " + status + ".", failure.getMessage());
        assertEquals("no", failure.providerMessage().orElseThrow());
        assertEquals("c", failure.code().orElseThrow());
        assertEquals(i, server.requests().size());
      }
      assertEquals(1, server.connections());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 500 No\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
      })
  @Tag("R378")
  @Tag("Y22")
  void an_endless_body_of_a_failure_is_cut_and_its_connection_closed(String head) throws Exception {
    Close close = new Close();
    ProviderException failure =
        failure(
            exchange,
            c -> {
              c.write(head);
              try {
                while (true) {
                  c.write("400\r\n" + "x".repeat(0x400) + "\r\n");
                }
              } catch (IOException _) {
                c.awaitClose(close);
              }
            },
            close);
    boolean failed = head.startsWith("HTTP/1.1 500");
    assertEquals(failed ? Kind.HTTP_STATUS : Kind.PROTOCOL, failure.kind());
    assertEquals(failed ? 500 : 0, failure.status());
  }

  @Test
  @Tag("R378")
  @Tag("Y22")
  void an_endless_body_of_an_answer_crosses_the_bound() throws Exception {
    Close close = new Close();
    ProviderException failure =
        failure(
            exchange(transport, 100_000),
            c -> {
              c.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
              try {
                while (true) {
                  c.write("400\r\n" + " ".repeat(0x400) + "\r\n");
                }
              } catch (IOException _) {
                c.awaitClose(close);
              }
            },
            close);
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("100000"), failure.getMessage());
  }

  @Test
  @Tag("R378")
  void an_answer_at_the_bound_is_read_and_one_byte_more_is_refused() throws Exception {
    String body = "{\"a\":\"" + "x".repeat(992) + "\"}";
    try (RawServer server = new RawServer(c -> c.answer("200 OK", type, body))) {
      assertEquals(body, post(exchange(transport, 1_000), server.uri()));
      ProviderException failure =
          assertThrows(ProviderException.class, () -> post(exchange(transport, 999), server.uri()));
      assertEquals(Kind.PROTOCOL, failure.kind());
    }
  }

  @Test
  @Tag("R378")
  @Tag("Y22")
  void an_answer_that_announces_more_than_128_mib_is_refused_without_being_read() throws Exception {
    Close close = new Close();
    ProviderException failure =
        failure(
            exchange,
            c -> {
              c.write("HTTP/1.1 200 OK\r\nContent-Length: 134217729\r\n\r\n{");
              c.awaitClose(close);
            },
            close);
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("134217728"), failure.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/plain", "text/html; charset=utf-8", "application/octet-stream"})
  @Tag("Y16")
  void an_error_object_under_another_content_type_is_classified(String type) throws Exception {
    ProviderException failure =
        failure(c -> c.answer("200 OK", type, "{\"error\":{\"type\":\"rate_limit_error\"}}"));
    assertEquals(Kind.PROVIDER_EVENT, failure.kind());
    assertEquals(429, failure.status());
  }

  @Test
  @Tag("Y26")
  void closing_does_not_wait_for_open_exchanges_and_ends_them() throws Exception {
    Close close = new Close();
    CountDownLatch stalled = new CountDownLatch(1);
    try (RawServer server =
        new RawServer(
            c -> {
              stalled.countDown();
              c.awaitClose(close);
            })) {
      Caller caller = new Caller(() -> post(exchange, server.uri()));
      assertTrue(stalled.await(60, TimeUnit.SECONDS));
      transport.close();
      close.await();
      ProviderException failure = assertInstanceOf(ProviderException.class, caller.outcome());
      assertEquals(Kind.OTHER, failure.kind());
      assertEquals("The adapter was closed.", failure.getMessage());
    }
  }

  @Test
  @Tag("Y26")
  void a_closed_transport_refuses_calls_and_a_lent_client_stays_open() throws Exception {
    try (HttpClient lent = HttpClient.newHttpClient();
        RawServer server = new RawServer(c -> c.answer("200 OK", type, "{}"))) {
      Transport borrowed = Transport.borrow(lent);
      borrowed.close();
      borrowed.close();
      ProviderException failure =
          assertThrows(
              ProviderException.class,
              () -> post(exchange(borrowed, Exchange.MAX_BODY_BYTES), server.uri()));
      assertEquals(Kind.OTHER, failure.kind());
      assertFalse(lent.isTerminated());
      assertEquals(
          "{}", post(exchange(Transport.borrow(lent), Exchange.MAX_BODY_BYTES), server.uri()));
    }
  }
}
