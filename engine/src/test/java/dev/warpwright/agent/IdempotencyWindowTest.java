package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Order;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.OutcomeUnknownException;
import dev.warpwright.tool.Reconciler.Finding;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A key that the other side forgets after a while. */
@Timeout(60)
@Tag("A55")
final class IdempotencyWindowTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Duration WINDOW = Duration.ofHours(24);

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final FakeModel model = FakeModel.of(calls(call("c1", "pay", "o1")), text("Paid."));
  private final Program program = Program.on(store, model);

  @AfterEach
  void nothingIsLeft() {
    program.assertNothingIsLeft();
  }

  private Tool.Builder<Order> pay() {
    return world.tool("pay", EffectClass.IDEMPOTENT).idempotencyWindow(WINDOW);
  }

  private static Agent agent(Tool.Builder<Order> pay) {
    return Agent.builder("agent", Program.ROUTE).tools(pay.build()).build();
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build();
  }

  /** A process at the same noon acts, and dies before it can say so. */
  private void diesAfterTheEffect(Agent agent) {
    dies(agent, 4, Duration.ZERO);
  }

  private void dies(Agent agent, int write, Duration later) {
    MortalStore mortal = MortalStore.dyingAt(write, false, store);
    Program dying = Program.on(mortal, model);
    dying.time.advance(later);
    assertThrows(MortalStore.Crash.class, () -> dying.agents.run(request(agent)));
    mortal.bury();
  }

  private AgentResult resume(Agent agent) {
    return program.agents.resume(agent, RUN);
  }

  @Test
  void just_within_its_time_a_call_in_doubt_runs_again_under_the_same_key() {
    Agent agent = agent(pay());
    diesAfterTheEffect(agent);
    program.time.advance(WINDOW.minusNanos(1));

    assertEquals("Paid.", resume(agent).text());
    assertEquals(2, world.effects().size());
    assertEquals(1, world.effects().stream().distinct().count());
  }

  @Test
  void at_the_end_of_its_time_it_waits_for_a_person_as_a_once_tool_does() {
    Agent agent = agent(pay());
    diesAfterTheEffect(agent);
    program.time.advance(WINDOW);

    AgentResult waiting = resume(agent);

    assertEquals(RunStatus.NEEDS_RECONCILIATION, waiting.status());
    assertEquals(1, world.effects().size());
    assertEquals(1, waiting.inDoubt().size());
    String key = waiting.inDoubt().getFirst().started().orElseThrow().key();
    Optional<Json> found = Optional.of(Json.of("found"));
    var _ =
        program
            .agents
            .runs()
            .reconcile(RUN, new ToolReconciled("c1", key, Verdict.SUCCEEDED, found, "ann"));
    assertEquals("Paid.", resume(agent).text());
    assertEquals(1, world.effects().size());
  }

  @Test
  void at_the_end_of_its_time_the_reconciler_is_asked_first() {
    AtomicInteger asked = new AtomicInteger();
    Agent agent =
        agent(
            pay()
                .reconciler(
                    (key, input) -> {
                      asked.incrementAndGet();
                      return new Finding.Executed(Json.of("found"));
                    }));
    diesAfterTheEffect(agent);
    program.time.advance(WINDOW);

    assertEquals("Paid.", resume(agent).text());
    assertEquals(1, asked.get());
    assertEquals(1, world.effects().size());
  }

  @Test
  void its_time_counts_from_the_first_start_however_often_it_ran_again() {
    Agent agent = agent(pay());
    diesAfterTheEffect(agent);
    // Resumes under the key, starts the tool again, acts, and dies before it can say so.
    dies(agent, 5, WINDOW.minusHours(1));
    assertEquals(2, world.effects().size());
    program.time.advance(WINDOW);

    assertEquals(RunStatus.NEEDS_RECONCILIATION, resume(agent).status());
    assertEquals(2, world.effects().size());
  }

  @Test
  void its_time_begins_anew_when_it_was_found_that_nothing_was_done() {
    Agent agent = agent(pay());
    diesAfterTheEffect(agent);
    program.time.advance(WINDOW);
    AgentResult waiting = resume(agent);
    String key = waiting.inDoubt().getFirst().started().orElseThrow().key();
    var _ =
        program
            .agents
            .runs()
            .reconcile(
                RUN, new ToolReconciled("c1", key, Verdict.NOT_EXECUTED, Optional.empty(), "ann"));
    // It resumes, starts the tool, acts, and dies before it can say so.
    dies(agent, 5, WINDOW);
    program.time.advance(Duration.ofHours(1));

    assertEquals("Paid.", resume(agent).text());
    assertEquals(3, world.effects().size());
  }

  @Test
  void a_run_that_takes_longer_than_its_time_and_does_not_know_is_not_run_once_more() {
    AtomicInteger runs = new AtomicInteger();
    Program patient = Program.having(store, model, options -> options.timeout(Duration.ofDays(9)));
    Tool.Builder<Order> slow =
        Tool.builder(
                "pay",
                "",
                Order.class,
                EffectClass.IDEMPOTENT,
                (input, context) -> {
                  patient.time.advance(WINDOW);
                  runs.incrementAndGet();
                  throw new OutcomeUnknownException(new IllegalStateException());
                })
            .idempotencyWindow(WINDOW.minusHours(1));

    AgentResult result = patient.agents.run(request(agent(slow)));

    assertEquals(RunStatus.NEEDS_RECONCILIATION, result.status());
    assertEquals(1, runs.get());
    patient.assertNothingIsLeft();
  }

  @Test
  void only_an_idempotent_tool_has_such_a_time_and_it_is_more_than_zero() {
    for (Duration wrong : new Duration[] {Duration.ZERO, Duration.ofNanos(-1)}) {
      InvalidRequestException refused =
          assertThrows(InvalidRequestException.class, () -> pay().idempotencyWindow(wrong));
      assertTrue(String.valueOf(refused.getMessage()).contains(wrong.toString()));
    }
    for (EffectClass other : new EffectClass[] {EffectClass.PURE, EffectClass.ONCE}) {
      Tool.Builder<Order> tool = world.tool("pay", other).idempotencyWindow(WINDOW);
      assertThrows(InvalidRequestException.class, tool::build);
    }
  }
}
