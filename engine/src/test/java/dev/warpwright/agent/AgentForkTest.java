package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Effect;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.Message;
import dev.warpwright.model.Route;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.ForkChanges;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.tool.EffectClass;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Forks of runs of agents. */
@Timeout(60)
final class AgentForkTest {
  static List<Scenario> scenarios() {
    return Scenario.all();
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("F72")
  @Tag("F73")
  @Tag("F74")
  void a_fork_goes_on_from_any_event_at_which_nothing_is_under_way(Scenario scenario) {
    World world = new World();
    Agent agent = scenario.agent(world);
    Program program =
        Program.on(
            RunStore.inMemory(), FakeModel.of(scenario.answers()), FakeModel.of(scenario.spare()));
    AgentResult first =
        program.agents.run(AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build());
    AgentResult end = decided(program, scenario, agent, first);
    Runs runs = program.agents.runs();
    List<LoggedEvent> original = program.log(end.run());
    List<Long> refused = new ArrayList<>();
    for (long at = 1; at <= original.size(); at++) {
      int effects = world.effects().size();
      Optional<RunKey> fork = fork(runs, end.run(), at);
      if (fork.isEmpty()) {
        refused.add(at);
        continue;
      }
      RunState state = runs.state(fork.get()).orElseThrow();
      assertEquals(RunState.of(original.subList(0, (int) at)).messages(), state.messages());
      AgentResult left =
          decided(program, scenario, agent, program.agents.resume(agent, fork.get()));
      assertEquals(end.status(), left.status());
      assertEquals(end.text(), left.text());
      assertEquals(end.state().messages(), left.state().messages());
      assertEquals(end.state().usage(), left.state().usage());
      assertEquals(end.state().totalCost(), left.state().totalCost());
      String id = fork.get().runId();
      assertTrue(
          world.effects().subList(effects, world.effects().size()).stream()
              .map(Effect::key)
              .allMatch(key -> key.startsWith(id)));
      assertEquals(
          count(original.subList((int) at, original.size())),
          count(left.log().subList((int) at, left.log().size())));
      assertEquals(original, program.log(end.run()));
    }
    assertTrue(refused.contains((long) original.size()));
    assertTrue(refused.size() < original.size());
    program.assertNothingIsLeft();
  }

  private static AgentResult decided(
      Program program, Scenario scenario, Agent agent, AgentResult result) {
    return result.status() == RunStatus.WAITING_APPROVAL
        ? program.agents.resume(
            agent,
            result.run(),
            result.pendingApprovals().stream()
                .map(scenario.decide())
                .toArray(dev.warpwright.run.ApprovalDecision[]::new))
        : result;
  }

  private static Optional<RunKey> fork(Runs runs, RunKey run, long at) {
    try {
      return Optional.of(runs.fork(run, at));
    } catch (InvalidRequestException e) {
      assertTrue(e.getMessage().contains("The nearest sequence below"), e.getMessage());
      return Optional.empty();
    }
  }

  private static long count(List<LoggedEvent> log) {
    return log.stream().filter(logged -> logged.event() instanceof ToolStarted).count();
  }

  /** A run that has looked something up: it can be forked at 1 and behind the tool's end, at 6. */
  private static final class Looked {
    final World world = new World();
    final Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(List.of(world.tool("look", EffectClass.IDEMPOTENT).build()))
            .build();
    final Program program =
        Program.with(calls(call("c1", "look", "o1")), text("Found."), text("Again."));
    final AgentResult source = program.agents.run(AgentRequest.builder(agent, "Do it.").build());
    final Runs runs = program.agents.runs();

    RunState resumed(RunKey fork) {
      AgentResult left = program.agents.resume(agent, fork);
      assertEquals(RunStatus.COMPLETED, left.status());
      List<LoggedEvent> log = program.log(fork);
      assertEquals(RunExport.write(log), RunExport.write(RunExport.read(RunExport.write(log))));
      return RunState.of(log);
    }
  }

  @Test
  @Tag("F73")
  void the_middle_of_a_batch_is_refused_with_the_nearest_sequences() {
    Looked looked = new Looked();
    assertEquals(
        List.of(
            "RunStarted",
            "StepStarted",
            "RouteBound",
            "ModelResponded",
            "ToolStarted",
            "ToolFinished",
            "StepStarted",
            "ModelResponded",
            "RunCompleted"),
        looked.program.types(looked.source.run()));
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> looked.runs.fork(looked.source.run(), 5));
    assertEquals(
        "Run %s cannot be forked at sequence 5: there calls of tools were open. The nearest"
                .formatted(looked.source.run())
            + " sequence below at which it can be is 1, above 6.",
        refused.getMessage());
    for (long open : new long[] {2, 3, 4, 7}) {
      assertThrows(
          InvalidRequestException.class, () -> looked.runs.fork(looked.source.run(), open));
    }
  }

