package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.saying;
import static dev.warpwright.agent.FakeModel.text;
import static dev.warpwright.agent.Prices.usd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunTotals;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a run may use over all its invocations. Each answer of the fake model takes 10 input and 5
 * output tokens and, where costs are accounted, 0.02 dollars.
 */
@Timeout(60)
final class RunBudgetTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final List<OptionalInt> maxTokens = new CopyOnWriteArrayList<>();

  private Program program(FakeModel.Answer... answers) {
    return Program.on(store, FakeModel.of(noting(answers)));
  }

  private Program accounted(FakeModel.Answer... answers) {
    return Program.having(
        store,
        FakeModel.of(noting(answers)),
        gateway -> gateway.costAccounting(Prices.accounting()));
  }

  /** The same answers, which note how long they may be. */
  private List<FakeModel.Answer> noting(FakeModel.Answer... answers) {
    List<FakeModel.Answer> noting = new ArrayList<>();
    for (FakeModel.Answer answer : answers) {
      noting.add(
          call -> {
            maxTokens.add(call.maxTokens());
            return answer.give(call);
          });
    }
    return noting;
  }

  private Agent.Builder agent() {
    return Agent.builder("agent", Program.ROUTE)
        .tools(
            world.tool("refund", EffectClass.ONCE).build(),
            world.tool("look", EffectClass.PURE).build());
  }

  private Agent limited(UnaryOperator<RunBudget.Builder> limits) {
    return agent().policy(policy(limits)).build();
  }

  private static RunPolicy policy(UnaryOperator<RunBudget.Builder> limits) {
    return RunPolicy.NONE.withBudget(limits.apply(RunBudget.builder()).build());
  }

  private static AgentResult run(Program program, Agent agent) {
    return program.agents.run(AgentRequest.builder(agent, "Do it.").runId("run-1").build());
  }

  private static AgentResult resume(
      Program program, Agent agent, UnaryOperator<RunBudget.Builder> limits) {
    Invocation raised = Invocation.builder().policy(policy(limits)).build();
    return program.agents.resume(agent, RUN, List.of(), raised);
  }

  private static RunFailed refused(AgentResult result, String setting) {
    assertEquals(RunStatus.FAILED, result.status());
    RunFailed failure = result.state().failure().orElseThrow();
    assertEquals(FailureKind.LIMIT, failure.kind());
    assertTrue(failure.resumable());
    assertTrue(failure.message().contains(setting), failure.message());
    return failure;
  }

  @Test
  @Tag("A74")
  @Tag("A76")
  @Tag("A12")
  @Tag("FR-E07")
  void calls_that_do_not_fit_are_not_begun_and_run_when_the_limit_is_raised() {
    Program program =
        program(calls(call("c1", "refund", "o1"), call("c2", "refund", "o2")), text("Done."));
    Agent agent = limited(budget -> budget.maxToolCalls(1));

    AgentResult result = run(program, agent);

    RunFailed failure = refused(result, "maxToolCalls");
    assertTrue(failure.message().contains("2 more tool calls"), failure.message());
    assertEquals(List.of(), world.effects(), "the batch is one");
    assertEquals(
        List.of("RunStarted", "StepStarted", "RouteBound", "ModelResponded", "RunFailed"),
        program.types(RUN),
        "the paid answer is kept");
    refused(program.agents.resume(agent, RUN), "maxToolCalls");

    AgentResult done = resume(program, agent, budget -> budget.maxToolCalls(2));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(2, world.effects().size());
    assertEquals(2, maxTokens.size(), "no answer was asked for twice");
  }

  @Test
  @Tag("A74")
  void calls_are_counted_over_resumes_and_those_that_are_refused_are_not() {
    Program program =
        program(
            calls(call("c1", "look", "o1"), call("c2", "nothing", "o1")),
            calls(call("c3", "refund", "o1")),
            text("Done."));
    Agent agent = limited(budget -> budget.maxToolCalls(1));

    refused(run(program, agent), "maxToolCalls");

    assertEquals(List.of("look"), world.effects().stream().map(World.Effect::tool).toList());
    refused(program.agents.resume(agent, RUN), "maxToolCalls");
    assertEquals(1, world.effects().size());
    assertEquals(
        RunStatus.COMPLETED, resume(program, agent, budget -> budget.maxToolCalls(2)).status());
  }

  @ParameterizedTest
  @ValueSource(strings = {"maxInputTokens", "maxOutputTokens", "maxTotalTokens"})
  @Tag("A76")
  void without_an_allowance_no_model_is_asked(String setting) {
    Program program = program(text("Done."));
    Agent agent =
        limited(
            budget ->
                switch (setting) {
                  case "maxInputTokens" -> budget.maxInputTokens(0);
                  case "maxOutputTokens" -> budget.maxOutputTokens(0);
                  default -> budget.maxTotalTokens(0);
                });

    refused(run(program, agent), setting);

    assertEquals(List.of("RunStarted", "RunFailed"), program.types(RUN));
    assertEquals(List.of(), maxTokens);
  }

  @Test
  @Tag("A76")
  void an_input_that_is_estimated_to_be_too_long_is_not_sent() {
    Program program = program(text("Done."));

    refused(run(program, limited(budget -> budget.maxInputTokens(1))), "maxInputTokens");
    assertEquals(List.of(), maxTokens);

    Agent another = limited(budget -> budget.maxTotalTokens(1));
    refused(program.agents.run(AgentRequest.builder(another, "Do it.").build()), "maxTotalTokens");
    assertEquals(List.of(), maxTokens);
  }

  @Test
  @Tag("A76")
  @Tag("FR-E07")
  void an_allowance_that_is_just_used_up_stops_models_and_not_tools() {
    Program program = program(saying("Hm. ", call("c1", "refund", "o1")), text("Done."));
    Agent agent = limited(budget -> budget.maxOutputTokens(5));

    AgentResult result = run(program, agent);

    refused(result, "maxOutputTokens");
    assertEquals(1, world.effects().size());
    assertEquals(1, maxTokens.size());
    assertEquals("ToolFinished", program.types(RUN).get(program.types(RUN).size() - 2));
    assertThrows(RunFailedException.class, result::orThrow, "what was said before is no answer");
  }

  @Test
  @Tag("A76")
  void an_answer_that_passes_a_limit_stops_its_own_tools() {
    Program program = program(calls(call("c1", "refund", "o1")), text("Done."));

    AgentResult result = run(program, limited(budget -> budget.maxOutputTokens(4)));

    refused(result, "maxOutputTokens");
    assertEquals(List.of(), world.effects());
    assertEquals(5, result.state().usage().output().tokens(), "it was paid for");
  }

  @Test
  @Tag("A77")
  void what_is_left_limits_the_length_of_the_next_answer() {
    Program program = program(calls(call("c1", "look", "o1")), text("Done."));

    AgentResult result = run(program, limited(budget -> budget.maxOutputTokens(12)));

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(List.of(OptionalInt.of(12), OptionalInt.of(7)), maxTokens);
  }

  @Test
  @Tag("A77")
  void the_total_limits_it_too_less_the_estimated_input_and_the_agents_limit_stays_in_force() {
    Program program = program(calls(call("c1", "look", "o1")), text("Done."));
    Agent agent = agent().maxTokens(900).policy(policy(b -> b.maxTotalTokens(1_000))).build();

    run(program, agent);

    assertEquals(OptionalInt.of(900), maxTokens.getFirst());
    int second = maxTokens.getLast().getAsInt();
    assertTrue(second < 900, "985 tokens are left, and the input takes some: " + second);
  }

  @Test
  @Tag("A74")
  @Tag("A76")
  void money_that_is_known_to_be_spent_counts_over_resumes() {
    Program program =
        accounted(calls(call("c1", "look", "o1")), calls(call("c2", "look", "o2")), text("Done."));
    Agent agent = limited(budget -> budget.maxCost(usd("0.03")));

    AgentResult result = run(program, agent);

    refused(result, "maxCost");
    assertEquals(usd("0.04"), result.cost().orElseThrow().amount().orElseThrow());
    assertEquals(2, maxTokens.size());
    refused(program.agents.resume(agent, RUN), "maxCost");
    assertEquals(2, maxTokens.size());
    assertEquals(
        RunStatus.COMPLETED,
        resume(program, agent, budget -> budget.maxCost(usd("0.06"))).status());
  }

  @Test
  @Tag("A76")
  void a_call_that_may_cost_more_than_is_left_is_not_made() {
    Program program = accounted(text("Done."));
    Agent agent = agent().maxTokens(100).policy(policy(b -> b.maxCost(usd("0.2")))).build();

    RunFailed failure = refused(run(program, agent), "maxCost");

    assertTrue(failure.message().contains("would have cost up to"), failure.message());
    assertEquals(List.of(), maxTokens);
  }

  @Test
  @Tag("A74")
  void a_limit_in_another_currency_or_without_accounting_is_refused() {
    Program program = accounted(calls(call("c1", "look", "o1")), text("Done."));
    RunFailed failure =
        refused(run(program, limited(b -> b.maxCost(Money.of("9", "EUR")))), "maxCost");
    assertTrue(failure.message().contains("USD"), failure.message());

    Program unaccounted = Program.with(text("Done."));
    Agent agent = limited(budget -> budget.maxCost(usd("1")));
    InvalidRequestException refusal =
        assertThrows(InvalidRequestException.class, () -> run(unaccounted, agent));
    assertTrue(refusal.getMessage().contains("costAccounting"), refusal.getMessage());
    assertEquals(List.of(), unaccounted.runs());
    try (AgentStream stream = unaccounted.agents.stream(AgentRequest.builder(agent, "x").build())) {
      assertThrows(InvalidRequestException.class, stream::collect);
    }
    assertEquals(List.of(), unaccounted.runs());
  }

  @Test
  @Tag("A78")
  void a_runs_budget_and_the_account_of_a_gateway_both_apply() {
    BudgetStore account = BudgetStore.local(usd("1"));
    Program program =
        Program.having(
            store,
            FakeModel.of(
                calls(call("c1", "look", "o1")), calls(call("c2", "look", "o2")), text("Done.")),
            gateway ->
                gateway
                    .costAccounting(Prices.accounting())
                    .budget(account, ReservationRule.fixed(usd("0.97"))));
    Agent agent = limited(budget -> budget.maxCost(usd("0.01")));
    Invocation paid = Invocation.builder().budgetScope("acme").build();

    AgentResult broke =
        program.agents.run(
            AgentRequest.builder(agent, "Do it.").runId("run-1").invocation(paid).build());
    refused(broke, "maxCost");
    assertEquals(usd("0.02"), account.snapshot("acme").spent());

    Invocation raised =
        Invocation.builder().budgetScope("acme").policy(policy(b -> b.maxCost(usd("1")))).build();
    AgentResult denied = program.agents.resume(agent, RUN, List.of(), raised);
    assertEquals(FailureKind.BUDGET_DENIED, denied.state().failure().orElseThrow().kind());
  }

  @Test
  @Tag("A75")
  void a_budget_of_the_invocation_replaces_that_of_the_agent_as_a_whole() {
    Program program = program(calls(call("c1", "look", "o1")), text("Done."));
    Agent agent = limited(budget -> budget.maxToolCalls(0).maxOutputTokens(5));
    Invocation other =
        Invocation.builder().policy(policy(budget -> budget.maxOutputTokens(100))).build();

    AgentResult result =
        program.agents.run(
            AgentRequest.builder(agent, "Do it.").runId("run-1").invocation(other).build());

    assertEquals(RunStatus.COMPLETED, result.status(), "maxToolCalls is gone");
    assertEquals(List.of(OptionalInt.of(100), OptionalInt.of(95)), maxTokens);
  }

  @Test
  @Tag("A105")
  void the_policy_of_the_agent_is_part_of_what_a_key_was_claimed_with() {
    Program program = program(text("Done."));
    AgentRequest request =
        AgentRequest.builder(limited(b -> b.maxToolCalls(3)), "Do it.")
            .idempotencyKey("key")
            .build();
    program.agents.run(request);

    var conflict =
        assertThrows(
            ConflictException.class,
            () ->
                program.agents.run(
                    AgentRequest.builder(limited(b -> b.maxToolCalls(4)), "Do it.")
                        .idempotencyKey("key")
                        .build()));

    assertTrue(String.valueOf(conflict.getMessage()).contains("policy"), conflict.getMessage());
  }

  @Test
  @Tag("A74")
  void a_limit_is_never_negative() {
    for (UnaryOperator<RunBudget.Builder> wrong :
        List.<UnaryOperator<RunBudget.Builder>>of(
            b -> b.maxToolCalls(-1),
            b -> b.maxInputTokens(-1),
            b -> b.maxOutputTokens(-1),
            b -> b.maxTotalTokens(-1),
            b -> b.maxCost(usd("-0.01")))) {
      InvalidRequestException refusal =
          assertThrows(
              InvalidRequestException.class, () -> wrong.apply(RunBudget.builder()).build());
      assertTrue(refusal.getMessage().contains("must be 0 or more"), refusal.getMessage());
    }
  }

  @Test
  void totals_keep_currencies_apart_and_do_not_overflow() {
    RunTotals one = new RunTotals(1, Usage.reported(1, 2), List.of(usd("1"), Money.of("2", "EUR")));
    RunTotals sum = one.plus(one).plus(new RunTotals(0, one.usage(), List.of(most())));

    assertEquals(2, sum.toolCalls());
    assertEquals(3, sum.usage().input().tokens());
    assertEquals(List.of(most(), Money.of("4", "EUR")), sum.knownCosts());
  }

  private static Money most() {
    return new Money(Long.MAX_VALUE, "USD");
  }

  @Test
  void a_tool_that_is_run_again_after_a_crash_counts_once() {
    MortalStore mortal = MortalStore.dyingAt(4, false, store);
    Tool note = world.tool("note", EffectClass.IDEMPOTENT).build();
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(note)
            .policy(policy(budget -> budget.maxToolCalls(1)))
            .build();
    FakeModel model = FakeModel.of(calls(call("c1", "note", "o1")), text("Done."));
    var _ = assertThrows(MortalStore.Crash.class, () -> run(Program.on(mortal, model), agent));
    mortal.bury();

    AgentResult done = Program.on(store, model).agents.resume(agent, RUN);

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(2, world.effects().size());
    assertEquals(1, done.state().used(true).toolCalls());
  }
}
