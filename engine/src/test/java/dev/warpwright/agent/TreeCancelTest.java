package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static dev.warpwright.agent.Family.agent;
import static dev.warpwright.agent.Family.ask;
import static dev.warpwright.agent.Family.children;
import static dev.warpwright.agent.Family.records;
import static dev.warpwright.agent.Family.state;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.run.Append;
import dev.warpwright.run.ForwardingStore;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunListener;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A cancel goes down the tree of child runs, whatever each of them is doing. */
@Timeout(60)
final class TreeCancelTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final Runs runs = Runs.in(store);
  private final Family family = new Family();
  private final Agent digger =
      agent("digger")
          .tools(world.tool("refund", EffectClass.ONCE).requiresApproval().build())
          .build();
  private final Agent research =
      agent("research")
          .tools(world.tool("note", EffectClass.IDEMPOTENT).build())
          .subAgents(digger)
          .build();
  private final Agent desk = agent("desk").subAgents(research).build();

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build();
  }

  /** The desk has asked research twice; the second time a digger waits for an approval. */
  private Program waiting() {
    family.answers(
        "desk", calls(ask("c1", "research", "1"), ask("c2", "research", "2")), text("Never."));
    family.model(
        "research",
        FakeModel.of(
            call ->
                call.messages().getLast().text().equals("1")
                    ? text("One.").give(call)
                    : calls(ask("d1", "digger", "Dig.")).give(call),
            text("Never.")));
    family.answers("digger", calls(call("k1", "refund", "o1")), text("Never."));
    Program program = family.program(store);
    assertEquals(RunStatus.WAITING_APPROVAL, program.agents.run(request(desk)).status());
    return program;
  }

  @Test
  @Tag("A99")
  @Tag("C46")
  @Tag("A131")
  void a_cancel_ends_all_that_waits_below_and_leaves_what_has_ended_as_it_is() {
    Program program = waiting();
    RunKey ended = children(store, RUN).getFirst();
    RunKey waits = children(store, RUN).getLast();
    RunKey below = children(store, waits).getFirst();
    List<LoggedEvent> log = program.log(ended);

    RunState state = runs.cancel(RUN, "not needed");

    assertEquals(RunStatus.CANCELLED, state.status());
    assertEquals(RunStatus.CANCELLED, state(store, waits).status());
    assertEquals(RunStatus.CANCELLED, state(store, below).status());
    assertEquals(RunStatus.COMPLETED, state(store, ended).status());
    assertEquals(log, program.log(ended));
    assertEquals(
        List.of(RunStatus.COMPLETED, RunStatus.CANCELLED),
        records(program.events(RUN)).stream().map(record -> record.status()).toList());
    assertEquals(List.of(), runs.waiting(RunScope.DEFAULT));
    assertEquals(List.of(), world.effects());
    List<LoggedEvent> after = program.log(below);
    assertEquals(RunStatus.CANCELLED, runs.cancel(RUN).status());
    assertEquals(RunStatus.CANCELLED, program.agents.resume(digger, below).status());
    assertEquals(after, program.log(below));
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A99")
  @Tag("A98")
  @Tag("A132")
  void a_cancel_stops_the_model_call_of_a_grandchild_and_cancels_all_three() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    AtomicBoolean interrupted = new AtomicBoolean();
    family.answers("desk", calls(ask("c1", "research", "1")), text("Never."));
    family.answers("research", calls(ask("d1", "digger", "Dig.")), text("Never."));
    family.answers(
        "digger",
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
    Program program = family.program(store);
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> program.agents.run(request(desk)));
      asked.await();

      var _ = runs.cancel(RUN, "not needed");

      assertEquals(RunStatus.CANCELLED, driver.get().status());
    }
    assertTrue(interrupted.get());
    assertEquals(3, program.runs().size());
    for (var run : program.runs()) {
      assertEquals(RunStatus.CANCELLED, state(store, run.run()).status(), run::toString);
    }
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A98")
  @Tag("A29")
  void a_cancel_of_the_invocation_stops_the_child_and_both_can_go_on() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    boolean[] patient = {false};
    family.answers("desk", calls(ask("c1", "research", "1")), text("Done."));
    family.answers(
        "research",
        call -> {
          if (!patient[0]) {
            asked.countDown();
            new CountDownLatch(1).await();
          }
          return text("Found.").give(call);
        });
    Program program = family.program(store);
    Cancellation handle = new Cancellation();
    AgentRequest request =
        AgentRequest.builder(desk, "Do it.")
            .runId("run-1")
            .invocation(Invocation.builder().cancellation(handle).build())
            .build();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> program.agents.run(request));
      asked.await();
      handle.cancel("enough");
      var thrown = assertThrows(ExecutionException.class, driver::get);
      OperationCancelledException cancelled = (OperationCancelledException) thrown.getCause();
      assertEquals("run-1", cancelled.trace().runId().orElseThrow());
    }
    RunKey child = children(store, RUN).getFirst();
    assertEquals(RunStatus.FAILED, state(store, child).status());

    patient[0] = true;
    assertEquals("Done.", program.agents.resume(desk, RUN).text());
    assertEquals(List.of(child), children(store, RUN));
    assertEquals("Found.", state(store, child).text());
    program.assertNothingIsLeft();
  }

  /** A store in which something happens just before a run is created. */
  private static RunStore beforeCreating(RunStore store, Predicate<NewRun> which, Runnable what) {
    return new ForwardingStore(store) {
      @Override
      public Claim create(NewRun run, Deadline deadline) {
        if (which.test(run)) {
          what.run();
        }
        return super.create(run, deadline);
      }

      @Override
      public Watch watch(RunKey run, RunListener listener) {
        return () -> {}; // the cancel comes from another process
      }
    };
  }

  @Test
  @Tag("A99")
  @Tag("C46")
  void a_child_that_is_born_after_the_scan_stops_before_its_model_call() {
    family.answers("desk", calls(ask("c1", "research", "1")), text("Never."));
    family.answers(
        "research",
        call -> {
          throw new AssertionError("asked after the cancel");
        });
    Program program =
        family.program(
            beforeCreating(
                store,
                run -> run.started().parent().isPresent(),
                () -> {
                  var _ = runs.cancel(RUN);
                }));

    AgentResult result = program.agents.run(request(desk));

    assertEquals(RunStatus.CANCELLED, result.status());
    RunKey child = children(store, RUN).getFirst();
    assertEquals(List.of("RunStarted", "CancelRequested", "RunCancelled"), program.types(child));
    assertEquals(List.of(), family.model("research").asked());
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A99")
  void a_child_that_its_parent_begins_as_the_cancel_comes_does_not_begin() {
    family.answers("desk", calls(ask("c1", "research", "1")), text("Never."));
    family.answers("research", text("Never."));
    AtomicBoolean once = new AtomicBoolean();
    Program program =
        family.program(
            new WaitingStore(
                store,
                append -> {
                  if (begins(append) && !once.getAndSet(true)) {
                    var _ = runs.cancel(RUN);
                  }
                }));

    AgentResult result = program.agents.run(request(desk));

    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals(List.of(), children(store, RUN));
    assertEquals(1, program.runs().size());
  }

  private static boolean begins(Append append) {
    return append.events().stream().anyMatch(ChildStarted.class::isInstance);
  }

  @Test
  @Tag("A99")
  void a_cancel_from_another_process_reaches_a_child_at_work_at_its_next_append() {
    family.answers("desk", calls(ask("c1", "research", "1")), text("Never."));
    family.answers("research", calls(call("k1", "note", "o1")), text("Never."));
    AtomicBoolean once = new AtomicBoolean();
    RunStore deaf =
        new WaitingStore(
            store,
            append -> {
              boolean ofChild = !append.run().equals(RUN) && append.writer().isOwner();
              boolean second =
                  append.events().stream()
                      .anyMatch(e -> e instanceof StepStarted step && step.step() == 2);
              if (ofChild && second && !once.getAndSet(true)) {
                var _ = runs.cancel(RUN);
              }
            }) {
          @Override
          public Watch watch(RunKey run, RunListener listener) {
            return () -> {};
          }
        };
    Program program = family.program(deaf);

    AgentResult result = program.agents.run(request(desk));

    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals(RunStatus.CANCELLED, state(store, children(store, RUN).getFirst()).status());
    assertEquals(List.of(0), family.model("research").asked());
    assertEquals(List.of(0), family.model("desk").asked());
  }

  @Test
  @Tag("A99")
  @Tag("A134")
  void a_child_in_doubt_keeps_its_cancel_waiting_and_not_that_of_its_parent() {
    CountDownLatch never = new CountDownLatch(1);
    Tool pay =
        Tool.of(
            "pay",
            "Pays.",
            World.Order.class,
            EffectClass.ONCE,
            (input, context) -> {
              var _ = runs.cancel(RUN);
              never.await();
              return "";
            });
    Agent boss = agent("boss").subAgents(agent("payer").tools(pay).build()).build();
    family.answers("boss", calls(ask("c1", "payer", "Pay.")), text("Never."));
    family.answers("payer", calls(call("k1", "pay", "o1")), text("Never."));
    Program program = family.program(store);

    AgentResult result = program.agents.run(request(boss));

    assertEquals(RunStatus.CANCELLED, result.status());
    RunKey payer = children(store, RUN).getFirst();
    assertEquals(RunStatus.NEEDS_RECONCILIATION, state(store, payer).status());
    assertTrue(state(store, payer).cancellation().isPresent());
    assertEquals(
        List.of(payer), runs.inDoubt(RunScope.DEFAULT).stream().map(RunState::run).toList());
  }

  @Test
  @Tag("A131")
  @Tag("A99")
  void a_child_that_is_cancelled_alone_is_an_error_to_its_parent() {
    family.answers("desk", calls(ask("c1", "research", "1")), text("It was cancelled."));
    family.answers(
        "research",
        call -> {
          var _ = runs.cancel(children(store, RUN).getFirst());
          new CountDownLatch(1).await();
          return text("Never.").give(call);
        });
    Program program = family.program(store);

    AgentResult result = program.agents.run(request(desk));

    assertEquals("It was cancelled.", result.text());
    assertEquals(RunStatus.CANCELLED, records(program.events(RUN)).getFirst().status());
    assertEquals(1, result.state().toolErrors());
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A99")
  @Tag("A7")
  void a_run_that_fails_for_good_leaves_no_child_behind() {
    Tool refund = world.tool("refund", EffectClass.ONCE).requiresApproval().build();
    Agent boss =
        agent("boss").maxStateBytes(2_048).subAgents(agent("clerk").tools(refund).build()).build();
    family.answers("boss", calls(ask("c1", "clerk", "Pay.")), text("Never."));
    family.answers("clerk", calls(call("k1", "refund", "o".repeat(2_000))), text("Never."));
    Program program = family.program(store);

    AgentResult result = program.agents.run(request(boss));

    assertTrue(result.state().isTerminal());
    assertEquals(RunStatus.FAILED, result.status());
    assertEquals(RunStatus.CANCELLED, state(store, children(store, RUN).getFirst()).status());
    assertEquals(RunStatus.CANCELLED, records(program.events(RUN)).getFirst().status());
    assertEquals(List.of(), runs.waiting(RunScope.DEFAULT));
  }
}
