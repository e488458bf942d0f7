package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.ollama.Ollama;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One script, and every way to hear it: inside the program, and over each of the protocols. */
@Tag("R379")
@Timeout(30)
class ProtocolParityTest {
  private static final Script SCRIPT =
      Script.parse(
          """
          { "rules": [
              { "when": { "user": "^cut" }, "answer": { "text": "Once", "finish": "length" } },
              { "when": { "user": "^no" }, "answer": { "refusal": "No." } },
              { "when": { "turn": 0, "user": "(?<order>A\\\\d)" }, "answer": {
                  "thinking": "Hm, ${order}.", "text": "Wait.",
                  "tools": [ { "name": "lookup", "input": { "id": "${order}", "n": 1.10 } },
                             { "name": "lookup", "rawInput": "{" } ],
                  "usage": { "input": 10, "output": 4, "cachedInput": 3, "cacheWrite": 1,
                             "reasoning": 2 } } },
              { "when": { "result": { "error": true, "output": "gone" } },
                "answer": { "text": "It failed." } },
              { "when": { "result": { "error": false, "output": "amount\\":12\\\\.50" } },
                "answer": { "text": "It is paid.", "tools": [ { "name": "lookup" } ] } },
              { "when": { "user": "^fault|^Hi", "system": "kind" }, "answer": { "text": "Dear." } } ],
            "faults": [
              { "when": { "user": "fault 429" }, "status": 429, "headers": { "Retry-After": "0.2" } },
              { "when": { "user": "fault own" }, "status": 400, "body": "plain" },
              { "when": { "user": "fault 401" }, "status": 401 },
              { "when": { "user": "fault 503" }, "status": 503 },
              { "when": { "user": "fault before" }, "reset": "BEFORE_HEADERS" },
              { "when": { "user": "fault body" }, "reset": "IN_BODY" },
              { "when": { "user": "fault cut" }, "cutBodyAfter": 20 },
              { "when": { "user": "fault bytes" }, "garbage": "BYTES" },
              { "when": { "user": "fault json" }, "garbage": "BODY" },
              { "when": { "user": "fault slow" }, "slowHeaders": "PT0.01S" } ] }
          """);

  private final ScriptedServer server = ScriptedServer.start(SCRIPT);
  private final ProviderAdapter chat = OpenAi.builder().baseUrl(server.uri()).build();
  private final ProviderAdapter messages =
      Anthropic.builder().baseUrl(server.uri()).thinkingBudget(1_024).build();
  private final ProviderAdapter responses =
      OpenAi.builder().api(Api.RESPONSES).baseUrl(server.uri()).build();
  private final ProviderAdapter ollama = Ollama.builder().baseUrl(server.uri()).build();
  private final ProviderAdapter inside = ScriptedModel.of(SCRIPT);

  @AfterEach
  void nothingIsLeft() {
    chat.close();
    responses.close();
    messages.close();
    ollama.close();
    server.close();
    assertEquals(0, server.openConnections());
  }

  private static ModelCall call(List<Message> conversation) {
    return ModelCall.builder(conversation)
        .tools(List.of(new ToolSpec("lookup", "Looks up.", Json.parse("{\"type\":\"object\"}"))))
        .build();
  }

  /** What all must agree on; reasons have other words, and totals another provenance. */
  private static List<Object> meaning(ModelResponse response) {
    List<Part> words =
        response.message().parts().stream()
            .filter(part -> !(part instanceof ProviderState))
            .toList();
    return List.of(
        words,
        response.finishReason().kind(),
        response.usage().input().tokens(),
        response.usage().cachedInput(),
        response.usage().cacheWrite(),
        response.usage().output(),
        response.usage().reasoning(),
        response.usage().total().tokens());
  }

  private ModelResponse ask(List<Message> conversation) throws InterruptedException {
    ModelCall call = call(conversation);
    ModelResponse said = messages.model("m-1").generate(call);
    ModelResponse insideSaid = inside.model("m-1").generate(call);
    assertEquals(meaning(insideSaid), meaning(said));
    assertEquals(insideSaid.message(), said.message());
    assertEquals(meaning(insideSaid), meaning(chat.model("m-1").generate(call)));
    assertEquals(meaning(insideSaid), meaning(responses.model("m-1").generate(call)));
    requireSameWords(insideSaid, ollama.model("m-1").generate(call));
    return said;
  }

