package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.GenerateRequest;
import dev.warpwright.agent.World.Order;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Json;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.model.StoreException;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.OutcomeUnknownException;
import dev.warpwright.tool.Reconciler.Finding;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tools whose outcome is unknown: after a crash, a cancel, a deadline, an error. */
@Timeout(60)
final class InDoubtTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final FakeModel model =
      FakeModel.of(calls(call("c1", "refund", "o1")), text("Refunded."));
  private final Program program = Program.on(store, model);

  @AfterEach
  void nothingIsLeft() {
    program.assertNothingIsLeft();
  }

  private static Agent agent(Tool... tools) {
    return Agent.builder("agent", Program.ROUTE).tools(tools).build();
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build();
  }

  private RunState state() {
    return RunState.of(store.load(RUN, 1, Deadline.never()));
  }

  /** A process begins the run, acts, and dies before it can say so. */
  private void diesAfterTheEffect(Agent agent) {
    dies(agent, 4);
  }

  /** A process begins the run, writes the intent, and dies before it acts. */
  private void diesBeforeTheEffect(Agent agent) {
    MortalStore mortal = MortalStore.dyingAt(3, true, store);
    assertThrows(
        MortalStore.Crash.class, () -> Program.on(mortal, model).agents.run(request(agent)));
    mortal.bury();
  }

  private void dies(Agent agent, int write) {
    MortalStore mortal = MortalStore.dyingAt(write, false, store);
    assertThrows(
        MortalStore.Crash.class, () -> Program.on(mortal, model).agents.run(request(agent)));
    mortal.bury();
  }

  @Test
  @Tag("A55")
  @Tag("A56")
  void a_once_tool_in_doubt_is_not_repeated_and_the_run_waits_for_a_person() {
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).build());
    diesAfterTheEffect(agent);

    AgentResult result = program.agents.run(request(agent));

    assertEquals(RunStatus.NEEDS_RECONCILIATION, result.status());
    assertEquals(List.of("c1"), result.inDoubt().stream().map(c -> c.call().id()).toList());
    assertEquals(1, world.effects().size());
    RunSuspended suspended = result.state().suspension().orElseThrow();
    assertEquals(RunSuspended.Reason.RECONCILIATION, suspended.reason());
    assertEquals(List.of("c1"), suspended.awaited());
    RunFailedException unknown = assertThrows(RunFailedException.class, result::orThrow);
    assertEquals(FailureKind.UNKNOWN_OUTCOME, unknown.kind());

    List<LoggedEvent> log = program.log(RUN);
    assertFalse(program.agents.run(request(agent)).driven());
    assertFalse(program.agents.resume(agent, RUN).driven());
    assertEquals(log, program.log(RUN), "nobody can tell, so nothing is written");
  }

  @ParameterizedTest
  @EnumSource(Verdict.class)
  @Tag("A58")
  void a_person_decides_what_nobody_else_knows_and_the_run_goes_on(Verdict verdict) {
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).build());
    diesAfterTheEffect(agent);
    AgentResult waiting = program.agents.run(request(agent));
    String key = waiting.inDoubt().getFirst().started().orElseThrow().key();
    Runs runs = program.agents.runs();
    Optional<Json> known = Optional.of(Json.of("seen in the bank's books"));

    List<LoggedEvent> before = program.log(RUN);
    for (ToolReconciled wrong :
        List.of(
            new ToolReconciled("c2", key, verdict, known, "ann"),
            new ToolReconciled("c1", "another key", verdict, known, "ann"))) {
      assertThrows(ConflictException.class, () -> runs.reconcile(RUN, wrong));
    }
    assertEquals(before, program.log(RUN), "a refused verdict changes nothing");

    ToolReconciled right = new ToolReconciled("c1", key, verdict, known, "ann");
    assertTrue(runs.reconcile(RUN, right).inDoubt().isEmpty());
    assertThrows(ConflictException.class, () -> runs.reconcile(RUN, right), "only once");

    assertEquals(RunStatus.COMPLETED, program.agents.resume(agent, RUN).status());
    assertEquals(verdict == Verdict.NOT_EXECUTED ? 2 : 1, world.effects().size());
  }

  @Test
  @Tag("A55")
  void an_idempotent_tool_in_doubt_runs_again_under_the_same_key() {
    Agent agent = agent(world.tool("refund", EffectClass.IDEMPOTENT).build());
    diesAfterTheEffect(agent);

    AgentResult result = program.agents.run(request(agent));

    assertEquals("Refunded.", result.text());
    assertEquals(2, world.effects().size());
    assertEquals(1, world.effects().stream().distinct().count(), "one key");
    assertEquals(
        List.of(1, 2),
        program.events(RUN).stream()
            .filter(ToolStarted.class::isInstance)
            .map(event -> ((ToolStarted) event).attempt())
            .toList());
  }

  @Test
  @Tag("A55")
  void an_idempotent_tool_in_doubt_runs_again_whatever_its_rules_say_by_then() {
    AtomicBoolean later = new AtomicBoolean();
    Agent agent =
        agent(
            world
                .tool("refund", EffectClass.IDEMPOTENT)
                .enabledIf(input -> !later.get())
                .requiresApproval(input -> later.get())
                .build());
    diesAfterTheEffect(agent);
    later.set(true);

    assertEquals("Refunded.", program.agents.run(request(agent)).text());
  }

  @Test
  @Tag("A55")
  void a_tool_in_doubt_keeps_its_key_although_it_would_make_another_one_by_then() {
    Tool.Builder<Order> note = world.tool("refund", EffectClass.IDEMPOTENT);
    diesAfterTheEffect(agent(note.idempotencyKey(input -> "old").build()));

    AgentResult result =
        program.agents.resume(agent(note.idempotencyKey(input -> "new").build()), RUN);

    assertEquals("Refunded.", result.text());
    assertEquals(List.of("old", "old"), world.effects().stream().map(World.Effect::key).toList());
  }

  @Test
  @Tag("A33")
  void calls_that_were_left_run_one_by_one_if_nobody_says_that_they_may_overlap() {
    Agent agent = agent(world.tool("note", EffectClass.IDEMPOTENT).build());
    FakeModel oneByOne =
        FakeModel.of(calls(call("c1", "note", "o1"), call("c2", "note", "o2")), text("Done."))
            .sequential();
    MortalStore mortal = MortalStore.dyingAt(3, true, store);
    assertThrows(
        MortalStore.Crash.class, () -> Program.on(mortal, oneByOne).agents.run(request(agent)));
    mortal.bury();

    assertEquals("Done.", Program.on(store, oneByOne).agents.run(request(agent)).text());

    List<String> types = program.types(RUN);
    assertEquals(
        List.of("RunResumed", "ToolStarted", "ToolFinished", "ToolStarted", "ToolFinished"),
        types.subList(types.indexOf("RunResumed"), types.indexOf("RunResumed") + 5));
  }

  @Test
  @Tag("A55")
  void a_call_in_doubt_whose_tool_is_gone_is_not_answered_but_can_be_resumed_with_the_tool() {
    Agent agent = agent(world.tool("refund", EffectClass.IDEMPOTENT).build());
    diesAfterTheEffect(agent);

    AgentResult without = program.agents.resume(agent(), RUN);

    RunFailed failure = without.state().failure().orElseThrow();
    assertEquals(FailureKind.UNKNOWN_OUTCOME, failure.kind());
    assertTrue(failure.resumable());
    assertTrue(failure.message().contains("refund"), failure.message());
    assertEquals("Refunded.", program.agents.run(request(agent)).text());
  }

  @Test
  @Tag("A57")
  void a_reconciler_that_knows_answers_for_the_tool() {
    Agent agent = agent(world.reconciled("refund").build());
    diesAfterTheEffect(agent);

    AgentResult result = program.agents.run(request(agent));

    assertEquals("Refunded.", result.text());
    assertEquals(1, world.effects().size());
    ToolReconciled verdict = onlyVerdict();
    assertEquals(Verdict.SUCCEEDED, verdict.verdict());
    assertTrue(verdict.decidedBy().contains("refund"), verdict.decidedBy());
    assertEquals("refund of o1 done", results(result).getFirst().output().value());
  }

  @Test
  @Tag("A57")
  void a_reconciler_that_says_not_executed_lets_the_tool_run_under_the_same_key() {
    Agent agent = agent(world.reconciled("refund").build());
    diesBeforeTheEffect(agent);

    AgentResult result = program.agents.run(request(agent));

    assertEquals("Refunded.", result.text());
    assertEquals(1, world.effects().size());
    assertEquals(Verdict.NOT_EXECUTED, onlyVerdict().verdict());
    assertEquals(onlyVerdict().key(), world.effects().getFirst().key());
    assertEquals(
        List.of(1, 2),
        program.events(RUN).stream()
            .filter(ToolStarted.class::isInstance)
            .map(event -> ((ToolStarted) event).attempt())
            .toList());
  }

  @Test
  @Tag("A57")
  void a_reconciler_that_says_failed_gives_an_error_result() {
    Agent agent =
        agent(
            world
                .tool("refund", EffectClass.ONCE)
                .reconciler((key, input) -> new Finding.Failed("The bank refused."))
                .build());
    diesBeforeTheEffect(agent);

    AgentResult result = program.agents.run(request(agent));

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(List.of(), world.effects());
    assertTrue(results(result).getFirst().error());
    assertEquals("The bank refused.", results(result).getFirst().output().value());
    assertEquals(1, result.state().toolErrors());
  }

  @Test
  @Tag("A57")
  void a_reconciler_that_cannot_tell_or_fails_leaves_the_run_waiting_and_is_asked_again() {
    AtomicReference<Optional<Finding>> says = new AtomicReference<>(Optional.empty());
    Agent agent =
        agent(
            world
                .tool("refund", EffectClass.ONCE)
                .reconciler(
                    (key, input) ->
                        says.get().orElseThrow(() -> new java.io.IOException("no connection")))
                .build());
    diesAfterTheEffect(agent);

    assertEquals(RunStatus.NEEDS_RECONCILIATION, program.agents.run(request(agent)).status());
    says.set(Optional.of(new Finding.Unknown()));
    assertEquals(RunStatus.NEEDS_RECONCILIATION, program.agents.run(request(agent)).status());
    says.set(Optional.of(new Finding.Executed(Json.of("It did."))));
    AgentResult result = program.agents.run(request(agent));

    assertEquals("Refunded.", result.text());
    assertEquals("It did.", results(result).getFirst().output().value());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A57")
  void a_reconciler_is_asked_again_although_a_repeatable_call_is_in_doubt_beside_it() {
    AtomicBoolean known = new AtomicBoolean();
    Agent agent =
        agent(
            world
                .tool("refund", EffectClass.ONCE)
                .reconciler(
                    (key, input) ->
                        known.get()
                            ? new Finding.Executed(Json.of("It did."))
                            : new Finding.Unknown())
                .build(),
            world.tool("note", EffectClass.IDEMPOTENT).build());
    FakeModel both =
        FakeModel.of(calls(call("c1", "refund", "o1"), call("c2", "note", "o1")), text("Done."));
    MortalStore mortal = MortalStore.dyingAt(3, true, store);
    assertThrows(
        MortalStore.Crash.class, () -> Program.on(mortal, both).agents.run(request(agent)));
    mortal.bury();
    Program later = Program.on(store, both);
    assertEquals(RunStatus.NEEDS_RECONCILIATION, later.agents.run(request(agent)).status());
    known.set(true);

    assertEquals("Done.", later.agents.run(request(agent)).text());
    assertEquals(List.of("note"), world.effects().stream().map(World.Effect::tool).toList());
    later.assertNothingIsLeft();
  }

  private ToolReconciled onlyVerdict() {
    List<ToolReconciled> verdicts =
        program.events(RUN).stream()
            .filter(ToolReconciled.class::isInstance)
            .map(ToolReconciled.class::cast)
            .toList();
    assertEquals(1, verdicts.size());
    return verdicts.getFirst();
  }

  private static List<ToolResult> results(AgentResult result) {
    return result.state().messages().stream()
        .flatMap(message -> message.toolResults().stream())
        .toList();
  }

  /** A tool that has begun and waits, and what it does when it is interrupted. */
  private interface WhenInterrupted {
    Object then(Order input, dev.warpwright.tool.ToolContext context, InterruptedException e)
        throws Exception;
  }

  private final CountDownLatch begun = new CountDownLatch(1);

  private Tool waiting(EffectClass effect, WhenInterrupted reaction) {
    CountDownLatch never = new CountDownLatch(1);
    AtomicBoolean first = new AtomicBoolean(true);
    return Tool.of(
        "refund",
        "",
        Order.class,
        effect,
        (input, context) -> {
          if (!first.getAndSet(false)) {
            return world.act("refund", input, context);
          }
          begun.countDown();
          try {
            never.await();
            return null;
          } catch (InterruptedException e) {
            return reaction.then(input, context, e);
          }
        });
  }

  /** Runs, interrupts the caller once the tool has begun, and gives what the caller got. */
  private OperationCancelledException interrupted(Agent agent) throws InterruptedException {
    AtomicReference<Optional<OperationCancelledException>> thrown =
        new AtomicReference<>(Optional.empty());
    Thread caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    var _ = program.agents.run(request(agent));
                  } catch (OperationCancelledException e) {
                    if (Thread.currentThread().isInterrupted()) {
                      thrown.set(Optional.of(e));
                    }
                  }
                });
    begun.await();
    caller.interrupt();
    caller.join();
    return thrown.get().orElseThrow();
  }

  @Test
  @Tag("A12")
  void the_outcome_of_a_once_tool_that_finishes_within_the_grace_is_kept() throws Exception {
    Agent agent =
        agent(
            waiting(EffectClass.ONCE, (input, context, e) -> world.act("refund", input, context)));

    OperationCancelledException cancelled = interrupted(agent);

    assertEquals(Optional.of("run-1"), cancelled.trace().runId());
    RunFailed failure = state().failure().orElseThrow();
    assertEquals(FailureKind.CANCELLED, failure.kind());
    assertTrue(failure.resumable());
    assertEquals(List.of(), state().calls());

    assertEquals("Refunded.", program.agents.run(request(agent)).text());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A55")
  @Tag("A56")
  void a_once_tool_that_was_cut_off_is_in_doubt_and_the_cancel_is_the_intended_end()
      throws Exception {
    Agent agent =
        agent(
            waiting(
                EffectClass.ONCE,
                (input, context, e) -> {
                  throw e;
                }));

    OperationCancelledException cancelled = interrupted(agent);

    assertEquals(Optional.of("run-1"), cancelled.trace().runId());
    assertEquals(RunStatus.NEEDS_RECONCILIATION, state().status());
    RunFailed intended = state().suspension().orElseThrow().intendedEnd().orElseThrow();
    assertEquals(FailureKind.CANCELLED, intended.kind());
    assertEquals(RunStatus.NEEDS_RECONCILIATION, program.agents.run(request(agent)).status());
    assertEquals(List.of(), world.effects());
  }

  @Test
  @Tag("A55")
  void an_idempotent_tool_that_was_cut_off_runs_again_on_resume() throws Exception {
    Agent agent =
        agent(
            waiting(
                EffectClass.IDEMPOTENT,
                (input, context, e) -> {
                  throw e;
                }));

    var _ = interrupted(agent);

    assertEquals(FailureKind.CANCELLED, state().failure().orElseThrow().kind());
    assertEquals("Refunded.", program.agents.run(request(agent)).text());
    assertEquals(1, world.effects().size());
  }

  /** A tool that ends when it is released, and not before, whatever is asked of it. */
  private static Tool stubborn(
      String name, CountDownLatch hasBegun, CountDownLatch release, Object output) {
    return Tool.of(
        name,
        "",
        Order.class,
        EffectClass.ONCE,
        (input, context) -> {
          hasBegun.countDown();
          while (true) {
            try {
              release.await();
              return output;
            } catch (InterruptedException e) {
              // ignored: that is the point
            }
          }
        });
  }

  /** Runs until the deadline has passed and the tools that began are given up. */
  private AgentResult givenUp(Agent agent, CountDownLatch hasBegun) throws Exception {
    AgentRequest hurried =
        AgentRequest.builder(agent, "Do it.")
            .runId("run-1")
            .idempotencyKey("key")
            .invocation(Invocation.builder().timeout(Duration.ofSeconds(1)).build())
            .build();
    FutureTask<AgentResult> result = new FutureTask<>(() -> program.agents.run(hurried));
    Thread.ofVirtual().start(result);
    hasBegun.await();
    program.time.awaitAlarms(1);
    while (!result.isDone()) {
      program.time.advance(Duration.ofMillis(100));
      Thread.onSpinWait();
    }
    return result.get();
  }

  private void awaitNoAbandonedTask() {
    while (!program.gateway.diagnostics().abandonedTasks().isEmpty()) {
      Thread.onSpinWait();
    }
  }

  @Test
  @Tag("A55")
  @Tag("A62")
  void a_once_tool_that_does_not_end_does_not_hold_the_caller_and_its_late_end_resolves_the_doubt()
      throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    Agent agent = agent(stubborn("refund", begun, release, "late"));

    AgentResult left = givenUp(agent, begun);

    assertEquals(RunStatus.NEEDS_RECONCILIATION, left.status());
    assertEquals(
        FailureKind.DEADLINE,
        left.state().suspension().orElseThrow().intendedEnd().orElseThrow().kind());
    assertEquals(1, program.gateway.diagnostics().abandonedTasks().size());
    List<LoggedEvent> log = program.log(RUN);
    assertEquals(log, left.log());

    release.countDown();
    awaitNoAbandonedTask();

    assertEquals(log, program.log(RUN).subList(0, log.size()));
    assertEquals(log.size() + 1, program.log(RUN).size());
    ToolFinished late = (ToolFinished) program.events(RUN).getLast();
    assertEquals("\"late\"", late.output().text());
    assertTrue(late.executed());
    assertEquals(List.of(), state().inDoubt());
    AgentResult done = program.agents.resume(agent, RUN);
    assertEquals("Refunded.", done.text());
    assertEquals("late", results(done).getFirst().output().value());
  }

  @Test
  @Tag("A62")
  void late_ends_of_all_tools_of_a_step_are_written() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch all = new CountDownLatch(3);
    Agent agent =
        agent(
            stubborn("one", all, release, 1),
            stubborn("two", all, release, 2),
            stubborn("three", all, release, 3));
    FakeModel three =
        FakeModel.of(
            calls(call("c1", "one", "o1"), call("c2", "two", "o1"), call("c3", "three", "o1")),
            text("Done."));
    Program other = Program.on(store, three);
    FutureTask<AgentResult> result =
        new FutureTask<>(
            () ->
                other.agents.run(
                    AgentRequest.builder(agent, "Do it.")
                        .runId("run-1")
                        .invocation(Invocation.builder().timeout(Duration.ofSeconds(1)).build())
                        .build()));
    Thread.ofVirtual().start(result);
    all.await();
    other.time.awaitAlarms(1);
    while (!result.isDone()) {
      other.time.advance(Duration.ofMillis(100));
      Thread.onSpinWait();
    }
    assertEquals(3, result.get().inDoubt().size());

    release.countDown();
    while (!other.gateway.diagnostics().abandonedTasks().isEmpty()) {
      Thread.onSpinWait();
    }

    assertEquals(List.of(), state().inDoubt());
    assertEquals("Done.", other.agents.resume(agent, RUN).text());
    other.assertNothingIsLeft();
  }

  @Test
  @Tag("A62")
  void a_late_end_is_dropped_when_a_person_was_faster() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    Agent agent = agent(stubborn("refund", begun, release, "late"));
    AgentResult left = givenUp(agent, begun);
    String key = left.inDoubt().getFirst().started().orElseThrow().key();
    program
        .agents
        .runs()
        .reconcile(
            RUN, new ToolReconciled("c1", key, Verdict.FAILED, Optional.of(Json.of("No.")), "ann"));
    List<LoggedEvent> log = program.log(RUN);

    release.countDown();
    awaitNoAbandonedTask();

    assertEquals(log, program.log(RUN));
  }

  @Test
  @Tag("A62")
  void a_late_end_is_dropped_when_somebody_else_has_taken_the_run_up_since() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    Agent agent = agent(stubborn("refund", begun, release, "late"));
    var _ = givenUp(agent, begun);
    Writer other = store.acquire(RUN, Deadline.never()).orElseThrow();
    List<LoggedEvent> log = program.log(RUN);

    release.countDown();
    awaitNoAbandonedTask();

    assertEquals(log, program.log(RUN));
    store.release(RUN, other);
  }

  @ParameterizedTest
  @EnumSource(EffectClass.class)
  @Tag("A61")
  void a_tool_may_say_itself_that_it_does_not_know_whether_it_has_acted(EffectClass effect) {
    AtomicInteger runs = new AtomicInteger();
    List<String> keys = new CopyOnWriteArrayList<>();
    Agent agent =
        agent(
            Tool.of(
                "refund",
                "",
                Order.class,
                effect,
                (input, context) -> {
                  keys.add(context.idempotencyKey());
                  runs.incrementAndGet();
                  throw new OutcomeUnknownException(new java.io.IOException("no answer"));
                }));

    AgentResult result = program.agents.run(request(agent));

    assertEquals(effect == EffectClass.IDEMPOTENT ? 2 : 1, runs.get());
    assertEquals(1, keys.stream().distinct().count(), "one key");
    if (effect == EffectClass.PURE) {
      assertEquals("Refunded.", result.text());
      assertTrue(results(result).getFirst().error());
    } else {
      assertEquals(RunStatus.NEEDS_RECONCILIATION, result.status());
      assertEquals(List.of("c1"), result.inDoubt().stream().map(c -> c.call().id()).toList());
    }
  }

  @ParameterizedTest
  @EnumSource(EffectClass.class)
  @Tag("A61")
  void without_a_run_a_tool_that_does_not_know_ends_the_operation_unless_it_is_pure(
      EffectClass effect) {
    AtomicInteger runs = new AtomicInteger();
    Tool tool =
        Tool.of(
            "refund",
            "",
            Order.class,
            effect,
            (input, context) -> {
              runs.incrementAndGet();
              throw new OutcomeUnknownException(new java.io.IOException("no answer"));
            });
    GenerateRequest question =
        GenerateRequest.builder(Program.ROUTE, "Do it.").tools(tool).maxSteps(2).build();

    if (effect == EffectClass.PURE) {
      assertEquals("Refunded.", program.gateway.generate(question).text());
    } else {
      assertThrows(UnknownOutcomeException.class, () -> program.gateway.generate(question));
    }

    assertEquals(effect == EffectClass.IDEMPOTENT ? 2 : 1, runs.get());
  }

  @Test
  @Tag("A61")
  void a_repeatable_tool_that_did_not_know_at_first_may_know_the_second_time() {
    AtomicBoolean first = new AtomicBoolean(true);
    Agent agent =
        agent(
            Tool.of(
                "refund",
                "",
                Order.class,
                EffectClass.IDEMPOTENT,
                (input, context) -> {
                  if (first.getAndSet(false)) {
                    throw new OutcomeUnknownException(new java.io.IOException("no answer"));
                  }
                  return world.act("refund", input, context);
                }));

    assertEquals("Refunded.", program.agents.run(request(agent)).text());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A57")
  @Tag("A61")
  void the_reconciler_of_a_tool_that_does_not_know_is_asked_at_once_and_only_once() {
    AtomicReference<Finding> says = new AtomicReference<>(new Finding.NotExecuted());
    AtomicInteger asked = new AtomicInteger();
    AtomicInteger runs = new AtomicInteger();
    Agent agent =
        agent(
            Tool.builder(
                    "refund",
                    "",
                    Order.class,
                    EffectClass.ONCE,
                    (input, context) -> {
                      runs.incrementAndGet();
                      throw new OutcomeUnknownException(new java.io.IOException("no answer"));
                    })
                .reconciler(
                    (key, input) -> {
                      asked.incrementAndGet();
                      return says.get();
                    })
                .build());

    assertEquals(RunStatus.NEEDS_RECONCILIATION, program.agents.run(request(agent)).status());
    assertEquals(1, asked.get(), "or it would be tried for ever");
    assertEquals(2, runs.get());

    says.set(new Finding.Executed(Json.of("It did.")));
    assertEquals("Refunded.", program.agents.run(request(agent)).text());
    assertEquals(2, runs.get());
  }

  @Test
  @Tag("A54")
  @Tag("A55")
  void a_once_tool_that_was_written_down_but_never_began_is_not_in_doubt() {
    AtomicBoolean once = new AtomicBoolean(true);
    RunStore interrupting =
        new WaitingStore(
            store,
            append -> {
              if (append.events().stream().anyMatch(ToolStarted.class::isInstance)
                  && once.getAndSet(false)) {
                Thread.currentThread().interrupt();
              }
            });
    Program other = Program.on(interrupting, model);
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).build());

    assertThrows(OperationCancelledException.class, () -> other.agents.run(request(agent)));
    assertTrue(Thread.interrupted());

    assertEquals(List.of(), world.effects());
    assertEquals(FailureKind.CANCELLED, state().failure().orElseThrow().kind());
    assertEquals(Verdict.NOT_EXECUTED, onlyVerdict().verdict());
    assertEquals("Refunded.", program.agents.run(request(agent)).text());
    assertEquals(1, world.effects().size());
    other.assertNothingIsLeft();
  }

  @Test
  @Tag("A55")
  @Tag("A56")
  void an_error_of_a_once_tool_reaches_the_caller_and_leaves_the_tool_in_doubt() {
    Agent agent =
        agent(
            Tool.of(
                "refund",
                "",
                Order.class,
                EffectClass.ONCE,
                (input, context) -> {
                  throw new AssertionError("secret");
                }));

    assertThrows(AssertionError.class, () -> program.agents.run(request(agent)));

    assertEquals(RunStatus.NEEDS_RECONCILIATION, state().status());
    RunFailed intended = state().suspension().orElseThrow().intendedEnd().orElseThrow();
    assertEquals(FailureKind.INTERNAL, intended.kind());
    assertFalse(intended.message().contains("secret"), intended.message());
  }

  @Test
  @Tag("A12")
  void an_error_of_a_pure_tool_fails_the_run_resumably() {
    AtomicBoolean once = new AtomicBoolean(true);
    Agent agent =
        agent(
            Tool.of(
                "refund",
                "",
                Order.class,
                EffectClass.PURE,
                (input, context) -> {
                  if (once.getAndSet(false)) {
                    throw new AssertionError("secret");
                  }
                  return null;
                }));

    assertThrows(AssertionError.class, () -> program.agents.run(request(agent)));
    assertEquals(FailureKind.INTERNAL, state().failure().orElseThrow().kind());
    assertEquals("Refunded.", program.agents.run(request(agent)).text());
  }

  @Test
  @Tag("A55")
  void a_run_is_handed_back_only_when_its_tools_have_ended() throws Exception {
    CountDownLatch slowBegan = new CountDownLatch(1);
    AtomicReference<Optional<Writer>> stolen = new AtomicReference<>(Optional.empty());
    List<String> trail = new ArrayList<>();
    Tool fast =
        Tool.of(
            "fast",
            "",
            Order.class,
            EffectClass.ONCE,
            (input, context) -> {
              slowBegan.await();
              return null;
            });
    Tool slow =
        Tool.of(
            "slow",
            "",
            Order.class,
            EffectClass.ONCE,
            (input, context) -> {
              slowBegan.countDown();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                stolen.set(store.acquire(RUN, Deadline.never()));
                synchronized (trail) {
                  trail.add("ended");
                }
              }
              return null;
            });
    RunStore broken =
        new WaitingStore(
            store,
            append -> {
              if (append.events().getFirst() instanceof ToolFinished) {
                throw new StoreException("The disk is full.", null);
              }
            });
    Program other =
        Program.on(broken, FakeModel.of(calls(call("c1", "fast", "o1"), call("c2", "slow", "o1"))));

    assertThrows(StoreException.class, () -> other.agents.run(request(agent(fast, slow))));

    assertEquals(List.of("ended"), trail);
    assertEquals(Optional.empty(), stolen.get(), "it was still owned while the tool ran");
    other.assertNothingIsLeft();
  }

  @Test
  @Tag("C47")
  @Tag("A54")
  @Tag("A124")
  void a_driver_that_lost_its_run_writes_nothing_more_and_begins_no_further_tool()
      throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch reached = new CountDownLatch(1);
    FakeModel.Answer slow =
        question -> {
          reached.countDown();
          goOn.await();
          return calls(call("c1", "refund", "o1")).give(question);
        };
    Program zombie = Program.on(store, FakeModel.of(slow, text("Zombie.")));
    Agent agent = agent(world.tool("refund", EffectClass.ONCE).build());
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> zombie.agents.run(request(agent)));
      reached.await();
      Writer lapsed = program.log(RUN).getFirst().writer();
      store.release(RUN, lapsed); // as when its lease expires
      assertEquals("Refunded.", program.agents.run(request(agent)).text());
      List<LoggedEvent> log = program.log(RUN);

      goOn.countDown();
      ExecutionException lost = assertThrows(ExecutionException.class, driver::get);
      ConflictException cause = assertInstanceOf(ConflictException.class, lost.getCause());
      assertTrue(cause.getMessage().contains("lost the run"), cause.getMessage());
      assertEquals(log, program.log(RUN));
      assertEquals(1, world.effects().size());
    }
    zombie.assertNothingIsLeft();
  }
}
