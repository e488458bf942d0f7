package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Route;
import dev.warpwright.run.Append;
import dev.warpwright.run.DueRuns;
import dev.warpwright.run.ForwardingStore;
import dev.warpwright.run.RunDriver;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunListener;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Worker;
import dev.warpwright.run.WorkerStatus;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Agents' runs that are queued, left or due, and workers that drive them. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class WorkerRunsTest {
  private static final Duration LONG = Duration.ofHours(1);
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final Runs runs = Runs.in(store);
  private final List<Program> programs = new ArrayList<>();
  private final List<FakeModel> models = new ArrayList<>();

  @AfterEach
  void nothingIsLeft() {
    programs.forEach(Program::assertNothingIsLeft);
  }

  private Program program(FakeModel.Answer... answers) {
    return program(store, answers);
  }

  private Program program(RunStore store, FakeModel.Answer... answers) {
    FakeModel model = FakeModel.of(answers);
    Program program = Program.on(store, model);
    models.add(model);
    programs.add(program);
    return program;
  }

  private static Agent agent(Tool... tools) {
    return Agent.builder("agent", Program.ROUTE).tools(tools).build();
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build();
  }

  private static Worker worker(Program program, RunDriver driver) {
    return Worker.builder(program.store).drives(driver).tasks(program.gateway.tasks()).start();
  }

  private static Worker worker(Program program, Agent agent) {
    return worker(program, program.agents.driver(agent));
  }

  /** Drives everything that is due. */
  private static WorkerStatus drive(Program program, Agent agent) {
    try (Worker worker = worker(program, agent)) {
      assertTrue(worker.awaitIdle(LONG));
      return worker.status();
    }
  }

  private RunState state() {
    return runs.state(RUN).orElseThrow();
  }

  private RunSummary summary() {
    return programs.getFirst().runs().getFirst();
  }

  private static List<String> types(Program program) {
    return program.types(RUN);
  }

  /** A model answer that begins when somebody waits for it and ends only by an interrupt. */
  private static FakeModel.Answer stuck(CountDownLatch reached) {
    return call -> {
      reached.countDown();
      new CountDownLatch(1).await();
      throw new AssertionError("never");
    };
  }

  @Test
  @Tag("A14")
  void a_queued_run_is_driven_once_by_a_worker_and_its_result_is_there_for_who_asks() {
    Program program = program(calls(call("c1", "refund", "o1")), text("Done."));
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).build());

    assertEquals(RUN, program.agents.enqueue(request(agent)));
    assertEquals(RunStatus.QUEUED, state().status());
    assertEquals(List.of("RunStarted"), types(program));
    assertEquals(new WorkerStatus(0, 1, 1, 0, 0), drive(program, agent));

    AgentResult result = program.agents.run(request(agent));
    assertEquals("Done.", result.text());
    assertFalse(result.driven());
    assertEquals(1, world.effects().size());
    assertEquals("RunResumed", types(program).get(1));
    assertEquals(new WorkerStatus(0, 0, 0, 0, 0), drive(program, agent), "nothing is due");
  }

  @Test
  @Tag("A104")
  @Tag("A106")
  void queueing_under_a_key_again_gives_the_same_run_or_says_what_differs() {
    Program program = program(text("Done."));
    Agent agent = agent();
    AgentRequest first = AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build();
    RunKey run = program.agents.enqueue(first);

    assertEquals(run, program.agents.enqueue(first));
    ConflictException other =
        assertThrows(
            ConflictException.class,
            () ->
                program.agents.enqueue(
                    AgentRequest.builder(agent, "secret").idempotencyKey("key").build()));
    assertTrue(String.valueOf(other.getMessage()).endsWith("it differs in messages."));
    assertEquals(1, drive(program, agent).ended());
    assertEquals(run, program.agents.enqueue(first), "also when it has ended");
    assertEquals(1, program.runs().size());
    assertEquals(0, drive(program, agent).taken());
  }

  @Test
  void what_cannot_be_queued_is_refused_and_nothing_is_stored() {
    Program program = program(text("Done."));
    Agent agent = agent();
    AgentRequest.Builder request = AgentRequest.builder(agent, "Do it.").runId("run-1");
    assertThrows(
        InvalidRequestException.class,
        () ->
            program.agents.enqueue(
                request.invocation(Invocation.builder().budgetScope("acme").build()).build()));
    Agent small = Agent.builder("agent", Program.ROUTE).maxStateBytes(1024).build();
    assertThrows(
        LimitExceededException.class,
        () -> program.agents.enqueue(AgentRequest.builder(small, "x".repeat(2000)).build()));
    assertEquals(List.of(), program.runs());

    var _ = program.agents.enqueue(AgentRequest.builder(agent, "Do it.").runId("run-1").build());
    assertThrows(
        ConflictException.class,
        () -> program.agents.enqueue(AgentRequest.builder(agent, "Do it.").runId("run-1").build()));
    assertThrows(InvalidRequestException.class, () -> program.agents.driver());
    assertThrows(InvalidRequestException.class, () -> program.agents.driver(agent, agent));
  }

  @Test
  @Tag("A107")
  void who_asks_under_the_key_of_a_queued_run_drives_it_if_nobody_does() {
    Program program = program(text("Done."));
    Agent agent = agent();
    var _ = program.agents.enqueue(request(agent));

    AgentResult result = program.agents.run(request(agent));

    assertEquals("Done.", result.text());
    assertTrue(result.driven());
    assertEquals(RUN, result.run());
  }

  @Test
  @Tag("A151")
  @Tag("A129")
  void a_run_that_is_handed_back_has_not_failed_and_goes_on_elsewhere_without_a_repeat()
      throws Exception {
    CountDownLatch reached = new CountDownLatch(1);
    Program first = program(calls(call("c1", "refund", "o1")), stuck(reached));
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).build());
    var _ = first.agents.enqueue(request(agent));
    Worker worker = worker(first, agent);
    reached.await();

    assertFalse(worker.stop(Duration.ZERO));

    assertEquals(new WorkerStatus(0, 1, 0, 1, 0), worker.status());
    assertEquals(RunStatus.RUNNING, state().status());
    assertEquals(Optional.empty(), state().failure());
    assertEquals("StepStarted", types(first).getLast());
    assertEquals(Optional.empty(), summary().problem());
    assertFalse(summary().standing().due().orElseThrow().isAfter(first.time.now()), "due at once");

    Program second = program(calls(call("c1", "refund", "o1")), text("Done."));
    assertEquals(1, drive(second, agent).ended());
    assertEquals("Done.", state().text());
    assertEquals(List.of(1), models.get(1).asked());
    assertEquals(1, world.effects().size());
    assertFalse(types(second).contains("RunFailed"));
  }

  @Test
  @Tag("A151")
  @Tag("A133")
  void an_answer_that_was_paid_for_when_the_run_is_handed_back_is_kept() {
    Cancellation handBack = new Cancellation();
    Program program = program(calls(call("c1", "refund", "o1")), text("Done."));
    Agent agent =
        agent(
            world
                .tool("refund", EffectClass.ONCE)
                .requiresApproval(
                    input -> {
                      handBack.cancel("the worker stops"); // while the answer is looked at
                      return false;
                    })
                .build());
    var _ = program.agents.enqueue(request(agent));
    DueRuns.Taken taken = store.acquireDue(Set.of("agent"), 1, Deadline.never()).taken().getFirst();

    OperationCancelledException thrown =
        assertThrows(
            OperationCancelledException.class,
            () -> program.agents.driver(agent).drive(taken, handBack));

    assertEquals(Optional.of("run-1"), thrown.trace().runId());
    assertEquals(
        List.of("RunStarted", "RunResumed", "StepStarted", "RouteBound", "ModelResponded"),
        types(program));
    assertEquals(RunStatus.RUNNING, state().status());
    assertEquals(0, world.effects().size());
    assertEquals(1, drive(program, agent).ended());
    assertEquals("Done.", state().text());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A151")
  void a_run_that_is_to_be_cancelled_is_cancelled_and_not_handed_back() {
    Cancellation handBack = new Cancellation();
    Program program =
        program(
            call -> {
              var _ = runs.cancel(RUN);
              handBack.cancel("the worker stops");
              return text("Too late.").give(call);
            });
    Agent agent = agent();
    var _ = program.agents.enqueue(request(agent));
    DueRuns.Taken taken = store.acquireDue(Set.of("agent"), 1, Deadline.never()).taken().getFirst();
    program.agents.driver(agent).drive(taken, handBack);
    assertEquals(RunStatus.CANCELLED, state().status());
  }

  /** A tool that acts, and then does not come back until it is interrupted. */
  private Tool.Builder<World.Order> actsAndHangs(CountDownLatch acted) {
    return Tool.builder(
        "refund",
        "Does it.",
        World.Order.class,
        EffectClass.ONCE,
        (input, context) -> {
          String output = world.act("refund", input, context);
          acted.countDown();
          new CountDownLatch(1).await();
          return output;
        });
  }

  @Test
  @Tag("A151")
  @Tag("A134")
  void a_call_in_doubt_of_a_run_that_is_handed_back_is_for_the_next_driver() throws Exception {
    CountDownLatch acted = new CountDownLatch(1);
    Program first = program(calls(call("c1", "refund", "o1")));
    Agent hanging = agent(actsAndHangs(acted).build());
    var _ = first.agents.enqueue(request(hanging));
    Worker worker = worker(first, hanging);
    acted.await();
    assertFalse(worker.stop(Duration.ZERO));
    assertEquals(RunStatus.RUNNING, state().status());
    assertEquals(1, state().inDoubt().size());

    Program second = program(calls(call("c1", "refund", "o1")), text("Done."));
    Agent blind = agent(world.tool("refund", EffectClass.ONCE).build());
    assertEquals(1, drive(second, blind).ended());
    assertEquals(RunStatus.NEEDS_RECONCILIATION, state().status());
    assertEquals(Optional.empty(), state().failure());

    AgentResult done = second.agents.resume(agent(world.reconciled("refund").build()), RUN);
    assertEquals("Done.", done.text());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A62")
  void the_late_end_of_a_tool_whose_run_was_handed_back_resolves_the_doubt() throws Exception {
    CountDownLatch acted = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Program program = program(calls(call("c1", "refund", "o1")), text("Done."));
    Tool deaf =
        Tool.builder(
                "refund",
                "Does it.",
                World.Order.class,
                EffectClass.ONCE,
                (input, context) -> {
                  String output = world.act("refund", input, context);
                  acted.countDown();
                  awaitDeaf(goOn);
                  return output;
                })
            .build();
    var _ = program.agents.enqueue(request(agent(deaf)));
    Worker worker = worker(program, agent(deaf));
    acted.await();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Boolean> stop = pool.submit(() -> worker.stop(Duration.ZERO));
      while (program.gateway.diagnostics().abandonedTasks().isEmpty()) {
        program.time.advance(Duration.ofMillis(10)); // to the end of the tool's grace
        Thread.onSpinWait();
      }
      assertFalse(stop.get());
    }
    goOn.countDown();
    program.assertNothingIsLeft();
    assertEquals("ToolFinished", types(program).getLast());
    assertEquals(List.of(), state().inDoubt());
    assertEquals(1, drive(program, agent(deaf)).ended());
    assertEquals("Done.", state().text());
    assertEquals(1, world.effects().size());
  }

  private static void awaitDeaf(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        // deaf
      }
    }
  }

  @Test
  @Tag("A88")
  @Tag("A91")
  void an_approval_that_expires_is_denied_by_a_worker_also_if_its_clock_is_behind() {
    ManualTime storeTime = new ManualTime();
    RunStore timed = RunStore.inMemory(storeTime);
    Program program = program(timed, calls(call("c1", "refund", "o1")), text("Denied."));
    Tool refund =
        world
            .tool("refund", EffectClass.ONCE)
            .requiresApproval()
            .approvalExpiry(Duration.ofHours(1))
            .build();
    var _ = program.agents.run(request(agent(refund)));
    assertEquals(0, drive(program, agent(refund)).taken(), "nobody has it, and it is not due");

    storeTime.advance(Duration.ofHours(1));
    assertEquals(1, drive(program, agent(refund)).ended());

    RunState state = Runs.in(timed).state(RUN).orElseThrow();
    assertEquals("Denied.", state.text());
    assertEquals(
        Optional.of(Optional.of("expired")),
        program.events(RUN).stream()
            .filter(ApprovalDecided.class::isInstance)
            .map(event -> ((ApprovalDecided) event).reason())
            .findFirst());
    assertEquals(List.of(), world.effects());
  }

  @Test
  @Tag("A151")
  @Tag("A19")
  void a_run_that_is_bound_to_other_targets_is_left_alone_and_says_why() throws Exception {
    Program program = program(text("Done."));
    var _ = program.agents.enqueue(request(agent()));
    Agent other = Agent.builder("agent", Route.of(Program.SPARE)).build();
    try (Worker worker = worker(program, other)) {
      while (worker.status().failed() < RunStore.MAX_CLAIMS) {
        program.time.awaitAlarms(1);
        program.time.advance(Duration.ofMillis(500));
      }
      assertTrue(worker.awaitIdle(LONG));
    }
    assertEquals(List.of("RunStarted"), types(program));
    assertTrue(summary().isQuarantined());
    String problem = summary().problem().orElseThrow();
    assertTrue(problem.startsWith("CONFLICT: ") && problem.contains("fake/model"), problem);

    ConflictException resumed =
        assertThrows(ConflictException.class, () -> program.agents.resume(agent(), RUN));
    assertTrue(String.valueOf(resumed.getMessage()).contains("quarantined"));
    assertThrows(ConflictException.class, () -> program.agents.run(request(agent())));
    runs.readmit(RUN);
    assertEquals("Done.", program.agents.resume(agent(), RUN).text());
  }

  @Test
  @Tag("A131")
  void a_worker_carries_out_the_cancel_that_a_process_has_left() {
    Program program = program(text("Never."));
    Agent agent = agent();
    var _ = program.agents.enqueue(request(agent));
    RunState state = state();
    CancelRequested asked = new CancelRequested(Optional.empty());
    Writer outside = Writer.outside("test");
    store.append(
        new Append(
            RUN,
            1,
            outside,
            state.updatedAt(),
            List.of(asked),
            Standing.due(RunStatus.CANCEL_REQUESTED, state.updatedAt())),
        Deadline.never());

    assertEquals(1, drive(program, agent).ended());
    assertEquals(RunStatus.CANCELLED, state().status());
    assertEquals(List.of(), models.getFirst().asked());
  }

  @Test
  @Tag("A124")
  void a_run_that_was_lost_is_not_written_to_and_does_not_count_as_handed_back() throws Exception {
    CountDownLatch reached = new CountDownLatch(1);
    AtomicReference<RunListener> listening = new AtomicReference<>();
    RunStore losing =
        new ForwardingStore(store) {
          @Override
          public Watch watch(RunKey run, RunListener listener) {
            listening.set(listener);
            return super.watch(run, listener);
          }
        };
    Program program = program(losing, stuck(reached));
    Agent agent = agent();
    var _ = program.agents.enqueue(request(agent));
    Worker worker = worker(program, agent);
    reached.await();
    listening.get().lost();
    program.time.awaitAlarms(2);
    assertTrue(worker.stop(Duration.ZERO));
    assertEquals(new WorkerStatus(0, 1, 0, 0, 1), worker.status());
    assertEquals("StepStarted", types(program).getLast());
  }

  @Test
  @Tag("A124")
  void who_drives_a_run_by_itself_and_loses_it_is_told_so_and_does_nothing_more() throws Exception {
    AtomicReference<RunListener> listening = new AtomicReference<>();
    RunStore losing =
        new ForwardingStore(store) {
          @Override
          public Watch watch(RunKey run, RunListener listener) {
            listening.set(listener);
            return super.watch(run, listener);
          }
        };
    Program program =
        program(
            losing,
            call -> {
              listening.get().lost();
              return calls(call("c1", "refund", "o1")).give(call);
            },
            text("Never."));
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).build());

    ConflictException lost =
        assertThrows(ConflictException.class, () -> program.agents.run(request(agent)));

    assertTrue(lost.getMessage().contains("lost its lease"), lost.getMessage());
    assertEquals(List.of("RunStarted", "StepStarted"), types(program));
    assertEquals(List.of(), world.effects());
  }

  @Test
  void the_driver_s_invocation_counts() {
    CountDownLatch reached = new CountDownLatch(1);
    Program program = program(stuck(reached));
    Agent agent = agent();
    var _ = program.agents.enqueue(request(agent));
    Invocation brief = Invocation.builder().timeout(Duration.ofSeconds(7)).build();
    try (Worker worker = worker(program, program.agents.driver(brief, agent))) {
      while (worker.status().ended() == 0) {
        program.time.advance(Duration.ofMillis(500));
        Thread.onSpinWait();
      }
    }
    assertEquals(FailureKind.DEADLINE, state().failure().orElseThrow().kind());
    assertEquals(0, drive(program, agent).taken(), "who resumes it decides");
  }

  @Test
  @Tag("A109")
  void who_is_attached_to_a_run_whose_process_dies_becomes_its_driver() throws Exception {
    MortalStore mortal = MortalStore.dyingAt(4, true, store);
    Program dying = Program.on(mortal, FakeModel.of(calls(call("c1", "refund", "o1"))));
    Agent agent = agent(world.reconciled("refund").build());
    assertThrows(MortalStore.Crash.class, () -> dying.agents.run(request(agent)));

    WaitingStore watched = new WaitingStore(store);
    Program other = program(watched, calls(call("c1", "refund", "o1")), text("Done."));
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> attached = pool.submit(() -> other.agents.run(request(agent)));
      watched.waiting.await();
      assertFalse(attached.isDone());
      mortal.bury(); // as when the lease has ended
      AgentResult result = attached.get();
      assertEquals("Done.", result.text());
      assertTrue(result.driven());
    }
    assertEquals(1, world.effects().size());
    assertEquals(1, other.events(RUN).stream().filter(ToolFinished.class::isInstance).count());
    assertTrue(other.events(RUN).stream().anyMatch(RunEvent.RunResumed.class::isInstance));
  }
}