  @Test
  @Tag("F73")
  void the_results_of_tools_can_be_replaced() {
    Looked looked = new Looked();
    Message other = Message.tool(List.of(new ToolResult("c1", "look", Json.of("nothing"), false)));
    RunKey fork =
        looked.runs.fork(
            looked.source.run(), 6, ForkChanges.builder().replaceLastMessage(other).build());
    RunState state = looked.resumed(fork);
    assertEquals(other, state.messages().get(2));
    assertEquals(looked.source.state().messages().size(), state.messages().size());
    assertEquals(1, looked.world.effects().size());
    assertEquals(
        Optional.of(other),
        ((RunStarted) looked.program.log(fork).getFirst().event())
            .forkedFrom()
            .orElseThrow()
            .replaced());
    for (Message wrong :
        List.of(
            Message.user("Hi."),
            Message.tool(List.of(new ToolResult("c2", "look", Json.of("nothing"), false))))) {
      InvalidRequestException refused =
          assertThrows(
              InvalidRequestException.class,
              () ->
                  looked.runs.fork(
                      looked.source.run(),
                      6,
                      ForkChanges.builder().replaceLastMessage(wrong).build()));
      assertTrue(refused.getMessage().contains("replaces a last message"), refused.getMessage());
    }
  }

  @Test
  @Tag("F73")
  void the_prompt_can_be_replaced_and_a_message_added() {
    Looked looked = new Looked();
    RunKey fork =
        looked.runs.fork(
            looked.source.run(),
            1,
            ForkChanges.builder()
                .replaceLastMessage(Message.user("Do that."))
                .addMessage(Message.user("Please."))
                .build());
    RunState state = looked.resumed(fork);
    assertEquals(
        List.of(Message.user("Do that."), Message.user("Please.")), state.messages().subList(0, 2));
    assertEquals(2, looked.world.effects().size());

    RunKey again =
        looked.runs.fork(
            looked.source.run(),
            8,
            ForkChanges.builder().addMessage(Message.user("And now?")).build());
    RunState answered = looked.resumed(again);
    assertEquals("Found.Again.", answered.text());
    assertEquals(3, answered.step());
    RunKey asItWas = looked.runs.fork(looked.source.run(), 8);
    assertEquals("Found.", looked.resumed(asItWas).text());
    assertThrows(
        InvalidRequestException.class,
        () -> ForkChanges.builder().addMessage(Message.assistant("I think so.")));
  }

  @Test
  @Tag("F73")
  void a_fork_can_be_bound_to_other_targets_and_to_another_limit() {
    Looked looked = new Looked();
    Route other = Route.of(Program.SPARE, Program.TARGET);
    Agent elsewhere =
        Agent.builder("agent", other)
            .tools(List.of(looked.world.tool("look", EffectClass.IDEMPOTENT).build()))
            .build();
    RunKey asItWas = looked.runs.fork(looked.source.run(), 6);
    assertThrows(ConflictException.class, () -> looked.program.agents.resume(elsewhere, asItWas));
    RunKey fork =
        looked.runs.fork(
            looked.source.run(),
            6,
            ForkChanges.builder().targets(other.candidates()).maxStateBytes(5_000).build());
    assertEquals(RunStatus.COMPLETED, looked.program.agents.resume(elsewhere, fork).status());
    assertEquals(5_000, looked.runs.state(fork).orElseThrow().maxBytes());
    LimitExceededException full =
        assertThrows(
            LimitExceededException.class,
            () ->
                looked.runs.fork(
                    looked.source.run(), 6, ForkChanges.builder().maxStateBytes(5).build()));
    assertTrue(full.getMessage().contains("may hold 5 bytes"), full.getMessage());
  }

  @Test
  @Tag("F72")
  void a_fork_of_a_child_run_is_no_child() {
    Agent helper = Agent.builder("helper", Program.ROUTE).build();
    Program program = Program.with(text("Hello."), text("Again."));
    RunKey parent = program.agents.run(AgentRequest.builder(helper, "Hi.").build()).run();
    RunKey child =
        program
            .agents
            .runChild(
                parent,
                new dev.warpwright.run.RunEvent.ChildStarted("c1", "child-1", "helper"),
                helper,
                "Hi.",
                Map.of(),
                Invocation.DEFAULT)
            .run();
    Runs runs = program.agents.runs();
    assertEquals(Optional.of(parent.runId()), runs.state(child).orElseThrow().started().childOf());
    RunKey fork = runs.fork(child, 1);
    assertEquals(Optional.empty(), runs.state(fork).orElseThrow().started().childOf());
  }
}
