package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.saying;
import static dev.warpwright.agent.FakeModel.text;
import static dev.warpwright.agent.Family.agent;
import static dev.warpwright.agent.Family.ask;
import static dev.warpwright.agent.Family.children;
import static dev.warpwright.agent.Family.records;
import static dev.warpwright.agent.Family.state;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Order;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.cost.CacheAssumption;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Agents that give work to others: each call is a run of its own. */
@Timeout(60)
final class SubAgentTest {
  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final Family family = new Family();
  private final Program program = family.program(store, each -> each.costAccounting(costs()));

  @AfterEach
  void nothingIsLeft() {
    program.assertNothingIsLeft();
  }

  /** Each answer of an agent costs 0.02 dollars. */
  private static CostAccounting costs() {
    ModelCatalog.Builder catalog = ModelCatalog.builder("catalog-1");
    for (String model : List.of("desk", "research", "digger")) {
      catalog.entry(
          CatalogEntry.builder(Program.TARGET.provider(), model)
              .input(Prices.usd("1"))
              .output(Prices.usd("2"))
              .pricing(Pricing.of("prices-1", "USD"))
              .build());
    }
    return CostAccounting.builder(catalog.build()).cacheAssumption(CacheAssumption.NONE).build();
  }

  private AgentResult run(Agent desk) {
    return program.agents.run(AgentRequest.builder(desk, "Do it.").build());
  }

  private List<ToolResult> lastResults(AgentResult result) {
    return result.state().messages().reversed().stream()
        .map(Message::toolResults)
        .filter(results -> !results.isEmpty())
        .findFirst()
        .orElseThrow();
  }

  @Test
  @Tag("A92")
  void a_call_of_a_sub_agent_is_a_run_of_its_own_with_its_own_log_and_its_parents_scope() {
    family.answers(
        "desk",
        calls(
            new ToolCall(
                "c1",
                "subagent_research",
                Json.of(Map.of("prompt", "What is o1?", "system", "Be brief.")))),
        text("It is a chair."));
    family.answers("research", text("A chair."));
    Agent research = agent("research").instructions("You find out.").version("7").build();
    Agent desk = agent("desk").subAgents(research).build();
    RunScope scope = RunScope.of("acme");

    AgentResult result =
        program.agents.run(
            AgentRequest.builder(desk, "Do it.")
                .scope(scope)
                .metadata(Map.of("customer", "ann"))
                .build());

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals("It is a chair.", result.text());
    assertEquals(
        List.of(
            "RunStarted",
            "StepStarted",
            "RouteBound",
            "ModelResponded",
            "ChildStarted",
            "ChildFinished",
            "StepStarted",
            "ModelResponded",
            "RunCompleted"),
        program.types(result.run()));
    RunKey child = children(store, result.run()).getFirst();
    assertEquals(scope, child.scope());
    RunStarted started = state(store, child).started();
    assertEquals("research", started.agentId());
    assertEquals("7", started.agentVersion());
    assertEquals(Optional.of(result.run().runId()), started.parent());
    assertEquals(Optional.of(result.run().runId()), started.childOf());
    assertEquals(Map.of("customer", "ann"), started.metadata());
    assertEquals(
        List.of(
            Message.system("You find out."),
            Message.system("Be brief."),
            Message.user("What is o1?")),
        started.messages());
    assertEquals(RunStatus.COMPLETED, state(store, child).status());
    assertEquals(Optional.empty(), result.state().started().parent());
  }

  @Test
  @Tag("A92")
  void a_sub_agent_is_a_tool_to_the_model_under_its_id_or_a_given_name() {
    Agent research = agent("research").build();

    Agent desk =
        agent("desk")
            .tools(world.tool("note", EffectClass.IDEMPOTENT).build())
            .subAgents(
                SubAgent.of(research),
                SubAgent.of(research, "ask_an_expert").description("Knows it all."))
            .build();

    assertEquals(
        List.of("note", "subagent_research", "ask_an_expert"),
        desk.tools().specs().stream().map(spec -> spec.name()).toList());
    assertEquals("Knows it all.", desk.tools().specs().getLast().description());
    Json schema = desk.tools().specs().getLast().inputSchema();
    assertTrue(schema.text().contains("\"required\":[\"prompt\"]"), schema.text());
    assertTrue(schema.text().contains("\"system\""), schema.text());
    assertEquals(
        List.of(research, research), desk.subAgents().stream().map(SubAgent::agent).toList());
  }

