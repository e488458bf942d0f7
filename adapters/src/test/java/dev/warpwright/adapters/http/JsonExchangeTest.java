package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.RawServer.Close;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonExchangeTest extends ExchangeContract {
  private static final String JSON = "application/json";

  JsonExchangeTest() {
    super(JSON);
  }

  @Override
  Posting exchange(Transport transport, int maxBodyBytes) {
    JsonExchange json = new JsonExchange(transport, FAILURES, maxBodyBytes);
    return uri ->
        json.post(
            uri,
            Map.of("Authorization", "Bearer k"),
            "{\"q\":1}".getBytes(StandardCharsets.UTF_8),
            answer -> answer.json().toString());
  }

  @ParameterizedTest
  @CsvSource({
    "application/json, not json",
    "application/json, ''",
    "application/json, '{\"a\":1} x'",
    "application/json, '{\"a\":'",
    "application/json, '{\"a\":1e99999999999999}'",
    "text/html, <html>",
    "text/plain, '{\"a\":1}'"
  })
  @Tag("Y22")
  void an_answer_that_is_refused_leaves_its_connection_usable(String type, String body)
      throws Exception {
    try (RawServer server = new RawServer(c -> c.answer("200 OK", type, body))) {
      for (int i = 0; i < 3; i++) {
        ProviderException failure =
            assertThrows(ProviderException.class, () -> exchange.post(server.uri()));
        assertEquals(Kind.PROTOCOL, failure.kind());
        assertEquals(0, failure.status());
      }
      assertEquals(1, server.connections());
    }
  }

  // --- content type ------------------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON;charset=UTF-8",
        "Application/Json ; x=y",
        "application/problem+json",
        "text/json",
        ""
      })
  @Tag("Y15")
  void json_is_recognised_whatever_its_parameters_and_case_and_without_a_type(String type)
      throws Exception {
    try (RawServer server =
        new RawServer(
            c ->
                c.write(
                    "HTTP/1.1 200 OK\r\n"
                        + (type.isEmpty() ? "" : "Content-Type: " + type + "\r\n")
                        + "Content-Length: 9\r\n\r\n{\"ok\": 1}"))) {
      assertEquals("{\"ok\":1}", exchange.post(server.uri()));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "text/html; charset=utf-8, text/html",
    "TEXT/EVENT-STREAM, text/event-stream",
    "application/x-ndjson, application/x-ndjson",
    "application/jsonp, application/jsonp",
    "'a\"b c', a?b?c"
  })
  @Tag("Y16")
  @Tag("FR-S23")
  void another_content_type_breaks_the_protocol_and_is_named(String type, String named)
      throws Exception {
    ProviderException failure =
        failure(c -> c.answer("200 OK", type, "data: {\"choices\":[]}\n\ndata: [DONE]\n\n"));
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("\"" + named + "\""), failure.getMessage());
  }

  @Test
  @Tag("Y16")
  @Tag("Y22")
  @Tag("FR-S23")
  void an_endless_event_stream_is_refused_at_once_and_closed() throws Exception {
    Close close = new Close();
    ProviderException failure =
        failure(
            exchange,
            c -> {
              c.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: ping\n\n");
              c.awaitClose(close);
            },
            close);
    assertEquals(Kind.PROTOCOL, failure.kind());
    assertTrue(failure.getMessage().contains("text/event-stream"), failure.getMessage());
  }

  // --- the answer --------------------------------------------------------------------------------

  @Test
  @Tag("Y30")
  void an_answer_nested_deeper_than_100_levels_is_refused() throws Exception {
    String deepest = "[".repeat(100) + "]".repeat(100);
    try (RawServer server = new RawServer(c -> c.answer("200 OK", JSON, deepest))) {
      assertEquals(deepest, exchange.post(server.uri()));
    }
    ProviderException failure = failure(c -> c.answer("200 OK", JSON, "[" + deepest + "]"));
    assertEquals(Kind.PROTOCOL, failure.kind());
  }

  @Test
  @Tag("Y29")
  void of_two_equal_keys_in_an_answer_the_last_one_wins() throws Exception {
    try (RawServer server = new RawServer(c -> c.answer("200 OK", JSON, "{\"a\":1,\"a\":2}"))) {
      assertEquals("{\"a\":2}", exchange.post(server.uri()));
    }
  }

  @Test
  void content_that_is_no_json_is_not_shown_in_the_failure_or_its_cause() throws Exception {
    ProviderException failure = failure(c -> c.answer("200 OK", JSON, "privatetext"));
    for (Throwable t = failure; t != null; t = t.getCause()) {
      assertFalse(String.valueOf(t.getMessage()).contains("privatetext"), t.getMessage());
    }
  }

  @Test
  void a_surprise_while_the_answer_is_understood_is_a_broken_protocol() throws Exception {
    try (RawServer server = new RawServer(c -> c.answer("200 OK", JSON, "{}"))) {
      ProviderException failure =
          assertThrows(
              ProviderException.class,
              () ->
                  new JsonExchange(transport, FAILURES)
                      .post(
                          server.uri(),
                          Map.of(),
                          new byte[0],
                          answer -> {
                            throw new IllegalStateException("surprise");
                          }));
      assertEquals(Kind.PROTOCOL, failure.kind());
      assertInstanceOf(IllegalStateException.class, failure.getCause());
    }
  }

  // --- the client --------------------------------------------------------------------------------

  @Test
  @Tag("Y26")
  void the_clients_own_tasks_run_on_virtual_threads() throws Exception {
    AtomicReference<Thread> runner = new AtomicReference<>();
    try (Transport.Lease lease = transport.lease()) {
      lease.client().executor().orElseThrow().execute(() -> runner.set(Thread.currentThread()));
    }
    while (runner.get() == null) {
      Thread.onSpinWait();
    }
    assertTrue(runner.get().isVirtual());
  }
}
