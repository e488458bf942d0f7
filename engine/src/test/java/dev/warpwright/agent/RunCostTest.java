package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static dev.warpwright.agent.Prices.usd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.CostValuation.Status;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.ToolExecution;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a run costs over all its invocations; each answer of the fake model costs 0.02 dollars. */
@Timeout(60)
final class RunCostTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();

  private Program accounted(RunStore store, FakeModel.Answer... answers) {
    return Program.having(
        store, FakeModel.of(answers), gateway -> gateway.costAccounting(Prices.accounting()));
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build();
  }

  /** Estimated: the fake model reports nothing of caches, which is taken for none. */
  private static CostTotal priced(String amount) {
    return new CostTotal(Status.ESTIMATED, Optional.of(usd(amount)), List.of());
  }

  private static CostTotal unknown(String... reasons) {
    return new CostTotal(Status.UNKNOWN, Optional.empty(), List.of(reasons));
  }

  @Test
  @Tag("A9")
  void the_calls_of_all_steps_are_added_up() {
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(world.tool("refund", EffectClass.ONCE).build())
            .build();
    Program program = accounted(store, calls(call("c1", "refund", "o1")), text("Done."));

    AgentResult result = program.agents.run(request(agent));

    assertEquals(Optional.of(priced("0.04")), result.cost());
    assertEquals(Optional.of(priced("0.04")), RunState.of(result.log()).cost());
    assertEquals(Optional.of(priced("0.04")), program.agents.run(request(agent)).cost());
  }

  @Test
  @Tag("A9")
  @Tag("A130")
  void an_answer_is_not_counted_again_when_its_step_fails_afterwards() {
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(World.failing("look", EffectClass.PURE))
            .toolExecution(ToolExecution.DEFAULT.stoppingOnError())
            .build();
    Program program = accounted(store, calls(call("c1", "look", "o1")), text("Done."));

    AgentResult failed = program.agents.run(request(agent));
    assertEquals(RunStatus.FAILED, failed.status());
    assertEquals(Optional.of(priced("0.02")), failed.cost());

    AgentResult done = program.agents.resume(agent, RUN);
    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(Optional.of(priced("0.04")), done.cost());
  }

  @Test
  @Tag("A9")
  @Tag("A130")
  void a_call_that_failed_may_have_cost_something_also_after_a_resume() {
    Agent agent = Agent.builder("agent", Program.ROUTE).build();
    AtomicBoolean up = new AtomicBoolean();
    Program program =
        accounted(store, call -> (up.getAndSet(true) ? text("Done.") : status(503)).give(call));

    AgentResult failed = program.agents.run(request(agent));
    CostTotal first = failed.cost().orElseThrow();
    assertEquals(Status.UNKNOWN, first.status());

    AgentResult done = program.agents.run(request(agent));
    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(Optional.of(first), done.cost());
  }

  @Test
  @Tag("A9")
  void a_call_that_a_dying_process_did_not_write_down_makes_the_cost_unknown() {
    Agent agent = Agent.builder("agent", Program.ROUTE).build();
    MortalStore mortal = MortalStore.dyingAt(3, false, store);
    var _ =
        assertThrows(
            MortalStore.Crash.class,
            () -> accounted(mortal, text("Lost.")).agents.run(request(agent)));
    mortal.bury();

    AgentResult done = accounted(store, text("Done.")).agents.run(request(agent));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(Optional.of(unknown("lost-call")), done.cost());
  }

  @Test
  @Tag("A9")
  void a_call_that_a_cancel_of_the_run_cut_off_may_have_cost_something() {
    Agent agent = Agent.builder("agent", Program.ROUTE).build();
    Program program =
        accounted(
            store,
            call -> {
              var _ = Runs.in(store).cancel(RUN);
              throw new InterruptedException();
            });

    AgentResult cancelled = program.agents.run(request(agent));

    assertEquals(RunStatus.CANCELLED, cancelled.status());
    assertEquals(Status.UNKNOWN, cancelled.cost().orElseThrow().status());
  }

  @Test
  @Tag("A9")
  void a_call_without_accounting_makes_the_cost_unknown_and_a_run_without_any_has_none() {
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(world.tool("refund", EffectClass.ONCE).build())
            .maxSteps(1)
            .build();
    FakeModel.Answer[] answers = {calls(call("c1", "refund", "o1")), text("Done.")};
    AgentResult exhausted = Program.on(store, FakeModel.of(answers)).agents.run(request(agent));
    assertEquals(RunStatus.FAILED, exhausted.status());
    assertEquals(Optional.empty(), exhausted.cost());

    Agent patient =
        Agent.builder("agent", Program.ROUTE)
            .tools(world.tool("refund", EffectClass.ONCE).build())
            .build();
    AgentResult done = accounted(store, answers).agents.resume(patient, RUN);
    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(Optional.of(unknown("not-accounted")), done.cost());
  }
}