  @Test
  @Tag("A92")
  void a_name_that_stands_for_two_is_refused() {
    Agent research = agent("research").build();
    Tool taken = world.tool("subagent_research", EffectClass.PURE).build();

    for (Agent.Builder clash :
        List.of(
            agent("desk").tools(taken).subAgents(research),
            agent("desk").subAgents(research).tools(taken),
            agent("desk").subAgents(research, agent("research").build()))) {
      var refused = assertThrows(InvalidRequestException.class, clash::build);
      assertEquals(
          "Two tools have the name \"subagent_research\"; a name stands for one tool.",
          refused.getMessage());
    }
    Agent pointed = agent("a.b").build();
    var refused = assertThrows(InvalidRequestException.class, () -> SubAgent.of(pointed));
    assertTrue(String.valueOf(refused.getMessage()).contains("\"subagent_a.b\""));
    assertEquals("ab", SubAgent.of(pointed, "ab").name());
  }

  @Test
  @Tag("A94")
  @Tag("A74")
  void the_record_of_the_child_is_the_output_of_the_call_and_counts_for_the_parent() {
    family.answers("desk", calls(ask("c1", "research", "What is o1?")), text("Done."));
    family.answers(
        "research",
        saying("Looking. ", call("c1", "look", "o1"), call("c2", "fail", "o1")),
        calls(ask("c3", "digger", "Dig.")),
        text("Found."));
    family.answers("digger", text("Dug."));
    Agent research =
        agent("research")
            .tools(
                world.tool("look", EffectClass.PURE).build(),
                World.failing("fail", EffectClass.PURE))
            .subAgents(agent("digger").build())
            .build();

    AgentResult result = run(agent("desk").subAgents(research).build());

    ChildFinished record = records(program.events(result.run())).getFirst();
    assertEquals("c1", record.callId());
    assertEquals(RunStatus.COMPLETED, record.status());
    assertEquals("Looking. Found.", record.text());
    assertEquals(3, record.steps());
    assertEquals(3, record.toolCalls());
    assertEquals(1, record.toolErrors());
    assertTokens(40, 20, record.usage());
    assertEquals(Optional.of(Prices.usd("0.08")), record.cost().orElseThrow().amount());
    assertEquals(Optional.empty(), record.error());
    assertEquals(
        Json.of(
                Map.of(
                    "status",
                    "COMPLETED",
                    "text",
                    "Looking. Found.",
                    "steps",
                    3,
                    "toolCalls",
                    3,
                    "toolErrors",
                    1,
                    "usage",
                    Map.of("inputTokens", 40, "outputTokens", 20),
                    "cost",
                    "0.08 USD"))
            .canonical(),
        lastResults(result).getFirst().output().canonical());
    assertTokens(20, 10, result.state().usage());
    assertTokens(60, 30, result.usage());
    assertEquals(Optional.of(Prices.usd("0.04")), result.state().cost().orElseThrow().amount());
    assertEquals(Optional.of(Prices.usd("0.12")), result.cost().orElseThrow().amount());
  }

  private static void assertTokens(long input, long output, Usage usage) {
    assertEquals(input, usage.input().tokens());
    assertEquals(output, usage.output().tokens());
  }

  @Test
  @Tag("A97")
  @Tag("A142")
  void a_child_that_fails_is_an_error_without_the_words_of_its_provider() {
    family.answers("desk", calls(ask("c1", "research", "What is o1?")), text("I do not know."));
    family.answers(
        "research",
        call -> {
          throw ProviderException.builder(
                  ProviderException.Kind.HTTP_STATUS, "quota of customer 4711 is used up")
              .status(400)
              .build();
        });
    Agent desk = agent("desk").subAgents(agent("research").build()).build();

    AgentResult result = run(desk);

    assertEquals(RunStatus.COMPLETED, result.status());
    ToolResult error = lastResults(result).getFirst();
    assertTrue(error.error());
    assertEquals(1, result.state().toolErrors());
    assertTrue(error.output().text().contains("TARGETS_EXHAUSTED"), error.output().text());
    assertFalse(program.log(result.run()).toString().contains("4711"));
    assertFalse(result.state().messages().stream().anyMatch(m -> m.toString().contains("4711")));
    assertFalse(
        program.events(result.run()).stream()
            .anyMatch(
                event ->
                    new String(RunEventCodec.encode(event), StandardCharsets.UTF_8)
                        .contains("4711")));
    assertEquals(
        Optional.of(FailureKind.TARGETS_EXHAUSTED),
        records(program.events(result.run())).getFirst().error());
  }

