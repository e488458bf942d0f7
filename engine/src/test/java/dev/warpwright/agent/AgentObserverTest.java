package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.AgentTelemetry.ApprovalRequest;
import dev.warpwright.agent.AgentTelemetry.ApprovalResolved;
import dev.warpwright.agent.AgentTelemetry.Event;
import dev.warpwright.agent.AgentTelemetry.EventsAppended;
import dev.warpwright.agent.AgentTelemetry.InvocationFinish;
import dev.warpwright.agent.AgentTelemetry.InvocationStart;
import dev.warpwright.agent.AgentTelemetry.RunFinish;
import dev.warpwright.agent.AgentTelemetry.RunStart;
import dev.warpwright.agent.AgentTelemetry.StepFinish;
import dev.warpwright.agent.AgentTelemetry.StepStart;
import dev.warpwright.agent.AgentTelemetry.ToolFinish;
import dev.warpwright.agent.AgentTelemetry.ToolStart;
import dev.warpwright.agent.HookFailure.Hook;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.HookFailedException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Usage;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Cancellation;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Guardrail;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an observer of agents is told, and what its failures mean. */
@Timeout(60)
final class AgentObserverTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @RegisterExtension private final LeakCheck leaks = new LeakCheck();
  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final List<AgentTelemetry> told = Collections.synchronizedList(new ArrayList<>());
  private final List<HookFailure> failures = Collections.synchronizedList(new ArrayList<>());

  private Program program(FakeModel.Answer... answers) {
    Program program = Program.on(store, FakeModel.of(answers));
    leaks.watch(program.gateway);
    leaks.watch(program.time);
    return program;
  }

  private Agents observed(Program program) {
    return observed(program, told::add, HookFailurePolicy.IGNORE);
  }

  private Agents observed(Program program, AgentObserver observer, HookFailurePolicy policy) {
    return Agents.builder(program.gateway)
        .store(program.store)
        .observer(observer)
        .hookFailures(policy.onError(failures::add))
        .build();
  }

  private static Agent agent(Tool... tools) {
    return Agent.builder("agent", Program.ROUTE).tools(tools).build();
  }

  private Agent refunding() {
    return agent(world.tool("refund", EffectClass.ONCE).requiresApproval().build());
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1").build();
  }

  private static Usage usage(long input, long output) {
    return Usage.reported(input, output).completed("", "");
  }

  private void flush(Program program) {
    assertTrue(program.gateway.flushObservers(PATIENCE));
  }

  private List<Event> events() {
    return List.copyOf(told).stream().map(AgentTelemetry::event).toList();
  }

  private <E extends Event> List<E> events(Class<E> type) {
    return events().stream().filter(type::isInstance).map(type::cast).toList();
  }

  @Test
  @Tag("A15")
  @Tag("A23")
  @Tag("A140")
  void an_observer_is_told_what_an_invocation_does_in_the_order_in_which_it_does_it() {
    Program program = program(calls(call("c1", "refund", "o1")), text("Refunded."));
    Agents agents = observed(program);

    AgentResult waiting = agents.run(request(refunding()));
    flush(program);

    String requestId = waiting.pendingApprovals().getFirst().requestId();
    assertEquals(
        List.of(
            new InvocationStart(),
            new RunStart(events(RunStart.class).getFirst().operationId(), 0, 10),
            new EventsAppended(1, List.of("RunStarted")),
            new EventsAppended(2, List.of("StepStarted")),
            new StepStart(1),
            new EventsAppended(
                3, List.of("RouteBound", "ModelResponded", "ApprovalRequested", "RunSuspended")),
            new ApprovalRequest(requestId, 1, "c1", "refund"),
            new RunFinish(
                RunStatus.WAITING_APPROVAL, Optional.empty(), 1, usage(10, 5), Optional.empty()),
            new InvocationFinish(Optional.empty(), Optional.empty())),
        events());

    told.clear();
    AgentResult done = agents.resume(refunding(), RUN, ApprovalDecision.approve(requestId));
    flush(program);

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(
        List.of(
            new InvocationStart(),
            new RunStart(events(RunStart.class).getFirst().operationId(), 1, 10),
            new EventsAppended(7, List.of("ApprovalDecided", "RunResumed")),
            new ApprovalResolved(requestId, true),
            new EventsAppended(9, List.of("ToolStarted")),
            new ToolStart(1, "c1", "refund", 1),
            new EventsAppended(10, List.of("ToolFinished", "StepStarted")),
            new ToolFinish(1, "c1", "refund", true, false, Duration.ZERO),
            new StepFinish(1, Program.TARGET, FinishReason.Kind.TOOL_CALLS, usage(10, 5), 1, 1),
            new StepStart(2),
            new EventsAppended(12, List.of("ModelResponded", "RunCompleted")),
            new StepFinish(2, Program.TARGET, FinishReason.Kind.STOP, usage(10, 5), 1, 0),
            new RunFinish(
                RunStatus.COMPLETED, Optional.empty(), 2, usage(20, 10), Optional.empty()),
            new InvocationFinish(Optional.empty(), Optional.empty())),
        events());
    assertEquals(
        1, List.copyOf(told).stream().map(AgentTelemetry::invocationId).distinct().count());
    assertEquals(Optional.of(RUN), told.getLast().run());
    assertEquals("agent", told.getFirst().agentId());
    assertEquals(program.time.now(), told.getFirst().time());
  }

  @Test
  void a_stream_tells_the_same_as_a_blocking_run() {
    Agent agent = agent(world.tool("note", EffectClass.IDEMPOTENT).build());
    Program blocking = Program.with(calls(call("c1", "note", "o1")), text("Noted."));
    leaks.watch(blocking.gateway);
    observed(blocking).run(request(agent));
    flush(blocking);
    List<String> first = told.stream().map(AgentObserverTest::plain).toList();
    told.clear();

    Program streaming = program(calls(call("c1", "note", "o1")), text("Noted."));
    try (AgentStream stream = observed(streaming).stream(request(agent))) {
      stream.collect();
    }
    flush(streaming);

    assertEquals(first, told.stream().map(AgentObserverTest::plain).toList());
  }

  private static String plain(AgentTelemetry telemetry) {
    return telemetry.event() instanceof RunStart ? "RunStart" : telemetry.event().toString();
  }

  @Test
  @Tag("A143")
  void a_run_that_had_ended_before_is_told_to_be_finished_and_nothing_else() {
    Program program = program(text("Hello."));
    program.agents.run(request(agent()));

    observed(program).resume(agent(), RUN);
    flush(program);

    assertEquals(
        List.of("InvocationStart", "RunFinish", "InvocationFinish"),
        events().stream().map(event -> event.getClass().getSimpleName()).toList());
    assertEquals(RunStatus.COMPLETED, events(RunFinish.class).getFirst().status());
  }

  @Test
  @Tag("A15")
  void an_invocation_that_is_refused_is_told_too() {
    Program program = program(text("Hello."));
    program.agents.run(request(agent()));

    assertThrows(ConflictException.class, () -> observed(program).run(request(agent())));
    flush(program);

    assertEquals(
        List.of(
            new InvocationStart(),
            new InvocationFinish(
                Optional.of(ConflictException.class.getName()), Optional.of(FailureKind.CONFLICT))),
        events());
  }

  static List<Scenario> scenarios() {
    return Scenario.all();
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("A143")
  void every_invocation_tells_one_end_of_its_run_which_is_the_log_s(Scenario scenario) {
    Program program =
        Program.on(store, FakeModel.of(scenario.answers()), FakeModel.of(scenario.spare()));
    leaks.watch(program.gateway);
    Agents agents = observed(program);
    Agent agent = scenario.agent(world);

    AgentResult result = agents.run(request(agent));
    flush(program);
    assertOneEnd(program);
    if (result.status() == RunStatus.WAITING_APPROVAL) {
      told.clear();
      agents.resume(agent, RUN, scenario.decide().apply(result.pendingApprovals().getFirst()));
      flush(program);
      assertOneEnd(program);
    }
  }

  /** That exactly one end was told, and that it is the one in the log. */
  private void assertOneEnd(Program program) {
    RunState state = RunState.of(program.log(RUN));
    List<RunFinish> ends = events(RunFinish.class);
    assertEquals(1, ends.size(), () -> events().toString());
    assertEquals(state.status(), ends.getFirst().status());
    assertEquals(state.failure().map(RunFailed::kind), ends.getFirst().failure());
    assertEquals(state.usage(), ends.getFirst().usage());
    assertEquals(state.step(), ends.getFirst().steps());
    assertInstanceOf(InvocationFinish.class, events().getLast());
    assertInstanceOf(RunFinish.class, events().get(events().size() - 2));
    assertEquals(1, events(InvocationFinish.class).size());
  }

  @Test
  @Tag("A143")
  void an_invocation_that_its_caller_cancels_tells_how_it_left_the_run() {
    Cancellation cancellation = new Cancellation();
    Program program =
        program(
            call -> {
              cancellation.cancel("enough");
              throw new InterruptedException();
            });
    AgentRequest request =
        AgentRequest.builder(agent(), "Do it.")
            .runId("run-1")
            .invocation(Invocation.builder().cancellation(cancellation).build())
            .build();

    assertThrows(OperationCancelledException.class, () -> observed(program).run(request));
    flush(program);

    assertOneEnd(program);
    assertEquals(RunStatus.FAILED, events(RunFinish.class).getFirst().status());
    assertEquals(
        Optional.of(FailureKind.CANCELLED), events(InvocationFinish.class).getFirst().kind());
  }

  @Test
  @Tag("A140")
  void a_guardrail_that_triggers_is_told_without_its_words() {
    Program program = program(text("never"));
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .inputGuardrails(Guardrail.of("words", seen -> Guardrail.Verdict.trigger("PRIVATE")))
            .build();

    observed(program).run(request(agent));
    flush(program);

    assertEquals(
        List.of(new AgentTelemetry.GuardrailTriggered(GuardrailStage.INPUT, "words")),
        events(AgentTelemetry.GuardrailTriggered.class));
    assertFalse(told.toString().contains("PRIVATE"));
    assertOneEnd(program);
  }

  @Test
  @Tag("A142")
  void nothing_that_anybody_said_is_told() {
    String secret = "PRIVATE";
    Tool failing =
        Tool.of(
            "refund",
            "Fails.",
            World.Order.class,
            EffectClass.ONCE,
            (input, context) -> {
              throw new ToolException(secret);
            });
    Program program = program(calls(call("c1", "refund", secret)), text(secret), status(400));
    Agent agent = Agent.builder("agent", Program.ROUTE).instructions(secret).tools(failing).build();
    AgentRequest request =
        AgentRequest.builder(agent, secret).runId("run-1").metadata(Map.of("note", secret)).build();

    observed(program).run(request);
    flush(program);

    assertTrue(events(ToolFinish.class).getFirst().error());
    assertFalse(told.toString().contains(secret), told::toString);
    assertTrue(program.log(RUN).stream().anyMatch(logged -> content(logged).contains(secret)));
  }

  private static String content(LoggedEvent logged) {
    return new String(RunEventCodec.encode(logged), StandardCharsets.UTF_8);
  }

  @Test
  @Tag("A141")
  void an_observer_that_throws_changes_nothing_and_is_reported() {
    Program program = program(text("Hello."));
    RuntimeException broken = new IllegalStateException("broken");
    Agents agents =
        observed(
            program,
            telemetry -> {
              told.add(telemetry);
              throw broken;
            },
            HookFailurePolicy.IGNORE);

    AgentResult result = agents.run(request(agent()));
    flush(program);

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(told.size(), failures.size());
    assertEquals(told.size(), program.gateway.diagnostics().observerFailures());
    assertEquals(
        new HookFailure(Hook.OBSERVER, "agent", Optional.empty(), broken), failures.getFirst());
    assertEquals(
        new HookFailure(Hook.OBSERVER, "agent", Optional.of(RUN), broken), failures.getLast());
    assertFalse(failures.toString().contains("broken"));
  }

  @Test
  @Tag("A141")
  void an_observer_that_hangs_holds_nobody_up_and_is_reported_when_its_time_is_over()
      throws Exception {
    Program program = program(text("Hello."));
    CountDownLatch hangs = new CountDownLatch(1);
    Agents agents =
        observed(
            program,
            telemetry -> {
              told.add(telemetry);
              if (telemetry.event() instanceof InvocationStart) {
                hangs.countDown();
                awaitInterrupt();
              }
            },
            HookFailurePolicy.IGNORE);

    assertEquals(RunStatus.COMPLETED, agents.run(request(agent())).status());
    assertTrue(hangs.await(30, TimeUnit.SECONDS));
    assertEquals(1, told.size(), "the others wait behind it");
    program.time.awaitAlarmIn(Duration.ofSeconds(1));
    program.time.advance(Duration.ofSeconds(1));
    flush(program);

    assertEquals(1, failures.size());
    assertInstanceOf(TimeoutException.class, failures.getFirst().cause());
    assertEquals(1, events(RunFinish.class).size());
  }

  private static void awaitInterrupt() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  @Tag("A143")
  void what_finds_the_queue_full_is_dropped_and_counted_but_never_the_end() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    Program program =
        Program.having(store, FakeModel.of(text("Hello.")), builder -> builder.observerQueue(1));
    leaks.watch(program.gateway);
    Agents agents =
        observed(
            program,
            telemetry -> {
              await(gate);
              told.add(telemetry);
            },
            HookFailurePolicy.IGNORE);

    agents.run(request(agent()));
    assertTrue(program.gateway.diagnostics().droppedObservers() > 0);
    gate.countDown();
    flush(program);

    assertOneEnd(program);
  }

  private static void await(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Fails at the n-th thing that it is told, and only there. */
  private AgentObserver failingAt(int n) {
    AtomicInteger count = new AtomicInteger();
    return telemetry -> {
      told.add(telemetry);
      if (count.incrementAndGet() == n) {
        throw new IllegalStateException("broken");
      }
    };
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("A141")
  void wherever_an_observer_fails_it_ends_the_run_if_the_policy_says_so(boolean streamed) {
    Agent agent = agent(world.tool("note", EffectClass.IDEMPOTENT).build());
    int failing = 1;
    while (true) {
      Program program = Program.with(calls(call("c1", "note", "o1")), text("Noted."));
      leaks.watch(program.gateway);
      told.clear();
      failures.clear();
      Agents agents = observed(program, failingAt(failing), HookFailurePolicy.FAIL);
      Optional<AgentResult> result = Optional.empty();
      Optional<HookFailedException> thrown = Optional.empty();
      try {
        result = Optional.of(run(agents, request(agent), streamed));
      } catch (HookFailedException e) {
        thrown = Optional.of(e);
      }
      flush(program);
      if (told.size() < failing) {
        assertEquals(RunStatus.COMPLETED, result.orElseThrow().status());
        return; // there was nothing to fail at
      }
      String where = "failing at " + told.get(failing - 1).event();
      assertEquals(1, failures.size(), where);
      boolean failed =
          result
              .map(AgentResult::state)
              .flatMap(RunState::failure)
              .filter(end -> end.kind() == FailureKind.INTERNAL && end.resumable())
              .isPresent();
      assertTrue(failed || thrown.isPresent(), where);
      if (!program.log(RUN).isEmpty()) {
        assertOneEnd(program);
        AgentResult resumed = program.agents.resume(agent, RUN);
        assertEquals(RunStatus.COMPLETED, resumed.status(), where);
      }
      failing++;
    }
  }

  private static AgentResult run(Agents agents, AgentRequest request, boolean streamed) {
    if (!streamed) {
      return agents.run(request);
    }
    try (AgentStream stream = agents.stream(request)) {
      return stream.collect();
    }
  }

  @Test
  void without_an_observer_nothing_is_called() {
    Program program = program(text("Hello."));

    program.agents.run(request(agent()));

    assertEquals(0, program.gateway.diagnostics().pendingObservers());
    assertEquals(0, program.gateway.tasks().liveCount());
  }
}
