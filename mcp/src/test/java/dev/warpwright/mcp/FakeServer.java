package dev.warpwright.mcp;

import static java.util.Objects.requireNonNull;

import dev.warpwright.json.StrictJson;
import java.io.IOException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;

/** A tool server that does what a test says with each message, over a real socket. */
abstract class FakeServer implements AutoCloseable {
  static final String TOOLS =
      """
      {"tools": [{"name": "act", "description": "Acts.",
        "inputSchema": {"type": "object", "properties": {"what": {"type": "string"}}}}]}\
      """;

  private static final String INITIALIZED =
      """
      {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
       "serverInfo": {"name": "fake", "version": "1"}}\
      """;

  /** How messages travel. */
  enum Wire {
    HTTP_JSON,
    HTTP_EVENTS,
    STDIO
  }

  /** What the server does with a message. */
  @FunctionalInterface
  interface Script {
    void serve(JsonNode message, Back back) throws IOException, InterruptedException;
  }

  private final Map<String, Script> scripts = new ConcurrentHashMap<>();

  /** What is done with messages that were noted: what the test had said until then. */
  private final Map<JsonNode, Script> due = Collections.synchronizedMap(new IdentityHashMap<>());

  private final List<JsonNode> messages = new CopyOnWriteArrayList<>();
  private final Map<String, BlockingQueue<JsonNode>> byMethod = new ConcurrentHashMap<>();

  /** Opens when the test is over. */
  final CountDownLatch over = new CountDownLatch(1);

  FakeServer() {
    on("initialize", result(INITIALIZED));
    on("tools/list", result(TOOLS));
    on("tools/call", text("done"));
  }

  static FakeServer start(Wire wire) throws IOException {
    return wire == Wire.STDIO ? new FakeStdioServer() : new FakeHttpServer(wire);
  }

  abstract McpServer.Builder<?> client();

  /** Forgets every session. */
  abstract void restart();

  final FakeServer on(String method, Script script) {
    scripts.put(method, script);
    return this;
  }

  static Script result(String json) {
    return (message, back) -> back.last(reply(message, "\"result\": " + json));
  }

  static Script text(String text) {
    return result("{\"content\": [{\"type\": \"text\", \"text\": \"%s\"}]}".formatted(text));
  }

  static Script error(int code, String message) {
    return (asked, back) ->
        back.last(
            reply(
                asked, "\"error\": {\"code\": %d, \"message\": \"%s\"}".formatted(code, message)));
  }

  /** Never answers. */
  Script silence() {
    return (message, back) -> over.await();
  }

  static String reply(JsonNode message, String member) {
    return replyTo(message.path("id").longValue(), member);
  }

  static String replyTo(long id, String member) {
    return "{\"jsonrpc\": \"2.0\", \"id\": %d, %s}".formatted(id, member.replace("\n", " "));
  }

  /** All messages so far. */
  final List<JsonNode> messages() {
    return messages;
  }

  final List<JsonNode> messages(String method) {
    return messages.stream().filter(one -> method(one).equals(method)).toList();
  }

  /** Waits for the next message of a method that this was not asked for yet. */
  final JsonNode await(String method) throws InterruptedException {
    return requireNonNull(queue(method).poll(60, TimeUnit.SECONDS), method);
  }

  private BlockingQueue<JsonNode> queue(String method) {
    return byMethod.computeIfAbsent(method, any -> new LinkedBlockingQueue<>());
  }

  /** The method of a request or a notification; "answer" for what answers the server. */
  private static String method(JsonNode message) {
    return message.path("method").asString("answer");
  }

  /** Notes a message. */
  final JsonNode note(String text) {
    JsonNode message = StrictJson.read(text);
    Script script = scripts.get(method(message));
    if (script != null) {
      due.put(message, script);
    }
    messages.add(message);
    queue(method(message)).add(message);
    return message;
  }

  /** Does what the test says; false if it says nothing. */
  final boolean serve(JsonNode message, Back back) throws IOException, InterruptedException {
    Script script = due.remove(message);
    if (script != null) {
      script.serve(message, back);
    }
    return script != null;
  }

  @Override
  public void close() throws IOException {
    over.countDown();
  }
}