  @Test
  @Tag("A97")
  @Tag("A47")
  void a_child_that_fails_stops_an_agent_that_stops_on_errors() {
    family.answers("desk", calls(ask("c1", "research", "What?"), ask("c2", "research", "And?")));
    family.answers("research", FakeModel.status(503));

    AgentResult result =
        run(
            agent("desk")
                .subAgents(agent("research").build())
                .toolExecution(ToolExecution.DEFAULT.stoppingOnError())
                .build());

    assertEquals(FailureKind.TOOL_FAILED, result.state().failure().orElseThrow().kind());
    assertEquals(
        "Tool \"subagent_research\" failed and the agent stops on errors.",
        result.state().failure().orElseThrow().message());
    assertEquals(1, children(store, result.run()).size());
  }

  @Test
  @Tag("A97")
  void what_a_child_may_not_be_asked_is_an_error_too_and_there_is_no_child() {
    family.answers("desk", calls(ask("c1", "research", "x".repeat(2_000))), text("Too long."));

    AgentResult result =
        run(agent("desk").subAgents(agent("research").maxStateBytes(1024).build()).build());

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(
        Optional.of(FailureKind.LIMIT), records(program.events(result.run())).getFirst().error());
    assertTrue(lastResults(result).getFirst().error());
    assertEquals(1, program.runs().size());
  }

  @Test
  @Tag("A44")
  void tools_overlap_and_a_sub_agent_is_a_barrier_between_them() throws Exception {
    List<String> trail = new CopyOnWriteArrayList<>();
    CyclicBarrier together = new CyclicBarrier(2);
    Tool look =
        Tool.of(
            "look",
            "Looks.",
            Order.class,
            EffectClass.IDEMPOTENT,
            (input, context) -> {
              trail.add("begin");
              var _ = together.await(30, TimeUnit.SECONDS);
              trail.add("end");
              return input.order();
            });
    family.answers(
        "desk",
        calls(
            call("c1", "look", "o1"),
            call("c2", "look", "o2"),
            ask("c3", "research", "What is o3?"),
            ask("c4", "research", "What is o4?"),
            call("c5", "look", "o5"),
            call("c6", "look", "o6")),
        text("Done."));
    family.answers(
        "research",
        call -> {
          trail.add("research");
          return text("It.").give(call);
        });

    AgentResult result =
        run(agent("desk").tools(look).subAgents(agent("research").build()).build());

    assertEquals(
        List.of(
            "begin", "begin", "end", "end", "research", "research", "begin", "begin", "end", "end"),
        trail);
    assertEquals(
        List.of("c1", "c2", "c3", "c4", "c5", "c6"),
        lastResults(result).stream().map(ToolResult::callId).toList());
    assertEquals(
        List.of("\"o1\"", "\"o2\"", "\"o5\"", "\"o6\""),
        Stream.of(0, 1, 4, 5).map(i -> lastResults(result).get(i).output().text()).toList());
    assertEquals(6, result.toolCalls());
  }

  @Test
  @Tag("A98")
  void the_deadline_of_the_parent_reaches_the_child_and_both_go_on_afterwards() {
    boolean[] slow = {true};
    family.answers("desk", calls(ask("c1", "research", "What is o1?")), text("It is a chair."));
    family.answers(
        "research",
        call -> {
          if (slow[0]) {
            program.time.advance(Duration.ofMinutes(2));
            new CountDownLatch(1).await();
          }
          return text("A chair.").give(call);
        });
    Agent desk = agent("desk").subAgents(agent("research").build()).build();

    AgentResult late =
        program.agents.run(
            AgentRequest.builder(desk, "Do it.")
                .invocation(Invocation.builder().timeout(Duration.ofMinutes(1)).build())
                .build());

    assertEquals(FailureKind.DEADLINE, late.state().failure().orElseThrow().kind());
    RunKey child = children(store, late.run()).getFirst();
    assertEquals(FailureKind.DEADLINE, state(store, child).failure().orElseThrow().kind());
    assertEquals(List.of(), records(program.events(late.run())), "it is under way");
    assertTrue(late.cost().orElseThrow().unknownReasons().contains("child-under-way"));

    slow[0] = false;
    AgentResult result = program.agents.resume(desk, late.run());

    assertEquals("It is a chair.", result.text());
    assertEquals(List.of(child), children(store, result.run()));
    assertEquals("A chair.", state(store, child).text());
    assertEquals(2, program.runs().size());
  }

