package dev.warpwright.adapters.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.Caller;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.adapters.http.RawServer.Close;
import dev.warpwright.adapters.http.RawServer.Script;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.StreamingModel;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The adapter's streams over real sockets. */
@Timeout(60)
final class OpenAiChatStreamTest {
  private static final ModelCall CALL = ModelCall.builder(List.of(Message.user("Hi"))).build();
  private static final String OPEN =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  private static final String ROLE =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n";
  private static final String HELLO =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello 你🌍\"}}]}\n\n";
  private static final String STOP =
      "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
  private static final String DONE = "data: [DONE]\n\n";
  private static final String END = "0\r\n\r\n";

  private final List<ModelEvent> told = Collections.synchronizedList(new ArrayList<>());

  private static String chunk(String text) {
    int length = text.getBytes(StandardCharsets.UTF_8).length;
    return Integer.toHexString(length) + "\r\n" + text + "\r\n";
  }

  private static HttpAdapter adapter(URI uri) {
    return OpenAi.builder().baseUrl(uri).build();
  }

  private ModelResponse stream(HttpAdapter adapter) throws InterruptedException {
    return adapter.model("m").stream(CALL, told::add);
  }

  private List<ModelEvent> output() {
    return told.stream().filter(event -> !event.equals(ModelEvent.ALIVE)).toList();
  }

  private ModelResponse answer(Script script) throws Exception {
    try (RawServer server = new RawServer(script);
        HttpAdapter adapter = adapter(server.uri())) {
      ModelResponse answer = stream(adapter);
      assertEquals(0, adapter.openExchanges());
      return answer;
    }
  }

  private ProviderException failure(Script script) throws Exception {
    try (RawServer server = new RawServer(script);
        HttpAdapter adapter = adapter(server.uri())) {
      ProviderException failure = assertThrows(ProviderException.class, () -> stream(adapter));
      assertEquals(0, adapter.openExchanges());
      assertEquals(1, server.requests().size(), "nothing is tried again");
      return failure;
    }
  }

  @Test
  @Tag("Y33")
  void a_stream_is_one_post_that_asks_for_events_and_for_usage() throws Exception {
    try (RawServer server =
            new RawServer(c -> c.write(OPEN + chunk(ROLE + HELLO + STOP + DONE) + END));
        HttpAdapter adapter = adapter(server.uri())) {
      assertEquals("Hello 你🌍", stream(adapter).message().text());
      assertEquals("Hello 你🌍", stream(adapter).message().text());
      String request = server.requests().getFirst();
      assertTrue(request.startsWith("POST /chat/completions HTTP/1.1\r\n"), request);
      assertTrue(request.contains("Accept: text/event-stream\r\n"), request);
      assertTrue(
          request.endsWith(
              "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
                  + "\"stream\":true,\"stream_options\":{\"include_usage\":true}}"),
          request);
      assertEquals(1, server.connections(), "the connection is used again");
    }
  }

