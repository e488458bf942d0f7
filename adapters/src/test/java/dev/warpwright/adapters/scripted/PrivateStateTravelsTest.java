package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.model.Message;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Thinking on its way through gateway, log and all protocols. The servers refuse a block that did
 * not come back as it was, a budget in a turn that did not begin with one, and an item of reasoning
 * without the item behind it.
 */
@Tag("R70")
@Tag("Y47")
@Timeout(30)
class PrivateStateTravelsTest {
  private static final String THOUGHT = "s3cr3t \"ä😀\"\n";
  private static final String BLOCK = SignedThinking.of("m", THOUGHT).data().text();

  /** Two rounds of tools, with a thought before the first. */
  private static Script script(String faults) {
    return Script.parse(
        """
        { "rules": [
            { "when": { "turn": 0 }, "answer": { "thinking": "s3cr3t \\"ä😀\\"\\n",
                "text": "Wait.", "tools": [ { "name": "look", "input": { "at": "x" } } ] } },
            { "when": { "turn": 1 }, "answer": {
                "tools": [ { "name": "look", "input": { "at": "y" } } ] } },
            { "when": {}, "answer": { "text": "Done." } } ],
          "faults": [ %s ] }
        """
            .formatted(faults));
  }

  record Place(String at) {}

  private static Tool.Builder<Place> look() {
    return Tool.builder(
        "look",
        "Looks.",
        Place.class,
        MethodHandles.lookup(),
        EffectClass.PURE,
        (place, context) -> "seen " + place.at());
  }

  private final ScriptedServer steady = ScriptedServer.start(script(""));

  /** Answers once and refuses then: a 400 goes to the next target at once. */
  private final ScriptedServer once =
      ScriptedServer.start(script("{ \"from\": 2, \"status\": 400 }"));

  @AfterEach
  void nothingIsLeft() {
    steady.close();
    once.close();
  }

  private static ProviderAdapter claude(ScriptedServer server) {
    return Anthropic.builder().baseUrl(server.uri()).thinkingBudget(1_024).build();
  }

  private static ProviderAdapter openAi(ScriptedServer server) {
    return OpenAi.builder().baseUrl(server.uri()).build();
  }

  private static ProviderAdapter reasoning(ScriptedServer server) {
    return OpenAi.builder().api(Api.RESPONSES).baseUrl(server.uri()).build();
  }

  private static GenerateResult generate(ProviderAdapter one, ProviderAdapter two) {
    try (Gateway gateway = Gateway.builder().adapter("one", one).adapter("two", two).build()) {
      Route route = Route.of(Target.of("one", "m"), Target.of("two", "m"));
      return gateway.generate(
          GenerateRequest.builder(route, "Look.").tools(look().build()).maxSteps(5).build());
    }
  }

  private static List<ProviderState> states(List<Message> messages) {
    return messages.stream()
        .flatMap(message -> message.parts().stream())
        .flatMap(part -> part instanceof ProviderState state ? Stream.of(state) : Stream.empty())
        .toList();
  }

  private static String body(ScriptedServer server, int index) {
    return server.exchanges().get(index).body();
  }

  @Test
  @Tag("FR-A07")
  void aThoughtComesBackOnEveryLaterStep() {
    GenerateResult result = generate(claude(steady), openAi(once));

    assertEquals("Done.", result.text());
    assertEquals(3, steady.count(ExchangeOutcome.ANSWERED));
    for (int step = 1; step <= 2; step++) {
      assertTrue(
          body(steady, step).contains("\"content\":[" + BLOCK + ",{\"type\":\"text\""),
          body(steady, step));
      assertTrue(body(steady, step).contains("\"budget_tokens\":1024"));
    }
    assertEquals(
        List.of(SignedThinking.of("m", THOUGHT).issuedBy("one")), states(result.messages()));
  }

  /** The item as the server sent it: two rounds later it is still the same bytes. */
  private static String item(ScriptedServer server, int index) {
    String body = body(server, index);
    int start = body.indexOf("{\"id\":\"rs_");
    return start < 0 ? "" : body.substring(start, body.indexOf('}', start) + 1);
  }

