package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.model.Json;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A script means the same inside the program and behind a real adapter and real sockets. */
@Tag("R379")
@Timeout(30)
@ParameterizedClass
@EnumSource(WireParityTest.Wire.class)
class WireParityTest {
  private static final Script SCRIPT =
      Script.parse(
          """
          { "rules": [
              { "when": { "turn": 0, "user": "cut" }, "answer": { "text": "Once", "finish": "length" } },
              { "when": { "turn": 0, "user": "(?<order>A\\\\d)" }, "answer": {
                  "text": "Wait.",
                  "tools": [ { "name": "lookup", "input": { "id": "${order}", "n": 1.10 } },
                             { "name": "lookup", "rawInput": "{" } ],
                  "usage": { "input": 10, "output": 4, "cachedInput": 3, "reasoning": 2 } } },
              { "when": { "result": { "error": true, "output": "gone" } },
                "answer": { "text": "It failed." } },
              { "when": { "result": { "error": false, "output": "amount\\":12\\\\.50" } },
                "answer": { "text": "It is paid." } },
              { "when": { "user": "^fault" }, "answer": { "text": "No fault." } } ],
            "faults": [
              { "when": { "user": "fault 429" }, "status": 429, "headers": { "Retry-After": "0.2" },
                "body": { "error": { "code": "rate_limit_exceeded", "message": "Slow down." } } },
              { "when": { "user": "fault 503" }, "status": 503 },
              { "when": { "user": "fault 502" }, "status": 502, "body": "<h1>Bad</h1>" },
              { "when": { "user": "fault before" }, "reset": "BEFORE_HEADERS" },
              { "when": { "user": "fault after" }, "reset": "AFTER_HEADERS" },
              { "when": { "user": "fault body" }, "reset": "IN_BODY" },
              { "when": { "user": "fault cut" }, "cutBodyAfter": 20 },
              { "when": { "user": "fault bytes" }, "garbage": "BYTES" },
              { "when": { "user": "fault json" }, "garbage": "BODY" },
              { "when": { "user": "fault slow" }, "slowHeaders": "PT0.01S" },
              { "when": { "user": "fault stall" }, "stall": true } ] }
          """);

  private final ScriptedServer server = ScriptedServer.start(SCRIPT);
  private final ProviderAdapter wire;
  private final ScriptedModel inside = ScriptedModel.of(SCRIPT);

  WireParityTest(Wire wire) {
    this.wire = wire.adapter(server.uri());
  }

  /** OpenAI's two protocols. */
  enum Wire {
    CHAT,
    RESPONSES;

    private ProviderAdapter adapter(URI url) {
      return switch (this) {
        case CHAT -> OpenAi.builder().baseUrl(url).build();
        case RESPONSES -> OpenAi.builder().api(Api.RESPONSES).baseUrl(url).build();
      };
    }
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    wire.close();
    server.close();
    assertEquals(0, server.openConnections());
    assertEquals(0, inside.running());
  }

  private static ModelCall call(List<Message> messages) {
    return ModelCall.builder(messages)
        .tools(List.of(new ToolSpec("lookup", "Looks up.", Json.parse("{\"type\":\"object\"}"))))
        .build();
  }

  private ModelResponse ask(List<Message> messages) throws InterruptedException {
    ModelResponse said = inside.model("m-1").generate(call(messages));
    ModelResponse heard = wire.model("m-1").generate(call(messages));
    assertEquals(said.message(), heard.message());
    assertEquals(said.finishReason().kind(), heard.finishReason().kind()); // in other words
    assertEquals(said.usage(), heard.usage());
    assertEquals(said.requestId(), heard.requestId());
    return said;
  }

  @ParameterizedTest
  @ValueSource(strings = {"cut", "A7", "fault slow"})
  void answersAreTheSame(String user) throws Exception {
    ask(List.of(Message.system("Be kind."), Message.user(user)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void resultsAreUnderstoodTheSame(boolean error) throws Exception {
    List<Message> messages = new ArrayList<>(List.of(Message.user("A7")));
    Message asked = ask(messages).message();
    messages.add(asked);
    List<ToolResult> results = new ArrayList<>();
    for (ToolCall call : asked.toolCalls()) {
      results.add(
          error
              ? ToolResult.failure(call, "gone")
              : ToolResult.success(call, Json.parse("{\"amount\":12.50}")));
    }
    messages.add(Message.tool(results));
    assertEquals(error ? "It failed." : "It is paid.", ask(messages).message().text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "no rule for this",
        "fault 429",
        "fault 503",
        "fault 502",
        "fault before",
        "fault after",
        "fault body",
        "fault cut",
        "fault bytes",
        "fault json"
      })
  void failuresAreTheSame(String user) {
    assertEquals(failure(inside, user), failure(wire, user));
  }

  private static List<Object> failure(ProviderAdapter adapter, String user) {
    LanguageModel model = adapter.model("m-1");
    ProviderException failure =
        assertThrows(
            ProviderException.class, () -> model.generate(call(List.of(Message.user(user)))));
    return List.of(
        failure.kind(),
        failure.status(),
        failure.code(),
        failure.retryAfter(),
        failure.requestId(),
        failure.providerMessage());
  }

  @Test
  void anInterruptedAdapterClosesItsConnectionAndTheServerSeesIt() throws Exception {
    Thread caller =
        Thread.ofVirtual()
            .start(
                () ->
                    assertThrows(
                        InterruptedException.class,
                        () ->
                            wire.model("m-1")
                                .generate(call(List.of(Message.user("fault stall"))))));
    server.awaitRequest(1, Duration.ofSeconds(10));
    long interrupted = System.nanoTime();
    caller.interrupt();
    ClientClose close = server.awaitClose(1, Duration.ofSeconds(10));
    assertEquals(ClientClose.Phase.WAITING, close.phase());
    assertTrue(close.after(interrupted).toMillis() < 10_000, close::toString);
    caller.join();
  }
}
