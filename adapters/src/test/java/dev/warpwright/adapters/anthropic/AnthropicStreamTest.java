package dev.warpwright.adapters.anthropic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.adapters.http.RawServer.Close;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The adapter's streams over real sockets. */
@Timeout(60)
final class AnthropicStreamTest {
  private static final ModelCall CALL = ModelCall.builder(List.of(Message.user("Hi"))).build();
  private static final String OPEN =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  private static final String HELLO =
      "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
          + "\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello 你🌍\"}}\n\n";
  private static final String STOP =
      "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n";
  private static final String DONE = "data: {\"type\":\"message_stop\"}\n\n";
  private static final String END = "0\r\n\r\n";

  private final List<ModelEvent> told = new ArrayList<>();

  private static String chunk(String text) {
    int length = text.getBytes(StandardCharsets.UTF_8).length;
    return Integer.toHexString(length) + "\r\n" + text + "\r\n";
  }

  @Test
  @Tag("Y33")
  void a_stream_is_one_post_that_asks_for_events() throws Exception {
    try (RawServer server = new RawServer(c -> c.write(OPEN + chunk(HELLO + STOP + DONE) + END));
        HttpAdapter adapter = Anthropic.builder().baseUrl(server.uri()).build()) {
      for (int i = 0; i < 2; i++) {
        told.clear();
        assertEquals("Hello 你🌍", adapter.model("m").stream(CALL, told::add).message().text());
        assertEquals(new ModelEvent.Text("Hello 你🌍"), told.getFirst());
      }
      String request = server.requests().getFirst();
      assertTrue(request.startsWith("POST /messages HTTP/1.1\r\n"), request);
      assertTrue(request.contains("Accept: text/event-stream\r\n"), request);
      assertTrue(request.contains("anthropic-version: 2023-06-01\r\n"), request);
      assertTrue(request.endsWith("\"stream\":true}"), request);
      assertEquals(1, server.connections(), "the connection is used again");
      assertEquals(0, adapter.openExchanges());
    }
  }

  @Test
  @Tag("Y49")
  void the_answer_is_there_at_the_terminator_though_the_server_stays() throws Exception {
    Close close = new Close();
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(OPEN + chunk(HELLO + STOP + DONE));
                  c.awaitClose(close);
                });
        HttpAdapter adapter = Anthropic.builder().baseUrl(server.uri()).build()) {
      assertEquals("Hello 你🌍", adapter.model("m").stream(CALL, told::add).message().text());
      close.await();
    }
  }

  @Test
  @Tag("Y17")
  void a_cut_behind_the_stop_reason_and_before_the_terminator_breaks_the_stream() throws Exception {
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(OPEN + chunk(HELLO + STOP));
                  c.cut();
                });
        HttpAdapter adapter = Anthropic.builder().baseUrl(server.uri()).build()) {
      ProviderException failure =
          assertThrows(ProviderException.class, () -> adapter.model("m").stream(CALL, told::add));
      assertEquals(Kind.READ, failure.kind());
      assertEquals(0, adapter.openExchanges());
    }
  }

  @Test
  @Tag("Y13")
  @Tag("FR-X01")
  void an_error_event_ends_the_call_and_closes_the_connection() throws Exception {
    Close close = new Close();
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(
                      OPEN
                          + chunk(
                              "event: error\ndata: {\"type\":\"error\",\"error\":"
                                  + "{\"type\":\"overloaded_error\"}}\n\n"));
                  c.awaitClose(close);
                });
        HttpAdapter adapter = Anthropic.builder().baseUrl(server.uri()).build()) {
      ProviderException failure =
          assertThrows(ProviderException.class, () -> adapter.model("m").stream(CALL, told::add));
      assertEquals(529, failure.status());
      close.await();
    }
  }
}
