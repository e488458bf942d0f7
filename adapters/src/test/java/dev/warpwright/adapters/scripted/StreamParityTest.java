package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.bedrock.Bedrock;
import dev.warpwright.adapters.google.Gemini;
import dev.warpwright.adapters.ollama.Ollama;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An answer that is told while it comes is the one that would have come whole. */
@Timeout(30)
@ParameterizedClass
@EnumSource(StreamParityTest.Adapter.class)
class StreamParityTest {
  private static final Script SCRIPT =
      Script.parse(
          """
          { "rules": [
            { "when": { "turn": 0, "user": "^tools" },
              "answer": { "thinking": "Hm, order A17.", "text": "Wait a moment. \\u4f60 😀",
                          "tools": [ { "name": "lookup",
                                       "input": { "id": "A17 😀", "n": 1.10, "deep": { "a": [] } } },
                                     { "name": "lookup" },
                                     { "name": "broken", "rawInput": "{" },
                                     { "name": "twice", "rawInput": "{\\"a\\":1,\\"a\\":2}" } ],
                          "usage": { "input": 10, "output": 5, "cachedInput": 4, "cacheWrite": 2,
                                     "reasoning": 3 },
                          "stream": { "characters": 3 } } },
            { "when": { "result": {} }, "answer": { "thinking": "Good.", "text": "It is paid." } },
            { "when": { "user": "^thinks" },
              "answer": { "thinking": "I think.", "text": "So I am.",
                          "stream": { "characters": 1, "dribble": { "bytes": 3 } } } },
            { "when": { "user": "^refuse" }, "answer": { "refusal": "No, not that." } },
            { "when": { "user": "^cut" }, "answer": { "text": "Once upon", "finish": "length" } },
            { "when": { "user": "^filter" },
              "answer": { "text": "Once", "finish": "content_filter" } },
            { "when": { "user": "^half" },
              "answer": { "tools": [ { "name": "lookup", "rawInput": "{\\"id\\":\\"A" } ],
                          "finish": "length" } },
            { "when": { "user": "^call" }, "answer": { "tools": [ { "name": "clock" } ] } },
            { "when": { "user": "^pieces (?<x>.*)" },
              "answer": { "pieces": [ "Hel", "", "lo ${x}", "\\u4f60\\n" ],
                          "stream": { "lineEnd": "CRLF" } } },
            { "when": { "user": "^empty" }, "answer": { "text": "" } },
            { "when": { "user": "^used" },
              "answer": { "text": "Hi there", "usage": { "input": 7, "output": 2 } } } ],
          "faults": [
            { "when": { "user": "fault 400" }, "status": 400 },
            { "when": { "user": "fault 429" }, "status": 429, "headers": { "Retry-After": "0.2" } },
            { "when": { "user": "fault 503" }, "status": 503 },
            { "when": { "user": "fault before" }, "reset": "BEFORE_HEADERS" },
            { "when": { "user": "fault bytes" }, "garbage": "BYTES" } ] }
          """);

  private final ScriptedServer server = ScriptedServer.start(SCRIPT);
  private final Adapter of;
  private final ProviderAdapter adapter;
  private final StreamingModel model;

  StreamParityTest(Adapter of) {
    this.of = of;
    this.adapter = of.at(server.uri());
    this.model = (StreamingModel) adapter.model("m-1");
  }

  /** Everything that streams and plays scripts. */
  enum Adapter {
    CHAT,
    RESPONSES,
    MESSAGES,
    OLLAMA,
    CONVERSE,
    GEMINI,
    INSIDE;

    private ProviderAdapter at(URI url) {
      return switch (this) {
        case CHAT -> OpenAi.builder().baseUrl(url).build();
        case RESPONSES -> OpenAi.builder().api(Api.RESPONSES).baseUrl(url).build();
        case MESSAGES -> Anthropic.builder().baseUrl(url).thinkingBudget(1_024).build();
        case OLLAMA -> Ollama.builder().baseUrl(url).build();
        case CONVERSE -> Bedrock.builder("us-east-1").baseUrl(url).build();
        case GEMINI -> Gemini.builder().baseUrl(url).build();
        case INSIDE -> ScriptedModel.of(SCRIPT);
      };
    }
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    adapter.close();
    server.close();
    assertEquals(0, server.openConnections());
    assertEquals(0, server.openStreams());
  }

