package dev.warpwright.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.mcp.FakeServer.Wire;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Beginning a session and listing tools, and servers that make trouble there. */
@Timeout(120)
final class McpToolsTest {
  private static final String SCHEMA = "{\"type\": \"object\"}";

  private static String tool(String name, String more) {
    return "{\"name\": \"%s\", \"description\": \"Acts.\"%s}".formatted(name, more);
  }

  private static String tool(String name) {
    return tool(name, ", \"inputSchema\": " + SCHEMA);
  }

  private static String list(String... tools) {
    return "{\"tools\": [" + String.join(", ", tools) + "]}";
  }

  /** The tools of a server that lists these. */
  private static List<Tool> tools(String list, UnaryOperator<McpServer.HttpBuilder> settings)
      throws Exception {
    try (FakeHttpServer server = (FakeHttpServer) FakeServer.start(Wire.HTTP_JSON)) {
      server.on("tools/list", FakeServer.result(list));
      try (McpServer client = settings.apply(server.client()).connect()) {
        return client.tools();
      }
    }
  }

  private static List<String> names(List<Tool> tools) {
    return tools.stream().map(Tool::name).toList();
  }

  private static List<String> names(String... listed) throws Exception {
    return names(tools(list(listed), settings -> settings));
  }

  @ParameterizedTest
  @EnumSource
  void a_session_is_begun_as_the_protocol_says(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().connect()) {
      assertEquals(List.of("act"), names(client.tools()));
      assertEquals(
          List.of("initialize", "notifications/initialized", "tools/list"),
          server.messages().stream().map(one -> one.path("method").stringValue()).toList());
      JsonNode first = server.messages().getFirst();
      assertEquals("2.0", first.path("jsonrpc").stringValue());
      JsonNode params = first.path("params");
      assertEquals("2025-11-25", params.path("protocolVersion").stringValue());
      assertTrue(params.path("capabilities").isEmpty());
      assertEquals("warpwright", params.path("clientInfo").path("name").stringValue());
    }
  }

  @Test
  void over_http_each_message_names_session_and_revision_and_the_close_ends_the_session()
      throws Exception {
    try (FakeHttpServer server = (FakeHttpServer) FakeServer.start(Wire.HTTP_EVENTS)) {
      try (McpServer client =
          server.client().bearer("secret-token").header("X-Team", "red").connect()) {
        var _ = client.tools();
      }
      assertTrue(server.deleted.await(60, TimeUnit.SECONDS));
      List<Map<String, String>> heads = server.heads;
      assertEquals(4, heads.size());
      for (Map<String, String> head : heads) {
        assertEquals("Bearer secret-token", head.get("Authorization"));
        assertEquals("red", head.get("X-Team"));
      }
      assertFalse(heads.getFirst().containsKey("Mcp-Session-Id"));
      assertFalse(heads.getFirst().containsKey("MCP-Protocol-Version"));
      for (Map<String, String> head : heads.subList(0, 3)) {
        assertEquals("POST /mcp HTTP/1.1", head.get(":"));
        assertEquals("application/json, text/event-stream", head.get("Accept"));
        assertEquals("application/json", head.get("Content-Type"));
      }
      for (Map<String, String> head : heads.subList(1, 4)) {
        assertEquals("session-1", head.get("Mcp-Session-Id"));
        assertEquals("2025-11-25", head.get("MCP-Protocol-Version"));
      }
      assertEquals("DELETE /mcp HTTP/1.1", heads.getLast().get(":"));
    }
  }

  @Test
  void a_server_that_keeps_no_sessions_gets_no_id_and_no_end() throws Exception {
    try (FakeHttpServer server = (FakeHttpServer) FakeServer.start(Wire.HTTP_JSON)) {
      server.namesSessions = false;
      try (McpServer client = server.client().connect()) {
        assertEquals(List.of("act"), names(client.tools()));
      }
      assertEquals(3, server.heads.size());
      assertTrue(server.heads.stream().noneMatch(head -> head.containsKey("Mcp-Session-Id")));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"})
  void an_older_revision_that_the_server_prefers_will_do(String version) throws Exception {
    try (FakeHttpServer server = (FakeHttpServer) FakeServer.start(Wire.HTTP_JSON)) {
      server.on("initialize", FakeServer.result("{\"protocolVersion\": \"" + version + "\"}"));
      try (McpServer client = server.client().connect()) {
        var _ = client.tools();
      }
      assertEquals(version, server.heads.get(2).get("MCP-Protocol-Version"));
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_server_of_an_unknown_revision_is_refused(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire)) {
      server.on("initialize", FakeServer.result("{\"protocolVersion\": \"3000-01-01\"}"));
      var failure = assertThrows(ProviderException.class, () -> server.client().connect());
      assertEquals(Kind.PROTOCOL, failure.kind());
      assertEquals(
          "The tool server speaks no revision of the protocol that is known here.",
          failure.getMessage());
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_server_that_refuses_the_session_is_a_failure_with_its_words(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire)) {
      server.on("initialize", FakeServer.error(-32022, "Unsupported protocol version"));
      var failure = assertThrows(ProviderException.class, () -> server.client().connect());
      assertEquals("The tool server refused to begin a session.", failure.getMessage());
      assertEquals("-32022", failure.code().orElseThrow());
      assertEquals("Unsupported protocol version", failure.providerMessage().orElseThrow());
    }
  }

  @Test
  void a_session_id_that_could_split_a_header_is_refused() throws Exception {
    try (FakeHttpServer server = (FakeHttpServer) FakeServer.start(Wire.HTTP_JSON)) {
      server.sessionName = "a b";
      var failure = assertThrows(ProviderException.class, () -> server.client().connect());
      assertEquals(Kind.PROTOCOL, failure.kind());
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_server_that_does_not_answer_is_given_up_after_the_timeout(Wire wire) throws Exception {
    for (String method : List.of("initialize", "tools/list")) {
      ManualTime time = new ManualTime();
      TaskTree tasks = TaskTree.builder().time(time).build();
      try (FakeServer server = FakeServer.start(wire);
          var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        server.on(method, server.silence());
        Future<List<Tool>> listed =
            threads.submit(
                () -> {
                  try (McpServer client =
                      server.client().tasks(tasks).timeout(Duration.ofSeconds(7)).connect()) {
                    return client.tools();
                  }
                });
        var _ = server.await(method);
        time.advance(Duration.ofSeconds(7));
        var failure =
            (ProviderException)
                assertThrows(ExecutionException.class, () -> listed.get(60, TimeUnit.SECONDS))
                    .getCause();
        assertEquals(Kind.TIMEOUT, failure.kind());
        assertEquals("The tool server did not answer within PT7S.", failure.getMessage());
        if (method.equals("tools/list")) {
          assertEquals(
              server.messages(method).getFirst().path("id"),
              server.await("notifications/cancelled").path("params").path("requestId"));
        } else {
          assertEquals(List.of(), server.messages("notifications/cancelled"), "is forbidden");
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void an_interrupt_ends_the_wait_and_stays_set(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().connect()) {
      server.on("tools/list", server.silence());
      CountDownLatch seen = new CountDownLatch(1);
      Thread thread =
          Thread.ofVirtual()
              .start(
                  () -> {
                    assertThrows(OperationCancelledException.class, client::tools);
                    if (Thread.currentThread().isInterrupted()) {
                      seen.countDown();
                    }
                  });
      var _ = server.await("tools/list");
      thread.interrupt();
      assertTrue(seen.await(60, TimeUnit.SECONDS));
      var _ = server.await("notifications/cancelled");
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_server_that_cannot_be_begun_with_leaves_nothing_behind(Wire wire) throws Exception {
    TaskTree tasks = TaskTree.builder().build();
    try (FakeServer server = FakeServer.start(wire)) {
      server.on("initialize", (message, back) -> back.cut());
      var failure =
          assertThrows(ProviderException.class, () -> server.client().tasks(tasks).connect());
      assertEquals(Kind.READ, failure.kind());
      awaitNothingLive(tasks);
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  private static void awaitNothingLive(TaskTree tasks) {
    while (tasks.liveCount() > 0 && !Thread.interrupted()) {
      Thread.yield();
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_list_of_several_pages_is_read_to_its_end(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().connect()) {
      server.on(
          "tools/list",
          (message, back) -> {
            String cursor = message.path("params").path("cursor").asString("0");
            int page = Integer.parseInt(cursor);
            String next = page < 2 ? ", \"nextCursor\": \"" + (page + 1) + "\"" : "";
            FakeServer.result("{\"tools\": [" + tool("t" + page) + "]" + next + "}")
                .serve(message, back);
          });
      assertEquals(List.of("t0", "t1", "t2"), names(client.tools()));
      assertTrue(
          server.messages("tools/list").getFirst().path("params").path("cursor").isMissingNode());
    }
  }

  @ParameterizedTest
  @EnumSource
  void pages_without_end_are_given_up(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().connect()) {
      server.on("tools/list", FakeServer.result("{\"tools\": [], \"nextCursor\": \"again\"}"));
      var failure = assertThrows(ProviderException.class, client::tools);
      assertEquals("The tool server lists its tools on more than 64 pages.", failure.getMessage());
      assertEquals(64, server.messages("tools/list").size());
    }
  }

  @Test
  void more_tools_than_the_bound_are_refused() throws Exception {
    String[] many = IntStream.range(0, 257).mapToObj(i -> tool("t" + i)).toArray(String[]::new);
    var failure = assertThrows(ProviderException.class, () -> names(many));
    assertEquals("The tool server lists more than 256 tools.", failure.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "7",
        "null",
        "{\"name\": 7, \"inputSchema\": {\"type\": \"object\"}}",
        "{\"name\": \"\", \"inputSchema\": {\"type\": \"object\"}}",
        "{\"name\": \"bad\"}",
        "{\"name\": \"bad\", \"inputSchema\": null}",
        "{\"name\": \"bad\", \"inputSchema\": true}",
        "{\"name\": \"bad\", \"inputSchema\": {\"type\": \"string\"}}",
        "{\"name\": \"bad\", \"inputSchema\": {\"type\": \"object\", \"required\": 7}}",
        "{\"name\": \"bad\", \"inputSchema\": {\"type\": \"object\", \"$schema\": \"urn:x\"}}",
        "{\"name\": \"bad\", \"inputSchema\": {\"type\": \"object\", \"allOf\":"
            + " [{\"$ref\": \"https://example.com/evil.json\"}]}}",
        "{\"name\": \"bad\", \"inputSchema\": {\"type\": \"object\", \"allOf\":"
            + " [{\"$ref\": \"#\"}]}}",
      })
  void a_tool_that_cannot_be_used_is_left_out(String bad) throws Exception {
    assertEquals(List.of("good", "last"), names(tool("good"), bad, tool("last")));
  }

  @Test
  void names_and_schemas_beyond_their_bounds_are_left_out() throws Exception {
    String big =
        IntStream.range(0, 4_000)
            .mapToObj(i -> "\"property%05d\": {}".formatted(i))
            .collect(Collectors.joining(", "));
    assertEquals(
        List.of("n".repeat(64), "good"),
        names(
            tool("n".repeat(64)),
            tool("n".repeat(65)),
            tool("n".repeat(129)),
            tool("big", ", \"inputSchema\": {\"type\": \"object\", \"properties\": {" + big + "}}"),
            tool("good")));
  }

  @Test
  void names_are_made_to_fit_and_of_two_that_become_the_same_the_first_stays() throws Exception {
    assertEquals(List.of("a_b", "gr__e"), names(tool("a.b"), tool("a_b"), tool("grüße")));
    List<Tool> tools =
        tools(list(tool("a.b"), tool("c")), settings -> settings.prefix("x-").rename("c", "other"));
    assertEquals(List.of("x-a_b", "other"), names(tools));
  }

  @Test
  void a_description_is_cut_and_a_title_stands_in_for_one() throws Exception {
    List<Tool> tools =
        tools(
            list(
                "{\"name\": \"a\", \"description\": \"%s\", \"inputSchema\": %s}"
                    .formatted("d".repeat(20_000), SCHEMA),
                "{\"name\": \"b\", \"title\": \"The B.\", \"inputSchema\": " + SCHEMA + "}",
                "{\"name\": \"c\", \"inputSchema\": " + SCHEMA + "}"),
            settings -> settings);
    assertEquals(16_384, tools.get(0).spec().description().length());
    assertEquals("The B.", tools.get(1).spec().description());
    assertEquals("", tools.get(2).spec().description());
  }

  @Test
  void a_tool_is_once_whatever_the_server_says_unless_the_program_believes_it() throws Exception {
    String list =
        list(
            tool("plain"),
            tool("reads", hints("\"readOnlyHint\": true")),
            tool("repeats", hints("\"idempotentHint\": true, \"readOnlyHint\": false")),
            tool("destroys", hints("\"destructiveHint\": false")),
            tool("lies", hints("\"readOnlyHint\": true")));
    assertEquals(
        List.of(
            EffectClass.ONCE,
            EffectClass.ONCE,
            EffectClass.ONCE,
            EffectClass.ONCE,
            EffectClass.ONCE),
        effects(tools(list, settings -> settings)));
    assertEquals(
        List.of(
            EffectClass.PURE,
            EffectClass.PURE,
            EffectClass.IDEMPOTENT,
            EffectClass.ONCE,
            EffectClass.ONCE),
        effects(
            tools(
                list,
                settings ->
                    settings
                        .trustAnnotations()
                        .effect(EffectClass.PURE, "plain")
                        .effect(EffectClass.ONCE, "lies"))));
  }

  private static String hints(String hints) {
    return ", \"inputSchema\": " + SCHEMA + ", \"annotations\": {" + hints + "}";
  }

  private static List<EffectClass> effects(List<Tool> tools) {
    return tools.stream().map(Tool::effect).toList();
  }

  @Test
  void only_the_tools_that_are_named_are_taken_and_all_of_them_must_be_there() throws Exception {
    String list = list(tool("a"), tool("b"), "{\"name\": \"c\"}");
    assertEquals(List.of("b"), names(tools(list, settings -> settings.only("b"))));
    var refused =
        assertThrows(
            InvalidRequestException.class,
            () -> tools(list, settings -> settings.only("b", "c", "d")));
    assertEquals(
        "The tool server must have every tool that only(…) names, but lacks, or has in a form that"
            + " cannot be used: c, d.",
        refused.getMessage());
  }

  @Test
  void what_the_program_adds_to_a_tool_holds() throws Exception {
    List<Tool> tools =
        tools(
            list(tool("a"), tool("b")),
            settings ->
                settings.each(
                    (name, tool) -> {
                      if (name.equals("b")) {
                        tool.requiresApproval().timeout(Duration.ofSeconds(3));
                      }
                    }));
    assertFalse(tools.get(0).requiresApproval(Caller.INPUT));
    assertTrue(tools.get(1).requiresApproval(Caller.INPUT));
    assertEquals(Duration.ofSeconds(3), tools.get(1).timeout().orElseThrow());
  }

  @Test
  void a_tool_that_comes_to_mean_something_else_has_another_version() throws Exception {
    String before = tools(list(tool("a")), settings -> settings).getFirst().version();
    assertEquals(before, tools(list(tool("a")), settings -> settings).getFirst().version());
    for (String changed :
        List.of(
            "{\"name\": \"a\", \"description\": \"Acts!\", \"inputSchema\": " + SCHEMA + "}",
            tool("a", ", \"inputSchema\": {\"type\": \"object\", \"maxProperties\": 1}"))) {
      assertNotEquals(before, tools(list(changed), settings -> settings).getFirst().version());
    }
  }

  @Test
  void an_input_that_breaks_the_servers_schema_is_not_sent() throws Exception {
    try (FakeServer server = FakeServer.start(Wire.STDIO);
        McpServer client = server.client().connect();
        Caller caller = new Caller("act")) {
      server.on(
          "tools/list",
          FakeServer.result(
              list(
                  tool(
                      "act",
                      ", \"inputSchema\": {\"type\": \"object\", \"properties\": {\"what\":"
                          + " {\"type\": \"integer\"}}}"))));
      var result = caller.run(client.tools());
      assertTrue(Caller.results(result).getFirst().error());
      assertEquals(List.of(), server.messages("tools/call"));
    }
  }

  @Test
  @Tag("A142")
  void nothing_shows_a_secret() throws Exception {
    try (FakeHttpServer server = (FakeHttpServer) FakeServer.start(Wire.HTTP_JSON)) {
      McpServer.HttpBuilder builder =
          server.client().bearer("secret-token").header("X-Key", "secret-key");
      assertFalse(builder.toString().contains("secret"), builder::toString);
      try (McpServer client = builder.connect()) {
        assertEquals("McpServer[" + server.uri() + "]", client.toString());
        server.on("tools/list", FakeServer.error(-1, "You sent secret-token."));
        var failure = assertThrows(ProviderException.class, client::tools);
        assertFalse(failure.toString().contains("secret"), failure::toString);
        server.rawAnswer("tools/list", "HTTP/1.1 401 No\r\nContent-Length: 12\r\n\r\nsecret-token");
        failure = assertThrows(ProviderException.class, client::tools);
        assertFalse(failure.toString().contains("secret"), failure::toString);
        assertFalse(failure.providerMessage().orElse("").contains("secret"));
      }
    }
    McpServer.StdioBuilder stdio =
        McpServer.stdio("/no/such/program", "--key", "secret").environment("KEY", "secret");
    assertFalse(stdio.toString().contains("secret"), stdio::toString);
    var failure = assertThrows(ProviderException.class, stdio::connect);
    assertEquals("The tool server could not be started.", failure.getMessage());
    assertEquals(Kind.CONNECT, failure.kind());
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      assertFalse(cause.toString().contains("secret"), cause::toString);
    }
  }

  @Test
  void settings_beyond_their_bounds_are_refused() {
    McpServer.HttpBuilder http = McpServer.http(URI.create("http://localhost:1/mcp"));
    for (Runnable refused :
        List.<Runnable>of(
            () -> http.prefix("a b"),
            () -> http.prefix("x".repeat(33)),
            () -> http.rename("a", "a b"),
            () -> http.timeout(Duration.ZERO),
            () -> http.connectTimeout(Duration.ZERO),
            () -> http.bearer("a b"),
            () -> http.header("Mcp-Session-Id", "x"),
            () -> http.header("Authorization", "x"),
            () -> McpServer.stdio(),
            () -> McpServer.stdio(" "),
            () -> McpServer.stdio("a").environment("a=b", "c"),
            () -> McpServer.http(URI.create("http://example.com/mcp")).connect(),
            () -> McpServer.http(URI.create("https://example.com/?key=x")).connect())) {
      assertThrows(InvalidRequestException.class, refused::run);
    }
  }

  @Test
  void an_url_that_ends_with_a_slash_keeps_it() throws Exception {
    try (FakeHttpServer server = (FakeHttpServer) FakeServer.start(Wire.HTTP_JSON);
        McpServer client = McpServer.http(URI.create(server.uri() + "/")).connect()) {
      assertEquals("POST /mcp/ HTTP/1.1", server.heads.getFirst().get(":"));
      assertEquals("McpServer[" + server.uri() + "/]", client.toString());
    }
  }
}