  /** Ollama's protocol has no words for refusals and parts of counters. */
  private static void requireSameWords(ModelResponse expected, ModelResponse said) {
    assertEquals(meaning(expected).getFirst(), meaning(said).getFirst());
    assertEquals(expected.usage().input(), said.usage().input());
    assertEquals(expected.usage().output(), said.usage().output());
    assertEquals(expected.usage().total().tokens(), said.usage().total().tokens());
    if (expected.finishReason().kind() != FinishReason.Kind.REFUSAL) {
      assertEquals(expected.finishReason().kind(), said.finishReason().kind());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"cut", "no", "A7", "Hi", "fault slow"})
  void answersAreTheSame(String user) throws Exception {
    ask(List.of(Message.system("Be kind."), Message.user(user)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("FR-A07")
  void aToolRoundWithThinkingIsTheSame(boolean error) throws Exception {
    List<Message> conversation = new ArrayList<>(List.of(Message.user("A7")));
    Message asked = ask(conversation).message();
    assertEquals(ProviderState.class, asked.parts().getFirst().getClass());
    conversation.add(asked);
    List<ToolResult> results = new ArrayList<>();
    for (ToolCall call : asked.toolCalls()) {
      results.add(
          error
              ? ToolResult.failure(call, "gone")
              : ToolResult.success(call, Json.parse("{\"amount\":12.50}")));
    }
    conversation.add(Message.tool(results.reversed()));
    ModelResponse said =
        messages.model("m-1").generate(call(conversation)); // the server checks the signature
    assertEquals(error ? "It failed." : "It is paid.", said.message().text());
    assertEquals(
        meaning(chat.model("m-1").generate(call(conversation))).get(1), meaning(said).get(1));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("FR-Q01")
  void aToolRoundWithReasoningIsTheSame(boolean error) throws Exception {
    LanguageModel model = responses.model("m-1");
    List<Message> conversation = new ArrayList<>(List.of(Message.user("A7")));
    Message asked = model.generate(call(conversation)).message();
    assertEquals(ProviderState.class, asked.parts().getFirst().getClass());
    conversation.add(asked);
    List<ToolResult> results = new ArrayList<>();
    for (ToolCall call : asked.toolCalls()) {
      results.add(
          error
              ? ToolResult.failure(call, "gone")
              : ToolResult.success(call, Json.parse("{\"amount\":12.50}")));
    }
    conversation.add(Message.tool(results.reversed()));
    ModelResponse said = model.generate(call(conversation)); // the server checks item and follower
    assertEquals(meaning(chat.model("m-1").generate(call(conversation))), meaning(said));
    assertEquals(error ? "It failed." : "It is paid.", said.message().text());
    assertTrue(server.exchanges().get(1).body().contains("\"encrypted_content\""));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("Y47")
  void aToolRoundWithPlainThinkingIsTheSame(boolean error) throws Exception {
    LanguageModel model = ollama.model("m-1");
    List<Message> conversation = new ArrayList<>(List.of(Message.user("A7")));
    Message asked = model.generate(call(conversation)).message();
    assertEquals(ProviderState.class, asked.parts().getFirst().getClass());
    conversation.add(asked);
    List<ToolResult> results = new ArrayList<>();
    for (ToolCall call : asked.toolCalls()) {
      results.add(
          error
              ? ToolResult.failure(call, "gone")
              : ToolResult.success(call, Json.parse("{\"amount\":12.50}")));
    }
    conversation.add(Message.tool(results.reversed()));
    ModelResponse said = model.generate(call(conversation));
    requireSameWords(chat.model("m-1").generate(call(conversation)), said);
    assertEquals(error ? "It failed." : "It is paid.", said.message().text());
    assertTrue(server.exchanges().get(1).body().contains("\"thinking\":\"Hm, A7.\""));
  }

  @Test
  @Tag("Y42")
  @Tag("FR-T23")
  void callsOfAnotherProviderAreUnderstoodByAll() throws Exception {
    ToolCall foreign =
        new ToolCall("functions.lookup:0 " + "x".repeat(94), "lookup", Json.EMPTY_OBJECT);
    ToolCall own = new ToolCall("call_1", "lookup", Json.EMPTY_OBJECT);
    List<Message> conversation =
        List.of(
            Message.user("B"),
            new Message(Role.ASSISTANT, List.of(foreign, own)),
            Message.tool(
                List.of(ToolResult.success(own, Json.of(1)), ToolResult.failure(foreign, "gone"))));
    for (ProviderAdapter adapter : List.of(chat, responses, messages, ollama)) {
      // The latest result in the order of the calls is that of the second call, a success.
      ProviderException none =
          assertThrows(
              ProviderException.class, () -> adapter.model("m-1").generate(call(conversation)));
      assertEquals("no_rule", none.code().orElseThrow());
    }
    List<Message> failed =
        List.of(
            Message.user("B"),
            new Message(Role.ASSISTANT, List.of(own, foreign)),
            Message.tool(
                List.of(ToolResult.failure(foreign, "gone"), ToolResult.success(own, Json.of(1)))));
    for (ProviderAdapter adapter : List.of(chat, responses, messages, ollama)) {
      assertEquals("It failed.", adapter.model("m-1").generate(call(failed)).message().text());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "no rule for this",
        "fault 429",
        "fault own",
        "fault 401",
        "fault 503",
        "fault before",
        "fault body",
        "fault cut",
        "fault bytes",
        "fault json"
      })
  void failuresAreTheSame(String user) {
    String asked = user.startsWith("no rule") ? "?" : user;
    List<Object> expected = failure(inside, asked);
    assertEquals(expected, failure(messages, asked));
    assertEquals(expected, failure(chat, asked));
    assertEquals(expected, failure(responses, asked));
    assertEquals(expected, failure(ollama, asked));
  }

  /** Without the code: each protocol has its own words for a status. */
  private static List<Object> failure(ProviderAdapter adapter, String user) {
    LanguageModel model = adapter.model("m-1");
    ProviderException failure =
        assertThrows(
            ProviderException.class,
            () -> model.generate(call(List.of(Message.system("Be kind."), Message.user(user)))));
    return List.of(
        failure.kind(),
        failure.status(),
        failure.retryAfter(),
        failure.requestId().isPresent(),
        failure.providerMessage());
  }
}