  @Test
  @Tag("A98")
  void a_child_is_paid_by_the_account_of_its_parents_invocation() {
    BudgetStore budget = BudgetStore.local(Prices.usd("1"));
    Program paying =
        family.program(
            RunStore.inMemory(),
            each ->
                each.costAccounting(costs())
                    .budget(budget, ReservationRule.fixed(Prices.usd("0.10"))));
    family.answers("desk", calls(ask("c1", "research", "What?")), text("Done."));
    family.answers("research", text("It."));
    Agent desk = agent("desk").subAgents(agent("research").build()).build();

    AgentResult result =
        paying.agents.run(
            AgentRequest.builder(desk, "Do it.")
                .invocation(Invocation.builder().budgetScope("acme").build())
                .build());

    assertEquals("Done.", result.text());
    assertEquals(Prices.usd("0.06"), budget.snapshot("acme").spent());
  }

  @Test
  @Tag("A93")
  @Tag("C44")
  void a_call_is_answered_by_one_child_however_often_it_is_come_back_to() {
    family.answers(
        "desk",
        calls(ask("c1", "research", "What?")),
        calls(ask("c1", "research", "What?")),
        text("Done."));
    family.answers("research", text("It."));
    Agent desk = agent("desk").subAgents(agent("research").build()).build();

    AgentResult result = run(desk);

    List<RunKey> children = children(store, result.run());
    assertEquals(2, children.stream().distinct().count(), "each step has its own");
    for (RunKey child : children) {
      String key = state(store, child).started().idempotencyKey().orElseThrow();
      assertTrue(key.matches("subagent:[0-9a-f]{64}"), key);
      assertEquals(Optional.of(child), program.agents.runs().find(child.scope(), key));
    }
  }

  @Test
  @Tag("A92")
  void a_gateway_that_is_closed_meanwhile_lets_the_child_of_a_run_run() throws Exception {
    Family others = new Family();
    Program[] closing = new Program[1];
    others.answers(
        "desk",
        call -> {
          closing[0].gateway.close(Duration.ZERO);
          return calls(ask("c1", "research", "What?")).give(call);
        },
        text("Done."));
    others.answers("research", text("It."));
    closing[0] = others.program(RunStore.inMemory());
    Agent desk = agent("desk").subAgents(agent("research").build()).build();

    AgentResult result = closing[0].agents.run(AgentRequest.builder(desk, "Do it.").build());

    assertEquals("Done.", result.text());
    assertEquals(RunStatus.COMPLETED, records(closing[0].events(result.run())).getFirst().status());
    assertThrows(
        InvalidRequestException.class,
        () -> closing[0].agents.run(AgentRequest.builder(desk, "Do it.").build()));
  }

  @Test
  @Tag("A94")
  @Tag("A7")
  void a_childs_text_that_does_not_fit_ends_the_run_and_its_end_is_known() {
    family.answers("desk", calls(ask("c1", "research", "Tell me.")), text("Never."));
    family.answers("research", text("x".repeat(3_000)));

    AgentResult result =
        run(agent("desk").maxStateBytes(2_048).subAgents(agent("research").build()).build());

    assertEquals(FailureKind.LIMIT, result.state().failure().orElseThrow().kind());
    ChildFinished record = records(program.events(result.run())).getFirst();
    assertEquals(RunStatus.COMPLETED, record.status());
    assertEquals("The text is too large for the state of this run.", record.text());
  }

  @Test
  @Tag("A138")
  void a_stream_shows_the_call_of_a_sub_agent_as_that_of_a_tool() {
    family.answers("desk", calls(ask("c1", "research", "What?")), text("Done."));
    family.answers("research", text("It."));
    Agent desk = agent("desk").subAgents(agent("research").build()).build();

    List<String> shown = new ArrayList<>();
    try (AgentStream stream = program.agents.stream(AgentRequest.builder(desk, "Do it.").build())) {
      stream.forEach(
          event -> {
            switch (event) {
              case AgentEvent.ToolStart start -> shown.add("start " + start.call().name());
              case AgentEvent.ToolFinish end ->
                  shown.add("finish " + end.tool() + " " + end.executed() + " " + end.error());
              case AgentEvent.StepFinish end -> shown.add("step " + end.step());
              default -> {}
            }
          });
    }

    assertEquals(
        List.of(
            "start subagent_research", "finish subagent_research true false", "step 1", "step 2"),
        shown);
  }
}
