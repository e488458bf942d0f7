package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Order;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.DecisionNeeded;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.OutcomeUnknownException;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Somebody is told when a run begins to need a person. */
@Timeout(60)
@Tag("A153")
final class DecisionNeededTest {
  private final World world = new World();
  private final LinkedBlockingQueue<DecisionNeeded> told = new LinkedBlockingQueue<>();
  private final Program program =
      Program.on(
          RunStore.inMemory(),
          FakeModel.of(
              calls(call("c1", "refund", "o1"), call("c2", "refund", "o2")),
              calls(call("c3", "pay", "o1")),
              text("Done.")));
  private final Agent agent =
      Agent.builder("agent", Program.ROUTE)
          .tools(
              world.tool("refund", EffectClass.ONCE).requiresApproval().build(),
              Tool.of(
                  "pay",
                  "",
                  Order.class,
                  EffectClass.ONCE,
                  (input, context) -> {
                    throw new OutcomeUnknownException(new IllegalStateException());
                  }))
          .build();

  private Agents telling(Consumer<DecisionNeeded> listener) {
    return Agents.builder(program.gateway).store(program.store).onDecisionNeeded(listener).build();
  }

  private DecisionNeeded next() throws InterruptedException {
    DecisionNeeded needed = told.poll(30, TimeUnit.SECONDS);
    assertTrue(needed != null, "nobody was told");
    return needed;
  }

  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  private void awaitQuiet() {
    while (program.gateway.tasks().liveCount() > 0) {
      Thread.yield();
    }
  }

  @Test
  void the_listener_is_told_once_each_time_that_something_new_waits_for_a_person()
      throws Exception {
    Agents agents = telling(told::add);
    AgentResult waiting = agents.run(AgentRequest.builder(agent, "Do it.").build());
    assertEquals(new DecisionNeeded(waiting.run(), "agent", RunStatus.WAITING_APPROVAL, 2), next());
    List<ApprovalDecision> decisions =
        waiting.pendingApprovals().stream()
            .map(request -> ApprovalDecision.approve(request.requestId()))
            .toList();

    var _ = agents.resume(agent, waiting.run());
    var _ = agents.resume(agent, waiting.run(), decisions.getFirst());
    awaitQuiet();
    assertEquals(0, told.size(), "it waited already");

    AgentResult inDoubt = agents.resume(agent, waiting.run(), decisions.getLast());
    assertEquals(RunStatus.NEEDS_RECONCILIATION, inDoubt.status());
    assertEquals(
        new DecisionNeeded(waiting.run(), "agent", RunStatus.NEEDS_RECONCILIATION, 1), next());

    String key = inDoubt.inDoubt().getFirst().started().orElseThrow().key();
    var _ =
        agents
            .runs()
            .reconcile(
                waiting.run(),
                new ToolReconciled("c3", key, Verdict.SUCCEEDED, Optional.empty(), "ann"));
    assertEquals("Done.", agents.resume(agent, waiting.run()).text());
    awaitQuiet();
    assertEquals(0, told.size());
    program.assertNothingIsLeft();
  }

  @Test
  void a_listener_that_is_told_can_act_at_once() throws Exception {
    LinkedBlockingQueue<AgentResult> results = new LinkedBlockingQueue<>();
    Agents[] self = new Agents[1];
    self[0] =
        telling(
            needed -> {
              if (needed.status() == RunStatus.WAITING_APPROVAL) {
                ApprovalDecision[] all =
                    self[0].runs().state(needed.run()).orElseThrow().pendingApprovals().stream()
                        .map(request -> ApprovalDecision.approve(request.requestId()))
                        .toArray(ApprovalDecision[]::new);
                results.add(self[0].resume(agent, needed.run(), all));
              }
            });

    var _ = self[0].run(AgentRequest.builder(agent, "Do it.").build());

    AgentResult resumed = results.poll(30, TimeUnit.SECONDS);
    assertTrue(resumed != null, "the run was still owned");
    assertEquals(RunStatus.NEEDS_RECONCILIATION, resumed.status());
    assertEquals(2, world.effects().size());
    awaitQuiet();
    program.assertNothingIsLeft();
  }

  @Test
  void a_listener_that_hangs_or_fails_does_not_hold_or_fail_the_run_and_is_counted()
      throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    Agents hanging =
        telling(
            needed -> {
              busy.countDown();
              try {
                never.await();
              } catch (InterruptedException e) {
                interrupted.countDown();
              }
            });
    assertEquals(
        RunStatus.WAITING_APPROVAL,
        hanging.run(AgentRequest.builder(agent, "Do it.").build()).status());
    busy.await();
    program.time.awaitAlarms(1);
    program.time.advance(Duration.ofSeconds(10));
    interrupted.await();
    awaitQuiet();

    Agents failing =
        telling(
            needed -> {
              throw new AssertionError("secret");
            });
    assertEquals(
        RunStatus.WAITING_APPROVAL,
        failing.run(AgentRequest.builder(agent, "Do it.").build()).status());
    awaitQuiet();
    assertEquals(1, program.gateway.tasks().detachedFailures());
    assertEquals(2, program.agents.runs().waiting(RunScope.DEFAULT).size());
    program.assertNothingIsLeft();
  }
}
