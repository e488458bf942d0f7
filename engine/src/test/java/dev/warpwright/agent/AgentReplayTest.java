package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.flow.Replay;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Route;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.ReplayDifference;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Replays of runs of agents against their agent, and against others. */
@Timeout(120)
final class AgentReplayTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  static List<Scenario> scenarios() {
    return Scenario.all();
  }

  private static Optional<ReplayDifference> replay(List<LoggedEvent> log, Agent agent) {
    return Replay.ofRun(log).against(agent);
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("F69")
  @Tag("F70")
  @Tag("F71")
  void every_run_replays_and_so_does_each_part_of_it(Scenario scenario) {
    World world = new World();
    Agent agent = scenario.agent(world);
    RunStore store = RunStore.inMemory();
    live(scenario, agent, store, 0, false);
    int effects = world.effects().size();
    List<LoggedEvent> log = store.load(RUN, 1, Deadline.never());
    for (int events = 1; events <= log.size(); events++) {
      assertEquals(Optional.empty(), replay(log.subList(0, events), agent), "up to " + events);
    }
    assertEquals(effects, world.effects().size(), "a replay does nothing");
    assertEquals(log, store.load(RUN, 1, Deadline.never()));
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("F70")
  @Tag("F71")
  void a_run_whose_process_died_at_any_write_replays(Scenario scenario) {
    boolean died = true;
    for (int write = 1; died; write++) {
      for (boolean afterIt : new boolean[] {false, true}) {
        Agent agent = scenario.agent(new World());
        RunStore store = RunStore.inMemory();
        died = live(scenario, agent, store, write, afterIt);
        live(scenario, agent, store, 0, false);
        List<LoggedEvent> log = store.load(RUN, 1, Deadline.never());
        if (!log.isEmpty()) {
          assertEquals(Optional.empty(), replay(log, agent), "died at write " + write);
        }
      }
    }
  }

  /** One process that drives the run as far as it gets; whether it died. */
  private static boolean live(
      Scenario scenario, Agent agent, RunStore store, int fatalWrite, boolean afterIt) {
    MortalStore mortal = MortalStore.dyingAt(fatalWrite, afterIt, store);
    Program program =
        Program.on(mortal, FakeModel.of(scenario.answers()), FakeModel.of(scenario.spare()));
    try {
      for (int patience = 0; patience < 10; patience++) {
        AgentResult result =
            program.agents.run(
                AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build());
        switch (result.status()) {
          case WAITING_APPROVAL ->
              program.agents.resume(
                  agent,
                  RUN,
                  result.pendingApprovals().stream()
                      .map(scenario.decide())
                      .toArray(ApprovalDecision[]::new));
          case NEEDS_RECONCILIATION ->
              result
                  .inDoubt()
                  .forEach(
                      doubt ->
                          program
                              .agents
                              .runs()
                              .reconcile(
                                  RUN,
                                  new ToolReconciled(
                                      doubt.call().id(),
                                      doubt.started().orElseThrow().key(),
                                      Verdict.SUCCEEDED,
                                      Optional.of(Json.of("done")),
                                      "ann")));
          default -> {
            return false;
          }
        }
      }
      return false;
    } catch (MortalStore.Crash crash) {
      mortal.bury();
      return true;
    }
  }

  private final World world = new World();
  private final Program program =
      Program.with(calls(call("c1", "note", "secret"), call("c2", "pay", "o1")), text("Done."));

  private Agent agent(UnaryOperator<Agent.Builder> change, Tool... tools) {
    return change
        .apply(
            Agent.builder("agent", Program.ROUTE).instructions("Be secret.").tools(List.of(tools)))
        .build();
  }

  private Tool.Builder<World.Order> note() {
    return world.tool("note", EffectClass.IDEMPOTENT);
  }

  private Tool.Builder<World.Order> pay() {
    return world.tool("pay", EffectClass.ONCE).requiresApproval();
  }

  @Test
  @Tag("F70")
  void a_changed_agent_is_reported_at_the_first_difference() {
    Agent agent = agent(it -> it, note().build(), pay().build());
    AgentResult waiting =
        program.agents.run(AgentRequest.builder(agent, "Tell no secret.").build());
    assertEquals(RunStatus.WAITING_APPROVAL, waiting.status());
    AgentResult done =
        program.agents.resume(
            agent,
            waiting.run(),
            ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId()));
    assertEquals(RunStatus.COMPLETED, done.status());
    List<LoggedEvent> log = done.log();
    assertEquals(Optional.empty(), replay(log, agent));

    differs(log, "RunStarted", agent(it -> it.instructions("Be."), note().build(), pay().build()));
    differs(log, "RunStarted", agent(it -> it.maxSteps(3), note().build(), pay().build()));
    differs(
        log,
        "RunStarted",
        Agent.builder("agent", Route.of(Program.SPARE))
            .instructions("Be secret.")
            .tools(List.of(note().build(), pay().build()))
            .build());
    differs(log, "ApprovalRequested", agent(it -> it, note().build()));
    differs(log, "ApprovalRequested", agent(it -> it, note().build(), pay().version("2").build()));
    differs(
        log,
        "ApprovalRequested",
        agent(it -> it, note().build(), world.tool("pay", EffectClass.ONCE).build()));
    differs(log, "RunSuspended", agent(it -> it, note().requiresApproval().build(), pay().build()));
    differs(log, "ToolStarted", agent(it -> it, pay().build()));
    ReplayDifference effect =
        differs(
            log,
            "ToolStarted",
            agent(it -> it, world.tool("note", EffectClass.PURE).build(), pay().build()));
    assertTrue(effect.toString().contains("as IDEMPOTENT"), effect.toString());
    assertTrue(effect.toString().contains("as PURE"), effect.toString());
    assertTrue(effect.recordedJson().orElseThrow().text().contains("secret"));
    differs(
        log, "RunCompleted", agent(it -> it.output(Integer.class), note().build(), pay().build()));
    assertThrows(
        ConflictException.class, () -> replay(log, Agent.builder("other", Program.ROUTE).build()));
  }

  private static ReplayDifference differs(List<LoggedEvent> log, String at, Agent changed) {
    ReplayDifference found = replay(log, changed).orElseThrow();
    assertEquals(at, found.recorded().orElseThrow().getClass().getSimpleName(), found::toString);
    assertEquals(at, log.get((int) found.sequence() - 1).event().getClass().getSimpleName());
    assertFalse(found.toString().contains("secret"), found.toString());
    return found;
  }

  @Test
  @Tag("F70")
  void fewer_steps_or_less_patience_with_tools_show_where_they_would_have_ended_the_run() {
    Scenario scenario =
        Scenario.all().stream()
            .filter(each -> each.name().equals("more tool errors than the agent allows"))
            .findFirst()
            .orElseThrow();
    RunStore store = RunStore.inMemory();
    live(scenario, scenario.agent(world), store, 0, false);
    List<LoggedEvent> log = store.load(RUN, 1, Deadline.never());
    Agent patient =
        Agent.builder("agent", Program.ROUTE)
            .tools(List.of(World.failing("look", EffectClass.PURE)))
            .maxToolErrors(5)
            .build();
    ReplayDifference more = differs(log, "RunFailed", patient);
    assertTrue(more.toString().contains("allows another step"), more.toString());
  }

  @Test
  @Tag("F71")
  void child_runs_are_replayed_with_their_parents() {
    Agent helper = helper("Help.");
    Agent desk = desk(helper);
    Program family =
        new Family()
            .answers("desk", calls(Family.ask("c1", "helper", "Look.")), text("Done."))
            .answers("helper", calls(call("c1", "note", "o1")), text("Looked."))
            .program(RunStore.inMemory());
    AgentResult done = family.agents.run(AgentRequest.builder(desk, "Go.").build());
    List<List<LoggedEvent>> logs = family.agents.runs().logs(done.run());
    assertEquals(2, logs.size(), () -> family.types(done.run()).toString());
    assertEquals(Optional.empty(), Replay.of(logs).against(desk));
    Agent other = helper("Do not help.");
    ReplayDifference below = Replay.of(logs).against(desk(other)).orElseThrow();
    assertEquals(logs.get(1).getFirst().run(), below.run());
    assertEquals(1, below.sequence());
    assertEquals(Optional.empty(), Replay.ofRun(logs.getFirst()).against(desk(other)));
  }

  private Agent helper(String instructions) {
    return Family.agent("helper").instructions(instructions).tools(List.of(note().build())).build();
  }

  private static Agent desk(Agent helper) {
    return Family.agent("desk").subAgents(helper).build();
  }

  @Test
  @Tag("F70")
  void what_was_decided_and_asked_is_not_in_the_words_of_a_difference() {
    RunEvent asked =
        new ApprovalRequested(
            "r", "d", 1, "c", "tool", "1", Json.of("secret"), Optional.empty(), Optional.empty());
    ReplayDifference difference =
        new ReplayDifference(RUN, 3, "x", Optional.of(asked), Optional.empty());
    assertEquals("Run run-1, sequence 3: x", difference.toString());
  }
}
