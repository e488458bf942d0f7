package dev.warpwright.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.AgentResult;
import dev.warpwright.mcp.FakeServer.Script;
import dev.warpwright.mcp.FakeServer.Wire;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderException;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What calls bring back, and what becomes of them when the server does not keep the protocol. */
@Timeout(120)
final class McpCallTest {
  /** What came of one call of a ONCE tool. */
  private static AgentResult called(Wire wire, Script script) throws Exception {
    try (FakeServer server = FakeServer.start(wire)) {
      server.on("tools/call", script);
      return called(server);
    }
  }

  private static AgentResult called(FakeServer server) {
    try (McpServer client = server.client().connect();
        Caller caller = new Caller("act")) {
      AgentResult result = caller.run(client.tools());
      assertEquals(List.of(), caller.gateway.diagnostics().liveTasks());
      return result;
    }
  }

  private static void assertUnknown(AgentResult result) {
    assertEquals(RunStatus.NEEDS_RECONCILIATION, result.status());
  }

  /** The call has failed, and the model is not told how. */
  private static void assertFailed(AgentResult result) {
    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals("Tool failed.", Caller.output(result));
    assertTrue(Caller.results(result).getFirst().error());
  }

  @ParameterizedTest
  @EnumSource
  void the_text_of_a_result_is_the_output(Wire wire) throws Exception {
    AgentResult result = called(wire, FakeServer.text("It is \\\"noon\\\"."));
    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals("It is \"noon\".", Caller.output(result));
  }

