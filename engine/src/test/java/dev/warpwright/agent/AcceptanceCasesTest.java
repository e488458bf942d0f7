package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Effect;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Route;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whole stories of agents, each with all that must be true at its end. */
class AcceptanceCasesTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private Optional<Program> last = Optional.empty();

  @AfterEach
  void nothingIsLeft() {
    last.orElseThrow().assertNothingIsLeft();
  }

  private Program program(FakeModel model, FakeModel spare) {
    Program program = Program.on(store, model, spare);
    last = Optional.of(program);
    return program;
  }

  private Agent agent(Route route) {
    Tool refund = world.tool("refund", EffectClass.ONCE).build();
    return Agent.builder("clerk", route).tools(refund).build();
  }

  private static AgentRequest request(Agent agent, String prompt) {
    return AgentRequest.builder(agent, prompt).runId("run-1").idempotencyKey("key").build();
  }

  private static AgentRequest request(Agent agent) {
    return request(agent, "Refund it.");
  }

  @Test
  @Tag("C13")
  void a_run_whose_model_fails_in_its_second_step_is_finished_by_another_model() {
    FakeModel primary = FakeModel.of(calls(call("c1", "refund", "o1")), status(400));
    FakeModel spare = FakeModel.of(text("Never."), text("Refunded."));
    Program program = program(primary, spare);

    AgentResult result =
        program.agents.run(request(agent(Route.of(Program.TARGET, Program.SPARE))));

    assertEquals("Refunded.", result.text());
    assertEquals(RUN, result.run());
    List<String> types = program.types(RUN);
    assertEquals(1, types.stream().filter("RunStarted"::equals).count());
    assertFalse(types.contains("RunResumed"));
    assertEquals(1, world.effects().size());
    assertEquals(List.of(0, 1), primary.asked());
    assertEquals(List.of(1), spare.asked());
  }

  @Test
  @Tag("C39")
  void a_run_that_died_behind_a_tools_outcome_is_finished_with_every_effect_done_once() {
    FakeModel model =
        FakeModel.of(
            calls(call("c1", "refund", "o1"), call("c2", "refund", "o1")), text("Refunded."));
    Agent agent = agent(Program.ROUTE);
    Program program = program(model, FakeModel.of());
    int outcome = writesUntilBothOutcomes();
    MortalStore mortal = MortalStore.dyingAt(outcome, true, store);
    assertThrows(
        MortalStore.Crash.class, () -> Program.on(mortal, model).agents.run(request(agent)));
    mortal.bury();

    AgentResult result = program.agents.run(request(agent));

    assertEquals("Refunded.", result.text());
    assertEquals(2, model.asked().size());
    List<String> keys = world.effects().stream().map(Effect::key).toList();
    assertEquals(2, keys.size(), "equal inputs of two calls are two effects");
    assertEquals(2, keys.stream().distinct().count());
    for (String key : keys) {
      assertTrue(key.matches("run-1:tool_[0-9a-f]{64}"), key);
    }
  }

  /** Which write of an undisturbed run is the last with an outcome. */
  private static int writesUntilBothOutcomes() {
    FakeModel model =
        FakeModel.of(
            calls(call("c1", "refund", "o1"), call("c2", "refund", "o1")), text("Refunded."));
    World elsewhere = new World();
    Agent same =
        Agent.builder("clerk", Program.ROUTE)
            .tools(elsewhere.tool("refund", EffectClass.ONCE).build())
            .build();
    for (int write = 1; ; write++) {
      RunStore fresh = RunStore.inMemory();
      MortalStore mortal = MortalStore.dyingAt(write, true, fresh);
      assertThrows(
          MortalStore.Crash.class, () -> Program.on(mortal, model).agents.run(request(same)));
      List<String> types = Program.on(fresh, model).types(RUN);
      if (types.stream().filter("ToolFinished"::equals).count() == 2) {
        return write;
      }
    }
  }

  @Test
  @Tag("C42")
  void a_key_gives_its_run_again_without_a_call_and_takes_no_other_prompt() {
    FakeModel model = FakeModel.of(text("Refunded."));
    Program program = program(model, FakeModel.of());
    Agent agent = agent(Program.ROUTE);
    AgentResult first = program.agents.run(request(agent));

    AgentResult second = program.agents.run(request(agent));
    ConflictException refused =
        assertThrows(
            ConflictException.class, () -> program.agents.run(request(agent, "Refund another.")));

    assertEquals(first.run(), second.run());
    assertEquals(first.text(), second.text());
    assertEquals(List.of(0), model.asked());
    assertFalse(refused.getMessage().contains("another"), refused.getMessage());
  }

  @Test
  @Tag("A20")
  void a_decision_is_judged_before_the_status_of_the_run() {
    FakeModel model = FakeModel.of(text("Refunded."));
    Program program = program(model, FakeModel.of());
    Agent agent = agent(Program.ROUTE);
    program.agents.run(request(agent));
    List<String> types = program.types(RUN);

    assertThrows(
        InvalidRequestException.class,
        () -> program.agents.resume(agent, RUN, ApprovalDecision.approve("approval_0")));

    assertEquals(RunStatus.COMPLETED, program.agents.resume(agent, RUN).status());
    assertEquals(types, program.types(RUN));
  }
}