  private static ModelCall call(List<Message> conversation) {
    return ModelCall.builder(conversation)
        .tools(
            List.of(
                new ToolSpec("lookup", "Looks up.", Json.parse("{\"type\":\"object\"}")),
                new ToolSpec("clock", "Tells time.", Json.parse("{\"type\":\"object\"}"))))
        .build();
  }

  /** Asks in both ways; the answers have ids of their own. */
  private ModelResponse ask(ModelCall call) throws InterruptedException {
    List<ModelEvent> told = new ArrayList<>();
    ModelResponse whole = model.generate(call);
    ModelResponse streamed = model.stream(call, told::add);
    assertEquals(whole.message(), streamed.message());
    assertEquals(whole.finishReason(), streamed.finishReason());
    assertEquals(whole.usage(), streamed.usage());
    assertTrue(streamed.requestId().isPresent() && whole.requestId().isPresent());
    StringBuilder text = new StringBuilder();
    Optional<ModelEvent.Counters> counters = Optional.empty();
    for (ModelEvent event : told) {
      text.append(event instanceof ModelEvent.Text(String piece) ? piece : "");
      counters = event instanceof ModelEvent.Counters last ? Optional.of(last) : counters;
    }
    assertEquals(streamed.message().text(), text.toString());
    counters.ifPresent(last -> assertEquals(streamed.usage(), last.usage()));
    assertEquals(streamed.usage().input().isPresent(), counters.isPresent());
    return streamed;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tools",
        "thinks",
        "refuse",
        "cut",
        "filter",
        "half",
        "call",
        "pieces x",
        "empty",
        "used"
      })
  void answersAreTheSame(String user) throws Exception {
    ask(call(List.of(Message.user(user))));
  }

  @Test
  @Tag("FR-A07")
  @Tag("FR-Q01")
  @Tag("FR-G05")
  @Tag("R70")
  void aToolRoundGoesOnFromWhatWasStreamed() throws Exception {
    List<Message> conversation = new ArrayList<>(List.of(Message.user("tools, please")));
    Message asked = ask(call(conversation)).message();
    if (of != Adapter.CHAT) { // which has no place for it
      assertTrue(asked.parts().stream().anyMatch(ProviderState.class::isInstance));
    }
    conversation.add(asked);
    List<ToolResult> results = new ArrayList<>();
    for (ToolCall called : asked.toolCalls()) {
      results.add(ToolResult.success(called, Json.parse("{\"amount\":12.50}")));
    }
    conversation.add(Message.tool(results));
    // The server checks signatures, and items of reasoning with what followed them.
    assertEquals("It is paid.", ask(call(conversation)).message().text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"no rule", "fault 400", "fault 429", "fault 503", "fault before", "fault bytes"})
  void failuresBeforeAnyOutputAreTheSame(String user) {
    ModelCall call = call(List.of(Message.user(user)));
    ProviderException whole = assertThrows(ProviderException.class, () -> model.generate(call));
    ProviderException streamed =
        assertThrows(ProviderException.class, () -> model.stream(call, _ -> {}));
    assertEquals(meaning(whole), meaning(streamed));
  }

  private static List<Object> meaning(ProviderException failure) {
    return List.of(
        failure.kind(),
        failure.status(),
        failure.code(),
        failure.retryAfter(),
        failure.providerMessage(),
        failure.mayHaveActed());
  }

  @Test
  void whatTheModelThinksIsToldWhereTheProtocolShowsIt() throws Exception {
    ModelCall.Builder call = ModelCall.builder(List.of(Message.user("thinks")));
    if (of == Adapter.RESPONSES) {
      call.providerOptions(Json.parse("{\"reasoning\":{\"summary\":\"auto\"}}"));
    }
    StringBuilder thought = new StringBuilder();
    model.stream(
        call.build(),
        event -> thought.append(event instanceof ModelEvent.Reasoning(String piece) ? piece : ""));
    assertEquals(of == Adapter.CHAT ? "" : "I think.", thought.toString());
  }
}
