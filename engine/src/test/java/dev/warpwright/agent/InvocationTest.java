package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static dev.warpwright.agent.Prices.usd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.model.BudgetDeniedException;
import dev.warpwright.model.Capability;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Reasoning;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Cancellation;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What belongs to one invocation of a run: who pays, how it is cancelled. */
@Timeout(60)
final class InvocationTest {
  private static final String ACCOUNT = "acme-2026-11";
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final Cancellation cancellation = new Cancellation();
  private Optional<Program> program = Optional.empty();

  @AfterEach
  void nothingIsLeft() {
    program.ifPresent(Program::assertNothingIsLeft);
  }

  private Program program(FakeModel model) {
    program = Optional.of(Program.on(store, model));
    return program.get();
  }

  private Program withBudget(BudgetStore budget, FakeModel.Answer... answers) {
    Program made =
        Program.having(
            store,
            FakeModel.of(answers),
            gateway ->
                gateway
                    .costAccounting(Prices.accounting())
                    .budget(budget, ReservationRule.fixed(usd("0.50"))));
    program = Optional.of(made);
    return made;
  }

  private static Agent.Builder agent(Tool... tools) {
    return Agent.builder("agent", Program.ROUTE).tools(tools);
  }

  private static AgentRequest request(Agent agent, Invocation invocation) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1").invocation(invocation).build();
  }

  private Invocation cancellable() {
    return Invocation.builder().cancellation(cancellation).build();
  }

  private static Invocation paidBy(String account) {
    return Invocation.builder().budgetScope(account).build();
  }

  @Test
  @Tag("R318")
  void a_run_is_paid_by_the_account_of_its_invocation() {
    BudgetStore budget = BudgetStore.local(usd("1"));
    Program program = withBudget(budget, calls(call("c1", "refund", "o1")), text("Done."));
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).requiresApproval().build()).build();

    AgentResult waiting = program.agents.run(request(agent, paidBy(ACCOUNT)));
    assertEquals(usd("0.02"), budget.snapshot(ACCOUNT).spent());

    AgentResult done =
        program.agents.resume(
            agent,
            RUN,
            waiting.pendingApprovals().stream()
                .map(asked -> dev.warpwright.run.ApprovalDecision.approve(asked.requestId()))
                .toList(),
            paidBy("another"));
    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(usd("0.02"), budget.snapshot(ACCOUNT).spent());
    assertEquals(usd("0.02"), budget.snapshot("another").spent());
  }

  @Test
  @Tag("R318")
  void without_an_account_nothing_is_stored_on_a_gateway_with_a_budget() {
    Program program = withBudget(BudgetStore.local(usd("1")), text("Done."));

    var _ =
        assertThrows(
            BudgetDeniedException.class,
            () -> program.agents.run(request(agent().build(), Invocation.DEFAULT)));

    assertEquals(List.of(), program.runs());
  }

  @Test
  @Tag("A12")
  void a_run_whose_account_was_empty_goes_on_when_somebody_else_pays() {
    BudgetStore budget = BudgetStore.local(usd("0.51"));
    Program program = withBudget(budget, calls(call("c1", "refund", "o1")), text("Done."));
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).build()).build();

    AgentResult broke = program.agents.run(request(agent, paidBy(ACCOUNT)));
    assertEquals(RunStatus.FAILED, broke.status());
    assertEquals(FailureKind.BUDGET_DENIED, broke.state().failure().orElseThrow().kind());
    assertEquals(Optional.of(usd("0.02")), broke.cost().orElseThrow().amount());

    AgentResult done = program.agents.resume(agent, RUN, List.of(), paidBy("another"));
    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A12")
  @Tag("A25")
  @Tag("A29")
  @Tag("R116")
  void the_callers_cancel_ends_a_model_call_and_leaves_the_run_resumable() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    Program program =
        program(
            FakeModel.of(
                call -> {
                  if (!cancellation.isCancelled()) {
                    asked.countDown();
                    new CountDownLatch(1).await();
                  }
                  return text("Done.").give(call);
                }));
    Agent agent = agent().build();

    OperationCancelledException thrown =
        cancelledWhile(() -> program.agents.run(request(agent, cancellable())), asked);

    assertEquals(Optional.of("run-1"), thrown.trace().runId());
    assertTrue(String.valueOf(thrown.getMessage()).contains("stop button"), thrown.getMessage());
    RunState state = program.agents.runs().state(RUN).orElseThrow();
    assertEquals(RunStatus.FAILED, state.status());
    assertEquals(FailureKind.CANCELLED, state.failure().orElseThrow().kind());
    assertEquals("Done.", program.agents.resume(agent, RUN).text());
  }

  @Test
  @Tag("A12")
  @Tag("A25")
  @Tag("R116")
  void the_callers_cancel_interrupts_tools_and_a_resume_runs_them_again() throws Exception {
    CountDownLatch acting = new CountDownLatch(1);
    Tool note =
        Tool.of(
            "note",
            "Notes.",
            World.Order.class,
            EffectClass.IDEMPOTENT,
            (input, context) -> {
              if (!cancellation.isCancelled()) {
                acting.countDown();
                new CountDownLatch(1).await();
              }
              return world.act("note", input, context);
            });
    Program program = program(FakeModel.of(calls(call("c1", "note", "o1")), text("Noted.")));
    Agent agent = agent(note).build();

    var thrown = cancelledWhile(() -> program.agents.run(request(agent, cancellable())), acting);

    assertEquals(Optional.of("run-1"), thrown.trace().runId());
    assertEquals(List.of(), world.effects());
    assertEquals("Noted.", program.agents.resume(agent, RUN).text());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A25")
  @Tag("A108")
  void a_caller_that_waits_for_another_driver_can_be_cancelled_and_leaves_the_run_alone()
      throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch open = new CountDownLatch(1);
    Program program =
        program(
            FakeModel.of(
                call -> {
                  asked.countDown();
                  open.await();
                  return text("Done.").give(call);
                }));
    AgentRequest.Builder keyed =
        AgentRequest.builder(agent().build(), "Do it.").runId("run-1").idempotencyKey("key");
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> program.agents.run(keyed.build()));
      asked.await();
      WaitingStore watched = new WaitingStore(store);
      Program other = Program.on(watched, FakeModel.of());
      AgentRequest waiting = keyed.invocation(cancellable()).build();

      var thrown = cancelledWhile(() -> other.agents.run(waiting), watched.waiting);

      assertEquals(Optional.of("run-1"), thrown.trace().runId());
      assertEquals(List.of(), other.gateway.diagnostics().liveTasks());
      open.countDown();
      assertEquals(RunStatus.COMPLETED, driver.get().status());
    }
  }

  /** Calls on another thread, cancels when it got there, and gives what the call threw. */
  private OperationCancelledException cancelledWhile(
      java.util.concurrent.Callable<AgentResult> call, CountDownLatch there) throws Exception {
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> caller = pool.submit(call);
      there.await();
      cancellation.cancel("stop button");
      var failure = assertThrows(ExecutionException.class, caller::get);
      return (OperationCancelledException) failure.getCause();
    }
  }

  @Test
  @Tag("A25")
  @Tag("A29")
  void a_handle_that_is_cancelled_already_stores_nothing_and_names_the_run_of_a_resume() {
    Program program = program(FakeModel.of(status(503)));
    Agent agent = agent().build();
    cancellation.cancel("too late");

    var fresh =
        assertThrows(
            OperationCancelledException.class,
            () -> program.agents.run(request(agent, cancellable())));
    assertEquals(Optional.empty(), fresh.trace().runId());
    assertEquals(List.of(), program.runs());

    AgentResult failed = program.agents.run(request(agent, Invocation.DEFAULT));
    List<String> log = program.types(RUN);
    var byId =
        assertThrows(
            OperationCancelledException.class,
            () -> program.agents.resume(agent, RUN, List.of(), cancellable()));
    var byLog =
        assertThrows(
            OperationCancelledException.class,
            () -> program.agents.resume(agent, failed.log(), List.of(), cancellable()));
    assertEquals(Optional.of("run-1"), byId.trace().runId());
    assertEquals(Optional.of("run-1"), byLog.trace().runId());
    assertEquals(log, program.types(RUN));
  }

  @Test
  @Tag("R170")
  void what_the_agent_says_of_its_model_calls_reaches_them() {
    List<ModelCall> seen = new CopyOnWriteArrayList<>();
    Program program =
        program(
            FakeModel.of(
                    call -> {
                      seen.add(call);
                      return text("Done.").give(call);
                    })
                .declaring(Capability.REASONING, Capability.VISION));
    Json options = Json.parse("{\"tier\":\"flex\"}");
    Agent thinking =
        agent()
            .reasoning(Reasoning.budget(2_000))
            .providerOptions("fake", options)
            .requiredCapabilities(Capability.VISION)
            .build();

    AgentResult result = program.agents.run(request(thinking, Invocation.DEFAULT));

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(Optional.of(Reasoning.budget(2_000)), seen.getFirst().reasoning());
    assertEquals(options, seen.getFirst().providerOptions());

    Agent choosy = agent().requiredCapabilities(Capability.TOOLS).build();
    AgentResult refused =
        program.agents.run(AgentRequest.builder(choosy, "Do it.").runId("run-2").build());
    assertEquals(FailureKind.NO_ELIGIBLE_TARGET, refused.state().failure().orElseThrow().kind());
    assertEquals(1, seen.size());
  }

  @Test
  void options_out_of_their_bounds_are_refused_with_bound_and_value() {
    Invocation.Builder builder = Invocation.builder();
    assertRefused(
        "timeout must be between 1 ms and 2147483647 ms, but is PT0S.",
        () -> builder.timeout(Duration.ZERO));
    assertRefused(
        "timeout must be between 1 ms and 2147483647 ms, but is PT9999H.",
        () -> builder.timeout(Duration.ofHours(9999)));
    assertRefused(
        "budgetScope must have 1 to 256 characters and not be blank, but has 1.",
        () -> builder.budgetScope(" "));
    assertRefused(
        "budgetScope must have 1 to 256 characters and not be blank, but has 257.",
        () -> builder.budgetScope("x".repeat(257)));
    assertFalse(paidBy("acme").toString().contains("acme"));
  }

  private static void assertRefused(String message, org.junit.jupiter.api.function.Executable act) {
    assertEquals(message, assertThrows(InvalidRequestException.class, act).getMessage());
  }

  @Test
  void a_result_has_the_finished_tree_of_its_invocation_and_none_if_it_was_only_read() {
    Program program = program(FakeModel.of(calls(call("c1", "refund", "o1")), text("Done.")));
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).build()).build();
    AgentRequest request =
        AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build();

    AgentResult result = program.agents.run(request);

    String tree = result.tasks().orElseThrow().toString();
    assertTrue(tree.contains("attempt 1 fake/model (attempt)"), tree);
    assertTrue(tree.contains("tool refund (tool)"), tree);
    assertTrue(tree.contains("attempt 2 fake/model (attempt)"), tree);
    assertFalse(tree.contains("RUNNING"), tree);
    assertEquals(Optional.empty(), program.agents.run(request).tasks());
    assertEquals(Optional.empty(), program.agents.resume(agent, RUN).tasks());
  }
}