  @Test
  @Tag("Y11")
  @Tag("R374")
  void each_event_is_told_as_soon_as_it_has_come() throws Exception {
    CountDownLatch alive = new CountDownLatch(1);
    CountDownLatch hello = new CountDownLatch(1);
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(OPEN + chunk(": ping\n"));
                  assertTrue(alive.await(60, TimeUnit.SECONDS));
                  c.write(chunk(HELLO));
                  assertTrue(hello.await(60, TimeUnit.SECONDS));
                  c.write(chunk(STOP) + END);
                });
        HttpAdapter adapter = adapter(server.uri())) {
      ModelResponse answer =
          adapter.model("m").stream(
              CALL, event -> (event instanceof ModelEvent.Text ? hello : alive).countDown());
      assertEquals("Hello 你🌍", answer.message().text());
    }
  }

  @Test
  @Tag("Y1")
  @Tag("Y3")
  void a_server_that_sends_byte_by_byte_is_understood() throws Exception {
    byte[] bytes = (": x\r\n" + ROLE + HELLO + STOP + DONE).getBytes(StandardCharsets.UTF_8);
    ModelResponse answer =
        answer(
            c -> {
              c.write(OPEN);
              for (byte b : bytes) {
                c.write("1\r\n");
                c.write(new byte[] {b});
                c.write("\r\n");
              }
              c.write(END);
            });
    assertEquals("Hello 你🌍", answer.message().text());
    assertEquals(List.of(new ModelEvent.Text("Hello 你🌍")), output());
  }

  @Test
  @Tag("Y9")
  @Tag("Y49")
  void the_answer_is_there_at_the_terminator_though_the_server_stays() throws Exception {
    Close close = new Close();
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(OPEN + chunk(HELLO + STOP + DONE));
                  c.awaitClose(close);
                });
        HttpAdapter adapter = adapter(server.uri())) {
      assertEquals("Hello 你🌍", stream(adapter).message().text());
      close.await();
    }
  }

  @Test
  @Tag("Y49")
  void a_body_that_only_the_close_ends_is_complete_behind_the_finish_reason() throws Exception {
    String head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    ModelResponse answer =
        answer(
            c -> {
              c.write(head + HELLO + STOP);
              c.cut();
            });
    assertEquals("Hello 你🌍", answer.message().text());
    assertEquals(
        Kind.PROTOCOL,
        failure(
                c -> {
                  c.write(head + HELLO);
                  c.cut();
                })
            .kind());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ROLE, HELLO, HELLO + STOP, HELLO + STOP + "data: [DO"})
  @Tag("Y17")
  @Tag("R143")
  void a_cut_before_the_terminator_breaks_the_stream_even_behind_the_finish_reason(String sent)
      throws Exception {
    List<Script> cuts =
        List.of(
            c -> {
              c.write(OPEN + (sent.isEmpty() ? "" : chunk(sent)));
              c.cut();
            },
            c -> {
              c.write(OPEN + (sent.isEmpty() ? "" : chunk(sent)));
              c.halfClose();
            },
            c -> {
              c.write(OPEN.replace("Transfer-Encoding: chunked", "Content-Length: 999999") + sent);
              c.cut();
            });
    for (Script cut : cuts) {
      told.clear();
      assertEquals(Kind.READ, failure(cut).kind());
      // When a connection breaks, the JDK's client may drop what was not read yet.
      List<ModelEvent> shown = output();
      assertTrue(
          shown.isEmpty()
              || (sent.contains("Hello")
                  && shown.equals(List.of(new ModelEvent.Text("Hello 你🌍")))),
          () -> sent + shown.size());
    }
  }

  @Test
  @Tag("Y17")
  void a_reset_in_mid_stream_breaks_it_behind_what_was_told() throws Exception {
    CountDownLatch hello = new CountDownLatch(1);
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(OPEN + chunk(HELLO));
                  assertTrue(hello.await(60, TimeUnit.SECONDS));
                  c.reset();
                });
        HttpAdapter adapter = adapter(server.uri())) {
      StreamingModel.Events events = event -> hello.countDown();
      ProviderException failure =
          assertThrows(ProviderException.class, () -> adapter.model("m").stream(CALL, events));
      assertEquals(Kind.READ, failure.kind());
      assertEquals(0, adapter.openExchanges());
    }
  }

  @Test
  @Tag("Y35")
  void a_failed_status_and_a_whole_answer_are_no_stream() throws Exception {
    ProviderException limited =
        failure(c -> c.answer("429 No", "application/json", "{\"error\":{\"code\":\"c\"}}"));
    assertEquals(Kind.HTTP_STATUS, limited.kind());
    assertEquals(429, limited.status());
    ProviderException whole =
        failure(
            c ->
                c.answer(
                    "200 OK",
                    "application/json",
                    "{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}"));
    assertEquals(Kind.PROTOCOL, whole.kind());
    assertTrue(told.isEmpty());
  }

  @Test
  @Tag("Y13")
  @Tag("Y22")
  @Tag("R122")
  void an_error_event_ends_the_call_and_closes_the_connection() throws Exception {
    Close close = new Close();
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(
                      OPEN
                          + chunk(HELLO + "data: {\"error\":{\"type\":\"overloaded_error\"}}\n\n"));
                  c.awaitClose(close);
                });
        HttpAdapter adapter = adapter(server.uri())) {
      ProviderException failure = assertThrows(ProviderException.class, () -> stream(adapter));
      assertEquals(529, failure.status());
      close.await();
    }
  }

  /** Before the headers, before the first event, in mid-stream, behind the finish reason. */
  @ParameterizedTest
  @ValueSource(strings = {"-", "", ":\n", ROLE, HELLO, HELLO + "data: {\"cho", HELLO + STOP})
  @Tag("Y20")
  @Tag("R118")
  @Tag("R122")
  @Tag("FR-C03")
  void an_interrupt_closes_the_exchange_wherever_it_comes(String sent) throws Exception {
    Close close = new Close();
    CountDownLatch stalled = new CountDownLatch(1);
    try (RawServer server =
            new RawServer(
                c -> {
                  if (!sent.equals("-")) {
                    c.write(OPEN + (sent.isEmpty() ? "" : chunk(sent)));
                  }
                  stalled.countDown();
                  c.awaitClose(close);
                });
        HttpAdapter adapter = adapter(server.uri())) {
      Caller caller = new Caller(() -> stream(adapter));
      assertTrue(stalled.await(60, TimeUnit.SECONDS));
      caller.awaitWaiting();
      caller.thread.interrupt();
      assertInstanceOf(InterruptedException.class, caller.outcome());
      close.await();
      assertEquals(0, adapter.openExchanges());
    }
  }

  @Test
  @Tag("Y20")
  @Tag("R118")
  void an_interrupt_while_an_event_is_told_closes_the_exchange() throws Exception {
    Close close = new Close();
    CountDownLatch telling = new CountDownLatch(1);
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(OPEN + chunk(HELLO));
                  c.awaitClose(close);
                });
        HttpAdapter adapter = adapter(server.uri())) {
      Caller caller =
          new Caller(
              () ->
                  adapter.model("m").stream(
                      CALL,
                      _ -> {
                        telling.countDown();
                        new CountDownLatch(1).await();
                      }));
      assertTrue(telling.await(60, TimeUnit.SECONDS));
      assertEquals(1, adapter.openExchanges());
      caller.thread.interrupt();
      assertInstanceOf(InterruptedException.class, caller.outcome());
      close.await();
      assertEquals(0, adapter.openExchanges());
    }
  }

  @Test
  @Tag("Y26")
  void many_streams_at_once_keep_apart_what_they_tell() throws Exception {
    int streams = 50;
    CountDownLatch all = new CountDownLatch(streams);
    try (RawServer server =
            new RawServer(
                c -> {
                  c.write(OPEN + chunk(HELLO));
                  all.countDown();
                  assertTrue(all.await(20, TimeUnit.SECONDS));
                  c.write(chunk(HELLO) + chunk(STOP + DONE) + END);
                });
        HttpAdapter adapter = adapter(server.uri())) {
      List<Caller> callers = new ArrayList<>();
      List<StringBuilder> texts = new ArrayList<>();
      for (int i = 0; i < streams; i++) {
        StringBuilder text = new StringBuilder();
        texts.add(text);
        callers.add(
            new Caller(
                () ->
                    adapter.model("m").stream(
                        CALL,
                        event -> {
                          if (event instanceof ModelEvent.Text(String piece)) {
                            text.append(piece);
                          }
                        })));
      }
      for (int i = 0; i < streams; i++) {
        ModelResponse answer = assertInstanceOf(ModelResponse.class, callers.get(i).outcome());
        assertEquals("Hello 你🌍Hello 你🌍", answer.message().text());
        assertEquals("Hello 你🌍Hello 你🌍", texts.get(i).toString());
      }
      assertEquals(0, adapter.openExchanges());
    }
  }
}
