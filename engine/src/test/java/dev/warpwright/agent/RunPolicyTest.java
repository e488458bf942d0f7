package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.AgentEvent.RunFinish;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Reconciler.Finding;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The timeout of a policy ends a run for good, but never over a tool whose outcome is unknown. */
@Timeout(60)
final class RunPolicyTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final CountDownLatch there = new CountDownLatch(1);
  private Optional<Program> program = Optional.empty();

  @AfterEach
  void nothingIsLeft() {
    program.ifPresent(Program::assertNothingIsLeft);
  }

  private Program program(FakeModel.Answer... answers) {
    program = Optional.of(Program.on(store, FakeModel.of(answers)));
    return program.get();
  }

  private FakeModel.Answer never() {
    return call -> {
      there.countDown();
      new CountDownLatch(1).await();
      throw new AssertionError("nobody opens that latch");
    };
  }

  /** A tool that is cut off when it may or may not have acted. */
  private Tool.Builder<World.Order> stuck() {
    return Tool.builder(
        "refund",
        "Refunds.",
        World.Order.class,
        EffectClass.ONCE,
        (input, context) -> {
          there.countDown();
          new CountDownLatch(1).await();
          return world.act("refund", input, context);
        });
  }

  private static Agent.Builder agent(RunPolicy policy, Tool... tools) {
    return Agent.builder("agent", Program.ROUTE).tools(tools).policy(policy);
  }

  private static RunPolicy policy() {
    return RunPolicy.NONE.withTimeout(LIMIT);
  }

  private static AgentRequest.Builder request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1");
  }

  /** Calls on another thread, and lets time pass when it got there. */
  private AgentResult after(Duration time, Callable<AgentResult> call) throws Exception {
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> caller = pool.submit(call);
      there.await();
      program.orElseThrow().time.advance(time);
      return caller.get();
    }
  }

  private List<String> lastTypes(int count) {
    List<String> types = program.orElseThrow().types(RUN);
    return types.subList(types.size() - count, types.size());
  }

  @Test
  @Tag("A25")
  @Tag("A73")
  @Tag("A136")
  void a_run_that_takes_too_long_has_ended_for_good_and_the_result_says_so() throws Exception {
    Program program = program(never());
    Agent agent = agent(policy()).build();

    AgentResult result = after(LIMIT, () -> program.agents.run(request(agent).build()));

    assertEquals(RunStatus.TIMED_OUT, result.status());
    assertEquals(List.of("RunStarted", "StepStarted", "RunTimedOut"), program.types(RUN));
    RunTimedOut end = assertInstanceOf(RunTimedOut.class, program.events(RUN).getLast());
    assertEquals(LIMIT, end.limit());
    assertEquals(
        List.of(Attempt.ReasonCode.DEADLINE_EXCEEDED),
        end.attempts().stream().map(Attempt::reasonCode).toList());
    RunFailedException thrown = assertThrows(RunFailedException.class, result::orThrow);
    assertEquals(FailureKind.DEADLINE, thrown.kind());
    assertFalse(thrown.resumable());

    AgentResult again = program.agents.resume(agent, RUN);
    assertEquals(RunStatus.TIMED_OUT, again.status());
    assertFalse(again.driven());
    assertEquals(3, program.types(RUN).size());
  }

  @Test
  @Tag("A25")
  @Tag("A73")
  void a_timeout_may_count_as_a_request_to_cancel() throws Exception {
    Program program = program(never());
    Agent agent = agent(policy().withOnTimeout(OnTimeout.CANCEL_REQUESTED)).build();

    AgentResult result = after(LIMIT, () -> program.agents.run(request(agent).build()));

    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals(
        List.of("RunStarted", "StepStarted", "CancelRequested", "RunCancelled"),
        program.types(RUN));
    CancelRequested asked = (CancelRequested) program.events(RUN).get(2);
    assertTrue(asked.reason().orElseThrow().contains("PT20S"), asked.reason().toString());
  }

  @ParameterizedTest
  @EnumSource(OnTimeout.class)
  @Tag("A56")
  @Tag("A73")
  void a_timeout_waits_for_the_verdict_on_a_tool_in_doubt(OnTimeout effect) throws Exception {
    Program program = program(calls(call("c1", "refund", "o1")), text("Done."));
    Agent agent = agent(policy().withOnTimeout(effect), stuck().build()).build();

    AgentResult result = after(LIMIT, () -> program.agents.run(request(agent).build()));

    assertEquals(RunStatus.NEEDS_RECONCILIATION, result.status());
    RunSuspended suspended = (RunSuspended) program.events(RUN).getLast();
    assertEquals(Optional.empty(), suspended.intendedEnd());
    assertEquals(effect == OnTimeout.TIMED_OUT, suspended.intendedTimeout().isPresent());
    assertEquals(effect != OnTimeout.TIMED_OUT, result.state().cancellation().isPresent());
    assertEquals(
        RunStatus.NEEDS_RECONCILIATION, program.agents.resume(agent, RUN).status(), "still");

    ToolStarted intent = result.inDoubt().getFirst().started().orElseThrow();
    RunState state =
        program
            .agents
            .runs()
            .reconcile(
                RUN,
                new ToolReconciled(
                    "c1", intent.key(), Verdict.SUCCEEDED, Optional.of(Json.of("paid")), "ann"));

    assertEquals(
        effect == OnTimeout.TIMED_OUT ? RunStatus.TIMED_OUT : RunStatus.CANCELLED, state.status());
    assertTrue(state.isTerminal());
    assertEquals("ToolReconciled", lastTypes(2).getFirst());
    assertFalse(program.agents.resume(agent, RUN).driven());
  }

  @Test
  @Tag("A56")
  @Tag("A136")
  void the_next_driver_asks_about_the_doubt_and_then_the_timeout_takes_effect() throws Exception {
    Program program = program(calls(call("c1", "refund", "o1")), text("Done."));
    CountDownLatch known = new CountDownLatch(1);
    Agent agent =
        agent(
                policy(),
                stuck()
                    .reconciler(
                        (key, input) ->
                            known.getCount() > 0
                                ? new Finding.Unknown()
                                : new Finding.NotExecuted())
                    .build())
            .build();
    AgentResult waiting = after(LIMIT, () -> program.agents.run(request(agent).build()));
    assertEquals(RunStatus.NEEDS_RECONCILIATION, waiting.status());

    AgentResult still = program.agents.resume(agent, RUN);
    assertEquals(RunStatus.NEEDS_RECONCILIATION, still.status());
    known.countDown();
    AgentResult result = program.agents.resume(agent, RUN);

    assertEquals(RunStatus.TIMED_OUT, result.status());
    assertEquals(List.of("RunResumed", "ToolReconciled", "RunTimedOut"), lastTypes(3));
    assertEquals(List.of(), world.effects());
    assertEquals(0, result.toolCalls());
  }

  @Test
  @Tag("A30")
  @Tag("A73")
  void another_limit_that_passes_before_it_leaves_the_run_resumable() throws Exception {
    Program program =
        program(call -> there.getCount() > 0 ? never().give(call) : text("Done.").give(call));
    Agent agent = agent(policy()).build();
    Invocation shorter = Invocation.builder().timeout(LIMIT.minusSeconds(1)).build();

    AgentResult result =
        after(
            LIMIT.minusSeconds(1),
            () -> program.agents.run(request(agent).invocation(shorter).build()));

    assertEquals(RunStatus.FAILED, result.status());
    assertEquals(FailureKind.DEADLINE, result.state().failure().orElseThrow().kind());
    assertTrue(result.state().failure().orElseThrow().resumable());
    assertEquals(
        RunStatus.COMPLETED,
        program.agents.resume(agent, RUN, List.of(), shorter).status(),
        "a resume has a deadline of its own");
  }

  @Test
  @Tag("A75")
  void a_policy_of_the_invocation_wins_where_it_says_something() throws Exception {
    Program program = program(never());
    Agent agent = agent(policy().withOnTimeout(OnTimeout.CANCEL_REQUESTED)).build();
    Duration other = LIMIT.dividedBy(2);
    Invocation sooner = Invocation.builder().policy(RunPolicy.NONE.withTimeout(other)).build();

    AgentResult result =
        after(other, () -> program.agents.run(request(agent).invocation(sooner).build()));

    assertEquals(RunStatus.CANCELLED, result.status(), "what it does is the agent's");
  }

  @Test
  @Tag("A25")
  @Tag("A143")
  void a_stream_ends_with_the_timeout() throws Exception {
    Program program =
        Program.on(
            store,
            FakeModel.of(
                FakeModel.telling(
                    (call, events) -> {
                      there.countDown();
                      new CountDownLatch(1).await();
                      throw new AssertionError("nobody opens that latch");
                    })));
    this.program = Optional.of(program);
    Agent agent = agent(policy()).build();
    List<AgentEvent> events = new ArrayList<>();

    after(
        LIMIT,
        () -> {
          try (AgentStream stream = program.agents.stream(request(agent).build())) {
            stream.forEach(events::add);
            return stream.collect();
          }
        });

    assertEquals(1, events.stream().filter(RunFinish.class::isInstance).count());
    assertEquals(RunStatus.TIMED_OUT, ((RunFinish) events.getLast()).status());
    assertEquals("RunTimedOut", lastTypes(1).getFirst());
  }

  @Test
  @Tag("A73")
  void the_timeout_is_held_to_its_bounds() {
    for (Duration wrong : List.of(Duration.ZERO, Duration.ofMillis(-1), Duration.ofDays(3651))) {
      InvalidRequestException refusal =
          assertThrows(InvalidRequestException.class, () -> RunPolicy.NONE.withTimeout(wrong));
      assertTrue(refusal.getMessage().contains(wrong.toString()), refusal.getMessage());
    }
  }
}
