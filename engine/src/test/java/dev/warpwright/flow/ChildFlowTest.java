package dev.warpwright.flow;

import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.FakeModel;
import dev.warpwright.agent.Program;
import dev.warpwright.agent.World;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Worker;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Agents and flows that flows run as children. */
@Timeout(60)
class ChildFlowTest {
  private final RunStore store =
      RunStore.inMemory(new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 1));
  private final World world = new World();

  private static Flow<String, String> asking(Agent agent) {
    return Flow.of(
        "asks",
        String.class,
        String.class,
        (ctx, in) -> ctx.agent(agent, "Find " + in).text() + "!");
  }

  private static Agent agent() {
    return Agent.builder("finder", Program.ROUTE).build();
  }

  @Test
  @Tag("F34")
  void an_agent_runs_as_a_child_with_a_log_of_its_own_and_is_not_asked_again() {
    FakeModel model = FakeModel.of(text("found"));
    Program program = Program.on(store, model);
    Flows flows = Flows.on(program.agents);

    FlowResult<String> result = flows.run(asking(agent()), "it");

    assertEquals("found!", result.orThrow());
    RunState.Child child = result.state().children().getFirst();
    RunKey childRun = new RunKey(result.run().scope(), child.started().childRunId());
    RunState childState = program.agents.runs().state(childRun).orElseThrow();
    assertEquals(RunStatus.COMPLETED, childState.status());
    assertEquals(result.run().runId(), childState.started().childOf().orElseThrow());
    assertEquals(
        result.state().children().getFirst().finished().orElseThrow().usage(), childState.usage());
  }

  @Test
  @Tag("F34")
  void a_failed_agent_fails_the_call_and_a_resume_goes_on_with_the_same_child() {
    Program broken = Program.on(store, FakeModel.of());
    Agent agent = agent();
    FlowResult<String> failed = Flows.on(broken.agents).run(asking(agent), "it");
    assertEquals(RunStatus.FAILED, failed.status());
    assertTrue(failed.state().failure().orElseThrow().resumable());
    String child = failed.state().children().getFirst().started().childRunId();

    Program mended = Program.on(store, FakeModel.of(text("found")));
    FlowResult<String> result = Flows.on(mended.agents).resume(asking(agent), failed.run());

    assertEquals("found!", result.orThrow());
    assertEquals(child, result.state().children().getFirst().started().childRunId());
  }

  @Test
  @Tag("F34")
  void what_a_child_used_that_failed_and_went_on_counts_once() {
    Agent agent =
        Agent.builder("finder", Program.ROUTE)
            .tools(world.tool("look", EffectClass.PURE).build())
            .build();
    Program broken =
        Program.on(store, FakeModel.of(calls(FakeModel.call("c1", "look", "o1")), status(500)));
    FlowResult<String> failed = Flows.on(broken.agents).run(asking(agent), "it");
    assertEquals(RunStatus.FAILED, failed.status());
    assertEquals(1, failed.state().children().size());

    Program mended =
        Program.on(store, FakeModel.of(calls(FakeModel.call("c1", "look", "o1")), text("found")));
    FlowResult<String> result = Flows.on(mended.agents).resume(asking(agent), failed.run());

    assertEquals("found!", result.orThrow());
    RunState.Child child = result.state().children().getFirst();
    RunKey childRun = new RunKey(result.run().scope(), child.started().childRunId());
    RunState childState = mended.agents.runs().state(childRun).orElseThrow();
    assertEquals(childState.usage(), result.state().totalUsage());
    assertEquals(childState.usage(), child.finished().orElseThrow().usage());
  }

  @Test
  @Tag("F33")
  void a_child_flow_returns_its_value_and_its_failure_can_be_caught() {
    Flow<Integer, Integer> half =
        Flow.of(
            "half",
            Integer.class,
            Integer.class,
            (ctx, in) ->
                ctx.step(
                    "halve",
                    Integer.class,
                    step -> {
                      if (in % 2 != 0) {
                        throw new IllegalArgumentException("odd");
                      }
                      return in / 2;
                    }));
    Flow<Integer, String> parent =
        Flow.of(
            "parent",
            Integer.class,
            String.class,
            (ctx, in) -> {
              int one = ctx.child(half, in);
              try {
                return one + "," + ctx.child(half, one);
              } catch (StepFailedException odd) {
                return one + "," + odd.kind();
              }
            });
    Flows flows = Flows.on(Program.on(store, FakeModel.of()).agents);

    assertEquals("6,3", flows.run(parent, 12).orThrow());
    assertEquals("3," + FailureKind.INTERNAL, flows.run(parent, 6).orThrow());
  }

  @Test
  @Tag("F33")
  @Tag("F35")
  void a_child_that_waits_for_approval_suspends_the_flow_and_wakes_it_when_it_has_ended() {
    Agent agent =
        Agent.builder("finder", Program.ROUTE)
            .tools(world.tool("refund", EffectClass.ONCE).requiresApproval().build())
            .build();
    Program program =
        Program.on(
            store, FakeModel.of(calls(FakeModel.call("c1", "refund", "o1")), text("refunded")));
    Flows flows = Flows.on(program.agents);
    Flow<String, String> flow = asking(agent);

    FlowResult<String> waiting = flows.run(flow, "it");
    assertEquals(RunStatus.WAITING, waiting.status());
    RunState child = program.agents.runs().waiting(waiting.run().scope()).getFirst();
    program
        .agents
        .runs()
        .decide(
            child.run(), ApprovalDecision.approve(child.pendingApprovals().getFirst().requestId()));

    try (Worker worker =
        Worker.builder(store)
            .tasks(program.gateway.tasks())
            .drives(program.agents.driver(agent), flows.driver(flow))
            .start()) {
      assertTrue(worker.awaitIdle(Duration.ofSeconds(30)));
      assertTrue(worker.awaitIdle(Duration.ofSeconds(30)));
    }
    assertEquals("refunded!", flows.resume(flow, waiting.run()).orThrow());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("F26")
  void agents_of_branches_run_side_by_side() {
    Program program = Program.on(store, FakeModel.of(text("a"), text("a"), text("a")));
    Agent agent = agent();
    Flow<String, String> flow =
        Flow.of(
            "fan",
            String.class,
            String.class,
            (ctx, in) -> {
              List<Branch<String>> branches = new ArrayList<>();
              for (int i = 0; i < 3; i++) {
                String topic = in + i;
                branches.add(branch -> branch.agent(agent, topic).text());
              }
              return String.join("", ctx.<String>parallel("topics", branches));
            });
    FlowResult<String> result = Flows.on(program.agents).run(flow, "t");
    assertEquals("aaa", result.orThrow());
    assertEquals(3, result.state().children().size());
  }
}
