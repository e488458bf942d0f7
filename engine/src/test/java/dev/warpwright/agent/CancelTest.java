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

import dev.warpwright.model.Attempt;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.run.Append;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunCancelled;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunListener;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Writer;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs that are cancelled: while nobody drives them, and under a driver's hands. */
@Timeout(60)
final class CancelTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final Runs runs = Runs.in(store);
  private Optional<Program> program = Optional.empty();

  @AfterEach
  void nothingIsLeft() {
    program.ifPresent(Program::assertNothingIsLeft);
  }

  private Program program(RunStore store, FakeModel.Answer... answers) {
    program = Optional.of(Program.on(store, FakeModel.of(answers)));
    return program.get();
  }

  private Program program(FakeModel.Answer... answers) {
    return program(store, answers);
  }

  private static Agent.Builder agent(Tool... tools) {
    return Agent.builder("agent", Program.ROUTE).tools(tools);
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build();
  }

  private List<String> lastTypes(int count) {
    List<String> types = program.orElseThrow().types(RUN);
    return types.subList(types.size() - count, types.size());
  }

  /**
   * A store in which somebody cancels the run just before a certain append of its driver, who hears
   * of it by that append alone, as when the request comes from another process.
   */
  private RunStore cancelledBefore(Predicate<RunEvent> event) {
    AtomicBoolean once = new AtomicBoolean();
    return new WaitingStore(
        store,
        append -> {
          if (append.events().stream().anyMatch(event) && !once.getAndSet(true)) {
            var _ = runs.cancel(RUN, "not needed");
          }
        }) {
      @Override
      public Watch watch(RunKey run, RunListener listener) {
        return () -> {};
      }
    };
  }

  /** Runs on another thread and cancels the run once it got there. */
  private AgentResult cancelledWhile(Program program, Agent agent, CountDownLatch there)
      throws Exception {
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> program.agents.run(request(agent)));
      there.await();
      RunState asked = runs.cancel(RUN, "not needed");
      assertTrue(asked.cancellation().isPresent());
      return driver.get();
    }
  }

  @Test
  @Tag("A131")
  @Tag("A136")
  @Tag("A12")
  void a_waiting_run_is_cancelled_at_once_and_never_goes_on() {
    Tool refund = world.tool("refund", EffectClass.ONCE).requiresApproval().build();
    Program program = program(calls(call("c1", "refund", "o1")), text("Never."));
    Agent agent = agent(refund).build();
    AgentResult waiting = program.agents.run(request(agent));
    String approval = waiting.pendingApprovals().getFirst().requestId();

    RunState state = runs.cancel(RUN, "not needed");

    assertEquals(RunStatus.CANCELLED, state.status());
    assertTrue(state.isTerminal());
    assertEquals(Optional.of("not needed"), state.cancellation().orElseThrow().reason());
    assertEquals(List.of("RunSuspended", "CancelRequested", "RunCancelled"), lastTypes(3));
    assertEquals(List.of(), runs.waiting(RunScope.DEFAULT));
    List<String> log = program.types(RUN);
    assertEquals(RunStatus.CANCELLED, program.agents.run(request(agent)).status());
    assertEquals(RunStatus.CANCELLED, program.agents.resume(agent, RUN).status());
    var _ =
        assertThrows(
            ConflictException.class,
            () -> program.agents.resume(agent, RUN, ApprovalDecision.approve(approval)));
    assertEquals(log, program.types(RUN));
    assertEquals(List.of(), world.effects());
    var thrown =
        assertThrows(RunFailedException.class, () -> program.agents.resume(agent, RUN).orThrow());
    assertEquals(FailureKind.CANCELLED, thrown.kind());
    assertFalse(thrown.resumable());
  }

  @Test
  @Tag("A11")
  @Tag("A131")
  void an_ended_run_stays_as_it_is_and_a_failed_one_that_could_go_on_cannot_any_more() {
    Program program = program(text("Done."));
    Agent agent = agent().build();
    var _ = program.agents.run(request(agent));
    List<String> log = program.types(RUN);

    assertEquals(RunStatus.COMPLETED, runs.cancel(RUN).status());
    assertEquals(log, program.types(RUN));

    RunKey failed = new RunKey(RunScope.DEFAULT, "run-2");
    Program failing = Program.on(store, FakeModel.of(status(503)));
    var _ = failing.agents.run(AgentRequest.builder(agent, "Do it.").runId("run-2").build());
    assertEquals(RunStatus.CANCELLED, runs.cancel(failed).status());
    assertEquals(Optional.empty(), runs.state(failed).orElseThrow().failure());
    assertEquals(RunStatus.CANCELLED, runs.cancel(failed).status());
    assertEquals(RunStatus.CANCELLED, failing.agents.resume(agent, failed).status());
    assertEquals(1, failing.log(failed).stream().filter(e -> isCancelled(e.event())).count());
  }

  private static boolean isCancelled(RunEvent event) {
    return event instanceof RunCancelled;
  }

  @Test
  @Tag("A131")
  void a_reason_that_says_nothing_and_a_run_that_is_not_there_are_refused() {
    assertThrows(InvalidRequestException.class, () -> runs.cancel(RUN));
    var refused = assertThrows(InvalidRequestException.class, () -> runs.cancel(RUN, " "));
    assertEquals(
        "The reason of a cancel must have 1 to 1024 characters and not be blank, but has 1.",
        refused.getMessage());
  }

  @Test
  @Tag("A25")
  @Tag("A132")
  @Tag("A29")
  void a_cancel_stops_the_model_call_of_a_driver_at_once() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    AtomicBoolean interrupted = new AtomicBoolean();
    Program program =
        program(
            call -> {
              asked.countDown();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                interrupted.set(true);
                throw e;
              }
              return text("Never.").give(call);
            });

    AgentResult result = cancelledWhile(program, agent().build(), asked);

    assertTrue(interrupted.get());
    assertEquals(RunStatus.CANCELLED, result.status());
    assertTrue(result.driven());
    assertEquals(List.of("StepStarted", "CancelRequested", "RunCancelled"), lastTypes(3));
    RunCancelled end = (RunCancelled) program.events(RUN).getLast();
    assertEquals(Attempt.ReasonCode.REQUEST_ABORTED, end.attempts().getFirst().reasonCode());
  }

  @Test
  @Tag("C47")
  @Tag("A133")
  @Tag("A127")
  void an_answer_that_was_paid_for_is_kept_and_none_of_its_tools_runs() {
    Program program =
        program(
            cancelledBefore(ModelResponded.class::isInstance),
            calls(call("c1", "refund", "o1")),
            text("Never."));
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).build()).build();

    AgentResult result = program.agents.run(request(agent));

    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals(
        List.of("CancelRequested", "RouteBound", "ModelResponded", "RunCancelled"), lastTypes(4));
    assertEquals(10, result.state().usage().input().tokens());
    assertEquals(List.of(), world.effects());
  }

  @Test
  @Tag("A133")
  @Tag("A136")
  void a_final_answer_that_comes_after_the_cancel_is_kept_and_does_not_complete_the_run() {
    Program program = program(cancelledBefore(ModelResponded.class::isInstance), text("Done."));

    AgentResult result = program.agents.run(request(agent().build()));

    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals("Done.", result.text());
    assertEquals(List.of("ModelResponded", "RunCancelled"), lastTypes(2));
  }

  @Test
  @Tag("A127")
  @Tag("A136")
  void a_driver_whose_append_meets_the_cancel_begins_no_model_call() {
    Program program =
        program(
            cancelledBefore(RunEvent.StepStarted.class::isInstance),
            call -> {
              throw new AssertionError("asked after the cancel");
            });

    AgentResult result = program.agents.run(request(agent().build()));

    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals(List.of("RunStarted", "CancelRequested", "RunCancelled"), program.types(RUN));
  }

  @Test
  @Tag("A132")
  @Tag("A136")
  void a_cancel_during_a_tool_keeps_the_next_one_from_running() {
    Tool cancelling =
        Tool.of(
            "note",
            "Notes.",
            World.Order.class,
            EffectClass.IDEMPOTENT,
            (input, context) -> {
              var _ = runs.cancel(RUN);
              return world.act("note", input, context);
            });
    Program program =
        program(calls(call("c1", "note", "o1"), call("c2", "refund", "o1")), text("Never."));
    Agent agent =
        agent(cancelling, world.tool("refund", EffectClass.ONCE).build())
            .toolExecution(ToolExecution.DEFAULT.withMaxConcurrency(1))
            .build();

    AgentResult result = program.agents.run(request(agent));

    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals(1, world.effects().size());
    assertEquals(
        List.of("note"),
        program.events(RUN).stream()
            .filter(ToolStarted.class::isInstance)
            .map(event -> ((ToolStarted) event).tool())
            .toList());
  }

  @Test
  @Tag("A127")
  @Tag("A136")
  void a_tool_whose_intent_meets_the_cancel_does_not_run() {
    Program program =
        program(
            cancelledBefore(
                event -> event instanceof ToolStarted intent && intent.tool().equals("refund")),
            calls(call("c1", "note", "o1"), call("c2", "refund", "o1")),
            text("Never."));
    Agent agent =
        agent(
                world.tool("note", EffectClass.IDEMPOTENT).build(),
                world.tool("refund", EffectClass.ONCE).build())
            .toolExecution(ToolExecution.DEFAULT.withMaxConcurrency(1))
            .build();

    AgentResult result = program.agents.run(request(agent));

    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals(List.of("note"), world.effects().stream().map(World.Effect::tool).toList());
    // The outcome of the first one was to be written with the intent of the second.
    assertEquals(List.of("CancelRequested", "ToolFinished", "RunCancelled"), lastTypes(3));
  }

  /** A ONCE tool that says when it is at work, and what it does when it is interrupted. */
  private Tool refund(CountDownLatch atWork, boolean finishes) {
    return Tool.of(
        "refund",
        "Refunds.",
        World.Order.class,
        EffectClass.ONCE,
        (input, context) -> {
          atWork.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            if (!finishes) {
              throw e;
            }
          }
          return world.act("refund", input, context);
        });
  }

  @Test
  @Tag("A134")
  void the_outcome_of_a_once_tool_that_ends_within_the_grace_is_kept() throws Exception {
    CountDownLatch atWork = new CountDownLatch(1);
    Program program = program(calls(call("c1", "refund", "o1")), text("Never."));

    AgentResult result = cancelledWhile(program, agent(refund(atWork, true)).build(), atWork);

    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals(1, world.effects().size());
    assertEquals(
        List.of("ToolStarted", "CancelRequested", "ToolFinished", "RunCancelled"), lastTypes(4));
  }

  @Test
  @Tag("A56")
  @Tag("A134")
  void an_unknown_outcome_needs_its_verdict_before_the_cancel_takes_effect() throws Exception {
    CountDownLatch atWork = new CountDownLatch(1);
    Program program = program(calls(call("c1", "refund", "o1")), text("Never."));
    Agent agent = agent(refund(atWork, false)).build();

    AgentResult result = cancelledWhile(program, agent, atWork);

    assertEquals(RunStatus.NEEDS_RECONCILIATION, result.status());
    assertTrue(result.state().cancellation().isPresent());
    assertEquals(List.of("CancelRequested", "RunSuspended"), lastTypes(2));
    assertEquals(Optional.empty(), ((RunSuspended) program.events(RUN).getLast()).intendedEnd());
    assertEquals(1, runs.inDoubt(RunScope.DEFAULT).size());
    assertEquals(RunStatus.NEEDS_RECONCILIATION, runs.cancel(RUN).status());
    assertEquals(RunStatus.NEEDS_RECONCILIATION, program.agents.resume(agent, RUN).status());

    ToolStarted intent = result.inDoubt().getFirst().started().orElseThrow();
    RunState state =
        runs.reconcile(
            RUN,
            new ToolReconciled(
                "c1", intent.key(), Verdict.SUCCEEDED, Optional.of(Json.of("paid")), "ann"));
    assertEquals(RunStatus.CANCELLED, state.status());
    assertEquals(List.of("RunSuspended", "ToolReconciled", "RunCancelled"), lastTypes(3));
    assertEquals(List.of(), runs.inDoubt(RunScope.DEFAULT));
  }

  @Test
  @Tag("A56")
  @Tag("A131")
  void what_a_crash_left_in_doubt_needs_its_verdict_before_the_cancel_takes_effect()
      throws Exception {
    Program dying =
        Program.on(
            MortalStore.dyingAt(4, false, store), FakeModel.of(calls(call("c1", "refund", "o1"))));
    Agent agent = agent(world.reconciled("refund").build()).build();
    assertThrows(MortalStore.Crash.class, () -> dying.agents.run(request(agent)));
    store.release(RUN, owner());
    Program program = program(text("Never."));
    assertEquals(1, runs.state(RUN).orElseThrow().inDoubt().size());

    RunState state = runs.cancel(RUN);

    assertEquals(RunStatus.NEEDS_RECONCILIATION, state.status());
    assertEquals(List.of("CancelRequested", "RunSuspended"), lastTypes(2));
    AgentResult result = program.agents.resume(agent, RUN); // its reconciler knows
    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals(List.of("RunResumed", "ToolReconciled", "RunCancelled"), lastTypes(3));
    assertEquals(1, world.effects().size());
  }

  private Writer owner() {
    return store.load(RUN, 1, dev.warpwright.task.Deadline.never()).getLast().writer();
  }

  @Test
  @Tag("A62")
  @Tag("A134")
  void the_late_end_of_a_tool_that_was_given_up_lets_the_cancel_take_effect() throws Exception {
    CountDownLatch atWork = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    Tool stubborn =
        Tool.of(
            "refund",
            "Refunds.",
            World.Order.class,
            EffectClass.ONCE,
            (input, context) -> {
              atWork.countDown();
              awaitWhateverIsAsked(release);
              return world.act("refund", input, context);
            });
    Program program = program(calls(call("c1", "refund", "o1")), text("Never."));
    Agent agent = agent(stubborn).build();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> program.agents.run(request(agent)));
      atWork.await();
      var _ = runs.cancel(RUN);
      while (!driver.isDone()) {
        program.time.advance(Duration.ofMillis(100));
        Thread.onSpinWait();
      }
      assertEquals(RunStatus.NEEDS_RECONCILIATION, driver.get().status());
      assertEquals(RunStatus.NEEDS_RECONCILIATION, runs.cancel(RUN).status());

      release.countDown();
      while (!program.gateway.diagnostics().abandonedTasks().isEmpty()) {
        Thread.onSpinWait();
      }
    }
    assertEquals(RunStatus.CANCELLED, runs.state(RUN).orElseThrow().status());
    assertEquals(
        List.of("CancelRequested", "RunSuspended", "ToolFinished", "RunCancelled"), lastTypes(4));
  }

  private static void awaitWhateverIsAsked(CountDownLatch latch) {
    while (true) {
      try {
        latch.await();
        return;
      } catch (InterruptedException e) {
        // ignored: that is the point
      }
    }
  }

  @Test
  @Tag("A131")
  void a_request_that_comes_while_the_driver_lets_go_is_carried_out() {
    AtomicReference<RunStatus> seen = new AtomicReference<>();
    RunStore leaving =
        new WaitingStore(store) {
          @Override
          public void release(RunKey run, Writer owner) {
            if (seen.get() == null) {
              seen.set(runs.cancel(run).status());
            }
            super.release(run, owner);
          }
        };
    Tool refund = world.tool("refund", EffectClass.ONCE).requiresApproval().build();
    Program program = program(leaving, calls(call("c1", "refund", "o1")));

    AgentResult waiting = program.agents.run(request(agent(refund).build()));

    assertEquals(RunStatus.WAITING_APPROVAL, waiting.status());
    assertEquals(RunStatus.CANCEL_REQUESTED, seen.get());
    assertEquals(RunStatus.CANCELLED, runs.state(RUN).orElseThrow().status());
  }

  @Test
  @Tag("A135")
  void a_cancel_that_meets_an_append_of_the_driver_is_written_on_top_of_it() throws Exception {
    CountDownLatch met = new CountDownLatch(1);
    CountDownLatch appended = new CountDownLatch(1);
    RunStore meeting =
        new WaitingStore(
            store,
            append -> {
              if (append.writer().isOwner() || met.getCount() == 0) {
                return;
              }
              met.countDown();
              await(appended);
            });
    CountDownLatch asked = new CountDownLatch(1);
    RunStore driving =
        new WaitingStore(store) {
          @Override
          public void append(Append append, dev.warpwright.task.Deadline deadline) {
            super.append(append, deadline);
            if (append.events().stream().anyMatch(ModelResponded.class::isInstance)) {
              appended.countDown();
            }
          }
        };
    Program program =
        program(
            driving,
            call -> {
              asked.countDown();
              met.await();
              return calls(call("c1", "refund", "o1")).give(call);
            },
            call -> {
              new CountDownLatch(1).await();
              return text("Never.").give(call);
            });
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).build()).build();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> program.agents.run(request(agent)));
      asked.await();
      RunState state = Runs.in(meeting).cancel(RUN);
      assertTrue(state.cancellation().isPresent());
      assertEquals(RunStatus.CANCELLED, driver.get().status());
    }
    assertInstanceOf(RunCancelled.class, program.events(RUN).getLast());
  }

  /** Cancels come at any moment of a run; whatever happens, each run ends once and is let go. */
  @Test
  @Tag("A131")
  @Tag("A135")
  @Tag("A136")
  void of_runs_that_are_cancelled_at_any_moment_each_ends_once() throws Exception {
    int count = 300;
    Program program =
        program(calls(call("c1", "refund", "o1")), calls(call("c2", "note", "o1")), text("Done."));
    Agent agent =
        agent(
                world.tool("refund", EffectClass.ONCE).build(),
                world.tool("note", EffectClass.IDEMPOTENT).build())
            .build();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<RunStatus>> drivers = new ArrayList<>();
      List<Future<RunStatus>> cancellers = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        AgentRequest request = AgentRequest.builder(agent, "Do it.").runId("run-" + i).build();
        RunKey run = new RunKey(RunScope.DEFAULT, "run-" + i);
        drivers.add(pool.submit(() -> program.agents.run(request).status()));
        cancellers.add(pool.submit(() -> cancelOnceThere(run)));
      }
      for (int i = 0; i < count; i++) {
        RunKey run = new RunKey(RunScope.DEFAULT, "run-" + i);
        RunStatus driven = drivers.get(i).get();
        RunStatus asked = cancellers.get(i).get();
        RunState left = runs.state(run).orElseThrow();
        String what = run + ": " + driven + ", " + asked + ", " + program.types(run);
        assertEquals(left.status(), driven, what);
        assertTrue(left.isTerminal() || left.status() == RunStatus.NEEDS_RECONCILIATION, what);
        assertEquals(asked != RunStatus.COMPLETED, left.cancellation().isPresent(), what);
        assertTrue(left.status() != RunStatus.FAILED, what);
      }
    }
  }

  private RunStatus cancelOnceThere(RunKey run) {
    while (runs.state(run).isEmpty()) {
      LockSupport.parkNanos(50_000); // the driver may need the processor
    }
    return runs.cancel(run).status();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