  @Test
  @Tag("FR-Q01")
  void anItemOfReasoningComesBackInFrontOfWhatFollowedItOnEveryLaterStep() {
    GenerateResult result = generate(reasoning(steady), openAi(once));

    assertEquals("Done.", result.text());
    assertEquals(3, steady.count(ExchangeOutcome.ANSWERED));
    String item = item(steady, 1);
    assertTrue(item.contains("\"encrypted_content\":\""), item);
    assertEquals(item, item(steady, 2));
    assertTrue(
        body(steady, 2)
            .contains(item + ",{\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\""),
        body(steady, 2));
    assertEquals(1, states(result.messages()).size());
  }

  /** From whom to whom a run goes over after its first step. */
  enum Change {
    TO_ANOTHER_PROVIDER,
    TO_MESSAGES,
    TO_CHAT,
    FROM_MESSAGES;

    private ProviderAdapter one(ScriptedServer server) {
      return this == FROM_MESSAGES ? claude(server) : reasoning(server);
    }

    private ProviderAdapter two(ScriptedServer server) {
      return switch (this) {
        case TO_ANOTHER_PROVIDER, FROM_MESSAGES -> reasoning(server);
        case TO_MESSAGES -> claude(server);
        case TO_CHAT -> openAi(server);
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R69")
  void reasoningGoesToNobodyElse(Change change) {
    GenerateResult result = generate(change.one(once), change.two(steady));

    assertEquals("Done.", result.text());
    assertEquals("two", result.providerUsed());
    assertEquals(0, steady.count(ExchangeOutcome.REFUSED));
    assertTrue(body(steady, 0).contains("seen x"), body(steady, 0));
    assertFalse(body(steady, 0).contains("encrypted_content\":"), body(steady, 0));
    assertFalse(body(steady, 0).contains("s3cr3t"), body(steady, 0));
    assertEquals(1, states(result.messages()).size());
  }

  @Test
  @Tag("R69")
  void aFallbackOfAnotherProtocolNeverSeesIt() {
    GenerateResult result = generate(claude(once), openAi(steady));

    assertEquals("Done.", result.text());
    assertEquals("two", result.providerUsed());
    assertTrue(body(steady, 0).contains("seen x"), body(steady, 0));
    assertFalse(body(steady, 0).contains("s3cr3t"), body(steady, 0));
    assertEquals(1, states(result.messages()).size());
  }

  @Test
  @Tag("R69")
  void aFallbackOfTheSameProtocolAndModelIsStillAnotherProvider() {
    GenerateResult result = generate(claude(once), claude(steady));

    assertEquals("Done.", result.text());
    assertFalse(body(steady, 0).contains("s3cr3t"), body(steady, 0));
    assertFalse(body(steady, 0).contains("budget_tokens"), body(steady, 0));
  }

  @Test
  void aTurnThatChatBeganGoesOnWithoutABudget() {
    GenerateResult result = generate(openAi(once), claude(steady));

    assertEquals("Done.", result.text());
    assertEquals("two", result.providerUsed());
    assertFalse(body(steady, 0).contains("budget_tokens"), body(steady, 0));
    assertEquals(0, steady.count(ExchangeOutcome.REFUSED));
    assertEquals(List.of(), states(result.messages()));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRunThatWaitedTakesItFromTheLog(boolean overResponses) {
    Agent agent =
        Agent.builder("looker", Route.of(Target.of("one", "m")))
            .tools(look().requiresApproval(place -> place.at().equals("x")).build())
            .build();
    try (RunStore store = RunStore.inMemory()) {
      AgentResult waiting;
      try (Gateway gateway =
          Gateway.builder()
              .adapter("one", overResponses ? reasoning(steady) : claude(steady))
              .build()) {
        waiting = Agents.on(gateway, store).run(AgentRequest.builder(agent, "Look.").build());
      }
      assertEquals(RunStatus.WAITING_APPROVAL, waiting.status());
      assertFalse(waiting.toString().contains("s3cr3t"));

      try (Gateway gateway =
          Gateway.builder()
              .adapter("one", overResponses ? reasoning(steady) : claude(steady))
              .build()) {
        AgentResult done =
            Agents.on(gateway, store)
                .resume(
                    agent,
                    waiting.run(),
                    ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId()));
        assertEquals(RunStatus.COMPLETED, done.status());
        assertEquals("Wait.Done.", done.text());
      }
      String block = overResponses ? "{\"id\":\"rs_" : BLOCK; // the server knows it again
      assertTrue(body(steady, 1).contains(block), body(steady, 1));
      assertEquals(0, steady.count(ExchangeOutcome.REFUSED));
    }
  }
}
