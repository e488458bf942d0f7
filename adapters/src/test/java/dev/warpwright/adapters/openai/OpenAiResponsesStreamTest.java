package dev.warpwright.adapters.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.Caller;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.adapters.http.RawServer.Script;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.StreamingModel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The adapter's streams over real sockets. */
@Timeout(60)
final class OpenAiResponsesStreamTest {
  private static final String OPEN =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  private static final String CREATED =
      "data: {\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\"}}\n\n";
  private static final String HELLO =
      "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hello 你🌍\"}\n\n";
  private static final String COMPLETED =
      "data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"message\","
          + "\"content\":[{\"type\":\"output_text\",\"text\":\"Hello 你🌍\"}]}]}}\n\n";
  private static final String END = "0\r\n\r\n";

  private static String chunk(String text) {
    int length = text.getBytes(StandardCharsets.UTF_8).length;
    return Integer.toHexString(length) + "\r\n" + text + "\r\n";
  }

  private static String shown(String type) {
    return "data:"
        + " {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"i\","
        + "\"type\":\""
        + type
        + "\"}}\n\n";
  }

  /** A call that offers a tool of the provider's own; "-" for none. */
  private static ModelCall offering(String tool) {
    ModelCall.Builder call = ModelCall.builder(List.of(Message.user("Hi")));
    if (!tool.equals("-")) {
      call.providerOptions(Json.parse("{\"tools\":[{\"type\":\"" + tool + "\"}]}"));
    }
    return call.build();
  }

  private static ModelResponse stream(
      HttpAdapter adapter, String offered, StreamingModel.Events events)
      throws InterruptedException {
    return adapter.model("m").stream(offering(offered), events);
  }

  private static ProviderException failure(
      String offered, Script script, StreamingModel.Events events) throws Exception {
    try (RawServer server = new RawServer(script);
        HttpAdapter adapter = OpenAi.builder().api(Api.RESPONSES).baseUrl(server.uri()).build()) {
      ProviderException failure =
          assertThrows(ProviderException.class, () -> stream(adapter, offered, events));
      assertEquals(0, adapter.openExchanges());
      assertEquals(1, server.requests().size(), "nothing is tried again");
      return failure;
    }
  }

  @Test
  @Tag("Y33")
  void a_stream_is_one_post_that_asks_for_events() throws Exception {
    List<ModelEvent> told = new ArrayList<>();
    try (RawServer server =
            new RawServer(c -> c.write(OPEN + chunk(CREATED + HELLO + COMPLETED) + END));
        HttpAdapter adapter = OpenAi.builder().api(Api.RESPONSES).baseUrl(server.uri()).build()) {
      assertEquals("Hello 你🌍", stream(adapter, "-", told::add).message().text());
      assertEquals("Hello 你🌍", stream(adapter, "-", told::add).message().text());
      String request = server.requests().getFirst();
      assertTrue(request.startsWith("POST /responses HTTP/1.1\r\n"), request);
      assertTrue(request.contains("Accept: text/event-stream\r\n"), request);
      assertTrue(request.endsWith("\"store\":false,\"stream\":true}"), request);
      assertEquals(1, server.connections(), "the connection is used again");
    }
  }

  /** What came before, what was offered, and what that means. */
  @ParameterizedTest
  @CsvSource({
    "created, -, READ",
    "created, web_search, READ",
    "created, mcp, TOOL_CALL",
    "text, -, READ",
    "text, function, READ",
    "text, mcp, TOOL_CALL",
    "mcp_call, -, TOOL_CALL",
    "mcp_call, web_search, TOOL_CALL",
    "web_search_call, web_search, READ",
    "function_call, -, READ"
  })
  @Tag("R97")
  @Tag("Y17")
  void a_stream_that_breaks_off_is_repeatable_unless_a_hosted_tool_may_have_acted(
      String sent, String offered, Kind kind) throws Exception {
    String last =
        switch (sent) {
          case "created" -> "";
          case "text" -> HELLO;
          default -> shown(sent);
        };
    CountDownLatch first = new CountDownLatch(1);
    CountDownLatch second = new CountDownLatch(last.isEmpty() ? 0 : 1);
    ProviderException failure =
        failure(
            offered,
            c -> {
              c.write(OPEN + chunk(CREATED));
              assertTrue(first.await(60, TimeUnit.SECONDS));
              if (!last.isEmpty()) {
                c.write(chunk(last));
              }
              // What was not read yet would go with the connection.
              assertTrue(second.await(60, TimeUnit.SECONDS));
              c.cut();
            },
            _ -> (first.getCount() > 0 ? first : second).countDown());
    assertEquals(kind, failure.kind());
    assertEquals(kind == Kind.TOOL_CALL, failure.mayHaveActed());
  }

  @ParameterizedTest
  @CsvSource({"-, PROTOCOL", "mcp_call, TOOL_CALL", "web_search_call, PROTOCOL"})
  @Tag("R97")
  @Tag("R143")
  void a_stream_that_just_ends_is_judged_by_what_it_showed(String item, Kind kind)
      throws Exception {
    String sent = item.equals("-") ? HELLO : HELLO + shown(item);
    assertEquals(kind, failure("-", c -> c.write(OPEN + chunk(sent) + END), _ -> {}).kind());
  }

  @ParameterizedTest
  @CsvSource({"503, TOOL_CALL", "429, HTTP_STATUS", "400, HTTP_STATUS"})
  @Tag("R97")
  void a_failed_status_leaves_open_what_an_offered_tool_has_done(int status, Kind kind)
      throws Exception {
    ProviderException failure =
        failure("mcp", c -> c.answer(status + " No", "application/json", "{}"), _ -> {});
    assertEquals(kind, failure.kind());
    assertEquals(status, failure.status());
  }

  @ParameterizedTest
  @ValueSource(strings = {"-", "mcp"})
  @Tag("R97")
  void an_adapter_that_is_closed_ends_its_streams_and_hides_no_effect(String offered)
      throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    RawServer.Close close = new RawServer.Close();
    try (RawServer server =
        new RawServer(
            c -> {
              c.write(OPEN + chunk(CREATED + (offered.equals("-") ? "" : shown("mcp_call"))));
              c.awaitClose(close);
            })) {
      HttpAdapter adapter = OpenAi.builder().api(Api.RESPONSES).baseUrl(server.uri()).build();
      Caller caller = new Caller(() -> stream(adapter, offered, _ -> seen.countDown()));
      assertTrue(seen.await(60, TimeUnit.SECONDS));
      adapter.close();
      ProviderException failure = assertInstanceOf(ProviderException.class, caller.outcome());
      assertEquals(offered.equals("-") ? Kind.OTHER : Kind.TOOL_CALL, failure.kind());
      close.await();
    }
  }
}