  @ParameterizedTest
  @EnumSource
  void a_call_says_its_tool_its_arguments_and_its_key(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().prefix("crm_").connect();
        Caller caller = new Caller("crm_act")) {
      var _ = caller.run(client.tools());
      JsonNode params = server.await("tools/call").path("params");
      assertEquals("act", params.path("name").stringValue());
      assertEquals("it", params.path("arguments").path("what").stringValue());
      String key =
          caller.store.load(new RunKey(RunScope.DEFAULT, Caller.RUN), 1, Deadline.never()).stream()
              .map(logged -> logged.event())
              .filter(RunEvent.ToolStarted.class::isInstance)
              .map(event -> ((RunEvent.ToolStarted) event).key())
              .findFirst()
              .orElseThrow();
      assertEquals(key, params.path("_meta").path(McpServer.IDEMPOTENCY_KEY).stringValue());
    }
  }

  static Stream<Arguments> contents() {
    return Stream.of(
        Arguments.of("{\"content\": []}", Json.of("")),
        Arguments.of("{}", Json.of("")),
        Arguments.of(
            "{\"content\": [{\"type\": \"text\", \"text\": \"a\"}, {\"type\": \"text\", \"text\":"
                + " \"b\"}]}",
            Json.of("a\nb")),
        Arguments.of(
            "{\"content\": [{\"type\": \"text\", \"text\": \"{\\\"n\\\": 1.10}\"}],"
                + " \"structuredContent\": {\"n\": 1.10}}",
            Json.parse("{\"n\": 1.10}")),
        Arguments.of(
            "{\"content\": [{\"type\": \"image\", \"data\": \"AAAA\", \"mimeType\":"
                + " \"image/png\"}]}",
            Json.of("[image image/png is not shown]")),
        Arguments.of(
            "{\"content\": [{\"type\": \"resource_link\", \"uri\": \"file:///a\"}]}",
            Json.of("[resource file:///a]")),
        Arguments.of(
            "{\"content\": [{\"type\": \"resource\", \"resource\": {\"uri\": \"file:///a\","
                + " \"text\": \"inside\"}}]}",
            Json.of("inside")),
        Arguments.of(
            "{\"content\": [{\"type\": \"resource\", \"resource\": {\"uri\": \"file:///a\","
                + " \"blob\": \"AAAA\"}}]}",
            Json.of("[resource file:///a is not shown]")),
        Arguments.of(
            "{\"content\": [{}, 7, null]}", Json.of("[content is not shown]\n".repeat(3).strip())),
        Arguments.of(
            "{\"content\": [{\"type\": \"text\", \"text\": \"\\ud800\"}]}", Json.of("\ufffd")));
  }

  @ParameterizedTest
  @MethodSource("contents")
  void every_kind_of_content_has_its_form(String content, Json expected) throws Exception {
    AgentResult result = called(Wire.STDIO, FakeServer.result(content));
    assertEquals(expected, Caller.results(result).getFirst().output());
  }

  @ParameterizedTest
  @EnumSource
  void what_the_server_calls_an_error_is_shown_to_the_model_as_one(Wire wire) throws Exception {
    AgentResult result =
        called(
            wire,
            FakeServer.result(
                "{\"isError\": true, \"content\": [{\"type\": \"text\", \"text\": \"No such"
                    + " date.\"}]}"));
    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals("No such date.", Caller.output(result));
    assertTrue(Caller.results(result).getFirst().error());
  }

  @ParameterizedTest
  @EnumSource
  void an_error_of_the_protocol_is_an_error_result_too(Wire wire) throws Exception {
    AgentResult result = called(wire, FakeServer.error(-32602, "Unknown tool: act"));
    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(
        "The tool server refused the call with code -32602. Unknown tool: act",
        Caller.output(result));
    assertTrue(Caller.results(result).getFirst().error());
  }

  @Test
  void the_words_of_an_error_are_cut() throws Exception {
    AgentResult result =
        called(
            Wire.HTTP_JSON,
            FakeServer.result(
                "{\"isError\": true, \"content\": [{\"type\": \"text\", \"text\": \"%s\"}]}"
                    .formatted("\ud83d\ude00".repeat(20_000))));
    String shown = String.valueOf(Caller.output(result));
    assertEquals(9_999, shown.length());
    assertEquals("\ud83d\ude00\u2026", shown.substring(shown.length() - 3));
  }

  @ParameterizedTest
  @EnumSource(names = {"HTTP_EVENTS", "STDIO"})
  void what_comes_before_the_reply_does_not_matter(Wire wire) throws Exception {
    AgentResult result =
        called(
            wire,
            (message, back) -> {
              for (int i = 0; i < 100; i++) {
                back.also(
                    "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/progress\", \"params\":"
                        + " {\"progress\": 1}}");
              }
              back.also("{\"jsonrpc\": \"2.0\", \"method\": \"notifications/tools/list_changed\"}");
              back.also(FakeServer.replyTo(4711, "\"result\": {\"content\": []}"));
              back.also("{\"jsonrpc\": \"2.0\", \"id\": \"3\", \"result\": {\"content\": []}}");
              back.also("{\"jsonrpc\": \"2.0\", \"id\": null, \"error\": {\"code\": 1}}");
              back.also("{\"jsonrpc\": \"2.0\", \"id\": " + message.path("id") + "}");
              back.also("7");
              FakeServer.text("at last").serve(message, back);
            });
    assertEquals("at last", Caller.output(result));
  }

  @ParameterizedTest
  @EnumSource
  void a_reply_may_stand_in_an_array(Wire wire) throws Exception {
    AgentResult result =
        called(
            wire,
            (message, back) ->
                back.last(
                    "[%s, %s]"
                        .formatted(
                            FakeServer.replyTo(4711, "\"result\": {}"),
                            FakeServer.reply(message, "\"result\": {\"structuredContent\": {}}"))));
    assertEquals(Json.EMPTY_OBJECT, Caller.results(result).getFirst().output());
  }

  @ParameterizedTest
  @EnumSource(names = {"HTTP_EVENTS", "STDIO"})
  void a_second_reply_is_passed_over(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().connect();
        Caller caller = new Caller("act", "act")) {
      server.on(
          "tools/call",
          (message, back) -> {
            back.also(FakeServer.reply(message, "\"result\": {\"structuredContent\": {\"n\": 1}}"));
            back.last(FakeServer.reply(message, "\"result\": {\"structuredContent\": {\"n\": 2}}"));
          });
      AgentResult result = caller.run(client.tools());
      assertEquals(
          Collections.nCopies(2, Json.parse("{\"n\": 1}")),
          Caller.results(result).stream().map(one -> one.output()).toList());
    }
  }

  @ParameterizedTest
  @EnumSource
  void calls_at_the_same_time_get_their_own_replies_in_whatever_order_they_come(Wire wire)
      throws Exception {
    int count = 20;
    Map<String, CountDownLatch> turns = new ConcurrentHashMap<>();
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().connect();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i <= count; i++) {
        turns.put("n" + i, new CountDownLatch(1));
      }
      server.on(
          "tools/call",
          (message, back) -> {
            String what = message.path("params").path("arguments").path("what").stringValue();
            int number = Integer.parseInt(what.substring(1));
            turns.get(what).await(); // the last first
            FakeServer.text(what).serve(message, back);
            if (number > 0) {
              turns.get("n" + (number - 1)).countDown();
            }
          });
      var tools = client.tools();
      List<Future<String>> outputs =
          IntStream.range(0, count)
              .mapToObj(
                  i ->
                      threads.submit(
                          () -> {
                            try (Caller caller =
                                new Caller("act", Json.of(Map.of("what", "n" + i)))) {
                              return String.valueOf(Caller.output(caller.run(tools)));
                            }
                          }))
              .toList();
      for (int i = 0; i < count; i++) {
        var _ = server.await("tools/call");
      }
      turns.get("n" + (count - 1)).countDown();
      for (int i = 0; i < count; i++) {
        assertEquals("n" + i, outputs.get(i).get(60, TimeUnit.SECONDS));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_connection_that_breaks_leaves_the_outcome_unknown(Wire wire) throws Exception {
    assertUnknown(called(wire, (message, back) -> back.cut()));
    assertUnknown(called(wire, (message, back) -> back.cutWithin()));
  }

  @ParameterizedTest
  @EnumSource(names = {"HTTP_JSON", "HTTP_EVENTS"})
  void an_answer_that_cannot_be_read_leaves_the_outcome_unknown(Wire wire) throws Exception {
    for (String garbage :
        List.of(
            "{\"jsonrpc\"",
            "hello",
            "[".repeat(200) + "]".repeat(200),
            "{}",
            FakeServer.replyTo(4711, "\"result\": {}"),
            "\"" + "x".repeat(1_100_000) + "\"")) {
      assertUnknown(called(wire, (message, back) -> back.last(garbage)));
    }
    assertUnknown(called(wire, FakeServer.result("7")));
  }

  @Test
  void a_line_beyond_the_bound_ends_the_session_and_leaves_the_outcome_unknown() throws Exception {
    assertUnknown(called(Wire.STDIO, (message, back) -> back.last("x".repeat(1_100_000))));
    assertUnknown(called(Wire.STDIO, (message, back) -> back.last("hello\n".repeat(1_002))));
    assertUnknown(called(Wire.STDIO, FakeServer.result("[]")));
  }

  @Test
  void lines_that_are_no_messages_are_passed_over() throws Exception {
    AgentResult result =
        called(
            Wire.STDIO,
            (message, back) -> {
              back.also("Listening…\n\n{\"half\": \n" + "[".repeat(200));
              FakeServer.text("done").serve(message, back);
            });
    assertEquals("done", Caller.output(result));
  }

  private static AgentResult answered(String raw) throws Exception {
    try (FakeHttpServer server = (FakeHttpServer) FakeServer.start(Wire.HTTP_JSON)) {
      server.rawAnswer("tools/call", raw);
      return called(server);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 307, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429})
  void a_request_that_the_server_refuses_has_failed(int status) throws Exception {
    try (FakeHttpServer server = (FakeHttpServer) FakeServer.start(Wire.HTTP_JSON)) {
      server.namesSessions = false; // else 404 begins another one
      server.rawAnswer("tools/call", "HTTP/1.1 " + status + " No\r\nContent-Length: 0\r\n\r\n");
      assertFailed(called(server));
      assertEquals(1, server.messages("tools/call").size());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {202, 204, 408, 500, 502, 503, 504})
  void any_other_status_leaves_the_outcome_unknown(int status) throws Exception {
    assertUnknown(answered("HTTP/1.1 " + status + " No\r\nContent-Length: 0\r\n\r\n"));
  }

  @Test
  void an_answer_of_another_type_leaves_the_outcome_unknown() throws Exception {
    assertUnknown(
        answered("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nno"));
    assertUnknown(
        answered(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 26\r\n\r\n"
                + "{\"error\": {\"code\": \"404\"}}"));
    assertUnknown(answered("this is no HTTP\r\n\r\n"));
    assertUnknown(answered("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"));
  }

  @Test
  void a_server_that_cannot_be_reached_any_more_has_not_acted() throws Exception {
    FakeHttpServer server = new FakeHttpServer(Wire.HTTP_JSON).keepingNoConnections();
    try (server;
        McpServer client = server.client().connect();
        Caller caller = new Caller("act")) {
      var tools = client.tools();
      server.close();
      assertFailed(caller.run(tools));
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_session_that_was_forgotten_is_begun_anew_and_the_call_made_once(Wire wire)
      throws Exception {
    TaskTree tasks = TaskTree.builder().build();
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().tasks(tasks).connect();
        Caller caller = new Caller("act")) {
      var tools = client.tools();
      server.restart();
      awaitNothingLive(tasks); // a process that has just died may still be taken for alive
      AgentResult result = caller.run(tools);
      assertEquals("done", Caller.output(result));
      assertEquals(1, server.messages("tools/call").size());
      assertEquals(2, server.messages("initialize").size());
      assertEquals(2, server.messages("notifications/initialized").size());
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  private static void awaitNothingLive(TaskTree tasks) {
    while (tasks.liveCount() > 0 && !Thread.interrupted()) {
      Thread.yield();
    }
  }

  @Test
  void callers_that_find_a_session_over_begin_one_together() throws Exception {
    try (FakeHttpServer server = (FakeHttpServer) FakeServer.start(Wire.HTTP_JSON);
        McpServer client = server.client().connect();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var tools = client.tools();
      CountDownLatch go = new CountDownLatch(1);
      server.on(
          "initialize",
          (message, back) -> {
            go.await();
            FakeServer.result("{\"protocolVersion\": \"2025-06-18\"}").serve(message, back);
          });
      server.restart();
      List<Future<Object>> outputs =
          IntStream.range(0, 8)
              .mapToObj(
                  i ->
                      threads.submit(
                          () -> {
                            try (Caller caller = new Caller("act")) {
                              return Caller.output(caller.run(tools));
                            }
                          }))
              .toList();
      var _ = server.await("initialize"); // of the first session
      var _ = server.await("initialize");
      go.countDown();
      for (Future<Object> output : outputs) {
        assertEquals("done", output.get(60, TimeUnit.SECONDS));
      }
      assertEquals(8, server.messages("tools/call").size());
    }
  }

  @Test
  void a_session_that_is_forgotten_again_fails_the_call() throws Exception {
    try (FakeHttpServer server = (FakeHttpServer) FakeServer.start(Wire.HTTP_JSON)) {
      server.rawAnswer(
          "tools/call", "HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      assertFailed(called(server));
      assertEquals(2, server.messages("tools/call").size());
      assertEquals(2, server.begun());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"HTTP_EVENTS", "STDIO"})
  void a_ping_is_answered_and_all_else_that_a_server_wants_is_refused(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().connect();
        Caller caller = new Caller("act")) {
      server.on(
          "tools/call",
          (message, back) -> {
            back.also("{\"jsonrpc\": \"2.0\", \"id\": \"p-1\", \"method\": \"ping\"}");
            back.also(
                "{\"jsonrpc\": \"2.0\", \"id\": 3, \"method\": \"sampling/createMessage\","
                    + " \"params\": {}}");
            JsonNode first = server.await("answer");
            JsonNode second = server.await("answer");
            boolean inOrder = first.path("id").isString();
            JsonNode ping = inOrder ? first : second;
            JsonNode sampling = inOrder ? second : first;
            assertEquals("p-1", ping.path("id").stringValue());
            assertTrue(ping.path("result").isObject());
            assertEquals(3, sampling.path("id").intValue());
            assertEquals(-32601, sampling.path("error").path("code").intValue());
            FakeServer.text("asked").serve(message, back);
          });
      AgentResult result = caller.run(client.tools());
      assertEquals("asked", Caller.output(result));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"HTTP_EVENTS", "STDIO"})
  void a_server_that_asks_without_end_and_takes_no_answer_holds_nothing_up(Wire wire)
      throws Exception {
    try (FakeServer server = FakeServer.start(wire)) {
      server.on("answer", server.silence());
      server.on(
          "tools/call",
          (message, back) -> {
            for (int i = 0; i < 5_000; i++) {
              back.also("{\"jsonrpc\": \"2.0\", \"id\": " + i + ", \"method\": \"ping\"}");
            }
            FakeServer.text("done").serve(message, back);
          });
      assertEquals("done", Caller.output(called(server)));
      assertTrue(wire == Wire.STDIO || server.messages("answer").size() <= 16);
    }
  }

  @ParameterizedTest
  @EnumSource
  void after_the_close_calls_fail(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        Caller caller = new Caller("act")) {
      McpServer client = server.client().connect();
      List<Tool> tools;
      try (client) {
        tools = client.tools();
      }
      assertFailed(caller.run(tools));
      var failure = assertThrows(ProviderException.class, client::tools);
      assertEquals("The client of the tool server was closed.", failure.getMessage());
      assertEquals(1, server.messages("initialize").size());
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_close_ends_the_calls_under_way(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        Caller caller = new Caller("act");
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      server.on("tools/call", server.silence());
      Future<AgentResult> run;
      try (McpServer client = server.client().effect(EffectClass.ONCE, "act").connect()) {
        List<Tool> tools = client.tools();
        run = threads.submit(() -> caller.run(tools));
        var _ = server.await("tools/call");
      }
      assertUnknown(assertInstanceOf(AgentResult.class, run.get(60, TimeUnit.SECONDS)));
    }
  }
}
