package dev.warpwright.flow;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.FakeModel;
import dev.warpwright.agent.Program;
import dev.warpwright.agent.RunPolicy;
import dev.warpwright.agent.World;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.OutcomeUnknownException;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each status of a run, brought about as programs do it, and where it shows. */
@Tag("A10")
@Timeout(120)
final class StatusTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration HOUR = Duration.ofHours(1);

  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final World world = new World();
  private volatile FakeModel.Answer answer = text("Done.");
  private final Program program =
      Program.on(RunStore.inMemory(), FakeModel.of(call -> answer.give(call)));

  @AfterEach
  void nothingIsLeft() {
    gate.countDown();
    program.assertNothingIsLeft();
  }

  private AgentRequest request(FakeModel.Answer answer, RunPolicy policy, Tool... tools) {
    this.answer = answer;
    Agent agent = Agent.builder("agent", Program.ROUTE).policy(policy).tools(tools).build();
    return AgentRequest.builder(agent, "Do it.").runId("run-1").build();
  }

  private AgentRequest request(FakeModel.Answer answer, Tool... tools) {
    return request(answer, RunPolicy.NONE, tools);
  }

  private FutureTask<AgentResult> start(AgentRequest request) throws InterruptedException {
    FutureTask<AgentResult> result = new FutureTask<>(() -> program.agents.run(request));
    Thread.ofVirtual().start(result);
    asked.await();
    return result;
  }

  /** The run has that status in its state and in the store's list, and in no other list. */
  private void assertStands(RunStatus expected, RunKey run) {
    assertEquals(expected, program.agents.runs().state(run).orElseThrow().status());
    for (RunStatus status : RunStatus.values()) {
      List<RunSummary> found =
          program
              .agents
              .runs()
              .list(RunQuery.builder(RunScope.DEFAULT).statuses(status).build())
              .stream()
              .filter(summary -> summary.run().equals(run))
              .toList();
      assertEquals(status == expected ? 1 : 0, found.size(), status.name());
    }
  }

  /** An answer that waits, through interrupts, until the gate opens. */
  private FakeModel.Answer stubborn() {
    return call -> {
      asked.countDown();
      while (true) {
        try {
          gate.await();
          return text("Done.").give(call);
        } catch (InterruptedException e) {
          // noticed, not obeyed
        }
      }
    };
  }

  @Test
  void there_are_ten() {
    assertEquals(
        "[QUEUED, RUNNING, WAITING_APPROVAL, WAITING, NEEDS_RECONCILIATION, CANCEL_REQUESTED,"
            + " COMPLETED, FAILED, CANCELLED, TIMED_OUT]",
        List.of(RunStatus.values()).toString());
  }

  @Test
  void a_run_that_nobody_has_taken_up_is_queued() {
    AgentRequest request = request(text("Done."));

    assertStands(RunStatus.QUEUED, program.agents.enqueue(request));
  }

  @Test
  void a_run_whose_model_is_asked_is_running_and_one_with_its_answer_is_completed()
      throws Exception {
    FutureTask<AgentResult> result = start(request(stubborn()));

    assertStands(RunStatus.RUNNING, RUN);
    gate.countDown();
    assertEquals(RunStatus.COMPLETED, result.get(60, TimeUnit.SECONDS).status());
    assertStands(RunStatus.COMPLETED, RUN);
  }

  @Test
  void a_run_with_a_tool_that_needs_a_decision_waits_for_approval() {
    Tool refund = world.tool("refund", EffectClass.ONCE).requiresApproval().build();

    program.agents.run(request(calls(call("c1", "refund", "o1")), refund));

    assertStands(RunStatus.WAITING_APPROVAL, RUN);
  }

  @Test
  void a_run_with_a_tool_that_may_have_acted_needs_reconciliation() {
    Tool refund =
        Tool.of(
            "refund",
            "Refunds.",
            World.Order.class,
            EffectClass.ONCE,
            (input, context) -> {
              throw new OutcomeUnknownException(new IllegalStateException("The line went dead."));
            });

    program.agents.run(request(calls(call("c1", "refund", "o1")), refund));

    assertStands(RunStatus.NEEDS_RECONCILIATION, RUN);
  }

  @Test
  void a_run_whose_driver_has_not_obeyed_yet_is_asked_to_cancel_and_then_cancelled()
      throws Exception {
    FutureTask<AgentResult> result = start(request(stubborn()));

    assertEquals(RunStatus.CANCEL_REQUESTED, program.agents.runs().cancel(RUN).status());
    assertStands(RunStatus.CANCEL_REQUESTED, RUN);
    gate.countDown();
    assertEquals(RunStatus.CANCELLED, result.get(60, TimeUnit.SECONDS).status());
    assertStands(RunStatus.CANCELLED, RUN);
  }

  @Test
  void a_run_whose_model_fails_has_failed() {
    program.agents.run(request(status(400)));

    assertStands(RunStatus.FAILED, RUN);
  }

  @Test
  void a_run_that_passes_its_policys_timeout_is_timed_out() throws Exception {
    FakeModel.Answer never =
        call -> {
          asked.countDown();
          new CountDownLatch(1).await();
          throw new AssertionError("unreachable");
        };
    FutureTask<AgentResult> result = start(request(never, RunPolicy.NONE.withTimeout(MINUTE)));

    program.time.advance(MINUTE); // long before the gateway's own timeout

    assertEquals(RunStatus.TIMED_OUT, result.get(60, TimeUnit.SECONDS).status());
    assertStands(RunStatus.TIMED_OUT, RUN);
  }

  @Test
  void a_run_waits_for_a_time_for_a_signal_and_for_a_child() {
    Flows flows = Flows.on(program.agents);
    Flow<String, String> signal =
        Flow.of(
            "signal", String.class, String.class, (ctx, in) -> ctx.awaitSignal("go", String.class));
    Flow<String, String> timer =
        Flow.of(
            "timer",
            String.class,
            String.class,
            (ctx, in) -> {
              ctx.sleep(HOUR);
              return in;
            });
    Flow<String, String> child =
        Flow.of("child", String.class, String.class, (ctx, in) -> ctx.child(signal, in));

    for (Flow<String, String> flow : List.of(signal, timer, child)) {
      assertStands(RunStatus.WAITING, flows.run(flow, "x").run());
    }
  }
}
