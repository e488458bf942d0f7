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
import dev.warpwright.run.Append;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Guardrail;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In which order an invocation does what it does, and what it writes. */
@Timeout(60)
final class InvocationOrderTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final List<String> acts = new CopyOnWriteArrayList<>();

  /** Notes who acquires a run and what is appended to it. */
  private WaitingStore noting() {
    return new WaitingStore(store, append -> acts.add(names(append))) {
      @Override
      public Optional<Writer> acquire(RunKey run, Deadline deadline) {
        Optional<Writer> owner = super.acquire(run, deadline);
        acts.add(owner.isPresent() ? "acquired" : "not acquired");
        return owner;
      }
    };
  }

  private static String names(Append append) {
    return String.join(" ", append.events().stream().map(RunEventCodec::type).toList());
  }

  private Agent.Builder agent() {
    return Agent.builder("agent", Program.ROUTE)
        .tools(world.tool("refund", EffectClass.ONCE).build());
  }

  private static AgentRequest.Builder request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1");
  }

  @Test
  @Tag("A114")
  @Tag("A21")
  void a_run_with_one_tool_writes_its_events_in_this_order_and_an_intent_before_its_outcome() {
    Program program =
        Program.on(noting(), FakeModel.of(calls(call("c1", "refund", "o1")), text("Done.")));

    program.agents.run(request(agent().build()).build());

    assertEquals(
        List.of(
            "StepStarted",
            "RouteBound ModelResponded ToolStarted",
            "ToolFinished StepStarted",
            "ModelResponded RunCompleted"),
        acts,
        "RunStarted is written by the claim");
    assertEquals("RunStarted", program.types(RUN).getFirst());
  }

  @Test
  @Tag("A1")
  void every_event_has_its_run_its_place_its_writer_its_time_and_its_schema_version() {
    Program program =
        Program.on(store, FakeModel.of(calls(call("c1", "refund", "o1")), text("Done.")));
    RunScope scope = new RunScope("acme", Optional.of("ann"), Optional.of("prod"));
    RunKey run = new RunKey(scope, "run-1");

    program.agents.run(request(agent().build()).scope(scope).build());

    List<LoggedEvent> log = program.log(run);
    assertEquals(9, log.size());
    for (int i = 0; i < log.size(); i++) {
      LoggedEvent logged = log.get(i);
      assertEquals(run, logged.run());
      assertEquals(i + 1, logged.sequence());
      assertEquals(log.getFirst().writer(), logged.writer());
      assertTrue(logged.writer().isOwner());
      assertEquals(program.time.now(), logged.time());
      assertTrue(RunEventCodec.version(logged) >= 1);
    }
    assertTrue(RunEvent.class.isSealed());
  }

  @Test
  @Tag("A21")
  void a_resume_owns_the_run_before_it_writes_that_it_goes_on() {
    AtomicInteger asked = new AtomicInteger();
    Program program =
        Program.on(
            noting(),
            FakeModel.of(
                call ->
                    asked.incrementAndGet() == 1
                        ? FakeModel.status(503).give(call)
                        : text("Done.").give(call)));
    Agent agent = agent().build();
    program.agents.run(request(agent).build());
    acts.clear();

    program.agents.resume(agent, RUN);

    assertEquals(
        List.of("acquired", "RunResumed", "StepStarted", "RouteBound ModelResponded RunCompleted"),
        acts);
  }

  @Test
  @Tag("A14")
  @Tag("A22")
  void a_run_that_is_being_driven_is_not_driven_twice() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch open = new CountDownLatch(1);
    Program program =
        Program.on(
            store,
            FakeModel.of(
                call -> {
                  asked.countDown();
                  open.await();
                  return text("Done.").give(call);
                }));
    Agent agent = agent().build();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> program.agents.run(request(agent).build()));
      asked.await();
      FakeModel idle = FakeModel.of();
      Program other = Program.on(noting(), idle);

      AgentResult second = other.agents.resume(agent, RUN);

      assertEquals(RunStatus.RUNNING, second.status());
      assertFalse(second.driven());
      assertEquals(List.of("not acquired"), acts);
      assertEquals(List.of(), idle.asked());
      assertThrows(
          ConflictException.class,
          () -> other.agents.resume(agent, RUN, ApprovalDecision.approve("approval_1")),
          "who brings decisions is told that they were not taken");
      open.countDown();
      assertEquals(RunStatus.COMPLETED, driver.get().status());
    }
  }

  @Test
  @Tag("A13")
  @Tag("A24")
  void a_resume_without_steps_fails_before_a_guardrail_or_a_model_is_asked() {
    List<String> guarded = new ArrayList<>();
    FakeModel model =
        FakeModel.of(
            calls(call("c1", "refund", "o1")), calls(call("c2", "refund", "o2")), text("Done."));
    Program program = Program.on(store, model);
    Agent.Builder agent =
        agent()
            .inputGuardrails(
                Guardrail.of(
                    "notes",
                    view -> {
                      guarded.add("asked");
                      return Guardrail.Verdict.PASS;
                    }));
    AgentResult used = program.agents.run(request(agent.maxSteps(1).build()).build());
    assertEquals(FailureKind.LIMIT, used.state().failure().orElseThrow().kind());
    assertEquals(1, guarded.size());

    AgentResult again = program.agents.resume(agent.build(), RUN);

    assertEquals(FailureKind.LIMIT, again.state().failure().orElseThrow().kind());
    assertTrue(again.state().failure().orElseThrow().message().contains("maxSteps"));
    assertEquals(1, guarded.size(), "nobody is asked when no step is left");
    assertEquals(1, model.asked().size());

    AgentResult raised = program.agents.resume(agent.maxSteps(3).build(), RUN);

    assertEquals(RunStatus.COMPLETED, raised.status());
    assertEquals(2, guarded.size());
    assertEquals(3, raised.state().step(), "steps are counted over resumes");
  }

  @Test
  @Tag("A17")
  void a_run_of_another_scope_is_not_there_and_approvals_need_a_run() {
    Program program = Program.on(store, FakeModel.of(text("Done.")));
    Agent agent = agent().build();
    program.agents.run(request(agent).build());
    int events = program.types(RUN).size();

    for (RunKey other :
        List.of(
            new RunKey(new RunScope("acme", Optional.empty(), Optional.empty()), "run-1"),
            new RunKey(RunScope.DEFAULT, "run-2"))) {
      InvalidRequestException refused =
          assertThrows(InvalidRequestException.class, () -> program.agents.resume(agent, other));
      assertTrue(refused.getMessage().contains("There is no run"), refused.getMessage());
      assertThrows(
          InvalidRequestException.class,
          () -> program.agents.resume(agent, other, ApprovalDecision.approve("approval_1")));
    }

    assertEquals(events, program.types(RUN).size());
    assertTrue(program.events(RUN).getFirst() instanceof RunStarted);
  }
}
