package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.agent.HookFailure.Hook;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Image;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunEvent.MemoryLoaded;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.tool.EffectClass;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What runs remember from elsewhere. */
@Timeout(60)
final class MemoryTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Message SYSTEM = Message.system("You help.");
  private static final Message REMEMBERED = Message.user("I like tea.");
  private static final Message ASKED = Message.user("Do it.");

  @RegisterExtension private final LeakCheck leaks = new LeakCheck();
  private final RunStore store = RunStore.inMemory();
  private final World world = new World();
  private final List<HookFailure> failures = Collections.synchronizedList(new ArrayList<>());
  private final AtomicInteger loads = new AtomicInteger();
  private final FakeModel model =
      FakeModel.of(calls(call("c1", "refund", "o1")), text("Refunded."));

  private Program program(RunStore seen) {
    Program program = Program.on(seen, model);
    leaks.watch(program.gateway);
    leaks.watch(program.time);
    return program;
  }

  private Agents agents(Program program, HookFailurePolicy policy) {
    return Agents.builder(program.gateway)
        .store(program.store)
        .hookFailures(policy.onError(failures::add))
        .build();
  }

  private Agent agent(Memory memory) {
    return Agent.builder("agent", Program.ROUTE)
        .instructions("You help.")
        .memory(
            asked -> {
              loads.incrementAndGet();
              return memory.load(asked);
            })
        .tools(world.tool("refund", EffectClass.ONCE).requiresApproval().build())
        .build();
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.")
        .runId("run-1")
        .metadata(Map.of("customer", "c7"))
        .build();
  }

  private RunState state(Program program) {
    return RunState.of(program.log(RUN));
  }

  @Test
  @Tag("A18")
  void what_is_remembered_stands_between_the_instructions_and_the_conversation() {
    Program program = program(store);
    List<Memory.Request> asked = new ArrayList<>();
    Agent agent =
        agent(
            request -> {
              asked.add(request);
              return List.of(REMEMBERED);
            });

    program.agents.run(request(agent));

    assertEquals(List.of(SYSTEM, REMEMBERED, ASKED), state(program).messages().subList(0, 3));
    assertEquals(
        List.of("RunStarted", "MemoryLoaded", "StepStarted"), program.types(RUN).subList(0, 3));
    assertEquals(
        List.of(new Memory.Request(RUN, "agent", List.of(SYSTEM, ASKED), Map.of("customer", "c7"))),
        asked);
  }

  @Test
  void a_resume_goes_on_with_what_was_loaded_and_does_not_load_again() {
    Program program = program(store);
    Agent agent = agent(asked -> List.of(Message.user("load " + loads.get())));
    AgentResult waiting = program.agents.run(request(agent));

    AgentResult done =
        program(store)
            .agents
            .resume(
                agent,
                RUN,
                ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId()));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(1, loads.get());
    assertEquals(Message.user("load 1"), done.state().messages().get(1));
  }

  /** The process dies at each write of the beginning, before it took place and after. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_crash_around_the_load_leaves_a_run_that_remembers_once(boolean after) {
    for (int write = 1; write <= 3; write++) {
      RunStore survivor = RunStore.inMemory();
      MortalStore mortal = MortalStore.dyingAt(write, after, survivor);
      Program dying = program(mortal);
      Agent agent = agent(asked -> List.of(REMEMBERED));
      assertThrows(MortalStore.Crash.class, () -> dying.agents.run(request(agent)));
      mortal.bury();

      Program next = program(survivor);
      if (next.log(RUN).isEmpty()) {
        assertEquals(1, write);
        continue;
      }
      next.agents.resume(agent, RUN);

      assertEquals(1, next.events(RUN).stream().filter(MemoryLoaded.class::isInstance).count());
      assertEquals(List.of(SYSTEM, REMEMBERED, ASKED), state(next).messages().subList(0, 3));
    }
  }

  @Test
  @Tag("A107")
  void who_attaches_to_a_run_by_its_key_loads_nothing() {
    Program program = program(store);
    Agent agent = agent(asked -> List.of(REMEMBERED));
    AgentRequest request = AgentRequest.builder(agent, "Do it.").idempotencyKey("k").build();

    program.agents.run(request);
    program.agents.run(request);

    assertEquals(1, loads.get());
  }

  @Test
  @Tag("A141")
  void a_memory_that_fails_is_ignored_and_reported() {
    Program program = program(store);
    IOException broken = new IOException("down");
    Agent agent =
        agent(
            asked -> {
              throw broken;
            });

    AgentResult result = agents(program, HookFailurePolicy.IGNORE).run(request(agent));
    program.gateway.flushObservers(Duration.ofSeconds(30));

    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
    assertEquals(List.of(SYSTEM, ASKED), result.state().messages().subList(0, 2));
    assertEquals(
        List.of(new HookFailure(Hook.MEMORY, "agent", Optional.of(RUN), broken)), failures);
  }

  @Test
  @Tag("A141")
  void a_memory_that_fails_ends_the_run_if_the_policy_says_so_and_is_asked_again_by_a_resume() {
    Program program = program(store);
    Agent agent =
        agent(
            asked -> {
              if (loads.get() == 1) {
                throw new IOException("down");
              }
              return List.of(REMEMBERED);
            });
    Agents agents = agents(program, HookFailurePolicy.FAIL);

    AgentResult failed = agents.run(request(agent));

    assertEquals(RunStatus.FAILED, failed.status());
    assertEquals(FailureKind.INTERNAL, failed.state().failure().orElseThrow().kind());
    assertFalse(failed.state().failure().orElseThrow().message().contains("down"));
    assertEquals(List.of(), model.asked());
    assertEquals(RunStatus.WAITING_APPROVAL, agents.resume(agent, RUN).status());
    assertEquals(List.of(SYSTEM, REMEMBERED, ASKED), state(program).messages().subList(0, 3));
  }

  @Test
  @Tag("A141")
  void messages_that_no_memory_may_give_are_a_failure_of_it() {
    Message result = Message.tool(List.of(new ToolResult("c1", "refund", Json.of("x"), false)));
    Message calls = new Message(Role.ASSISTANT, List.of(call("c1", "refund", "o1")));
    Message image = new Message(Role.USER, List.of(new Image("https://example.com/a.png")));
    for (Message bad : List.of(result, calls)) {
      failures.clear();
      Program program = program(RunStore.inMemory());
      Agent agent = agent(asked -> List.of(image, bad));

      AgentResult ended = agents(program, HookFailurePolicy.FAIL).run(request(agent));
      program.gateway.flushObservers(Duration.ofSeconds(30));

      assertEquals(RunStatus.FAILED, ended.status());
      assertInstanceOf(InvalidRequestException.class, failures.getFirst().cause());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("A31")
  @Tag("C46")
  void a_cancel_while_memory_loads_leads_to_no_model_call_whether_or_not_the_load_fails(
      boolean fails) {
    for (HookFailurePolicy policy : List.of(HookFailurePolicy.IGNORE, HookFailurePolicy.FAIL)) {
      Program program = program(RunStore.inMemory());
      List<RunStatus> meanwhile = new ArrayList<>();
      Agent agent =
          agent(
              asked -> {
                meanwhile.add(program.agents.runs().cancel(asked.run(), "enough").status());
                if (fails) {
                  throw new IOException("down");
                }
                return List.of(REMEMBERED);
              });

      AgentResult result = agents(program, policy).run(request(agent));

      assertEquals(List.of(RunStatus.CANCEL_REQUESTED), meanwhile);
      assertEquals(RunStatus.CANCELLED, result.status());
      assertEquals(List.of("RunStarted", "CancelRequested", "RunCancelled"), program.types(RUN));
      assertEquals(List.of(), model.asked());
    }
  }

  @Test
  @Tag("A31")
  void a_memory_that_hangs_is_interrupted_by_the_cancel_of_its_run() throws Exception {
    Program program = program(store);
    CountDownLatch loading = new CountDownLatch(1);
    Agent agent =
        agent(
            asked -> {
              loading.countDown();
              new CountDownLatch(1).await();
              return List.of();
            });
    try (AgentStream stream = program.agents.stream(request(agent))) {
      loading.await();
      program.agents.runs().cancel(RUN);

      assertEquals(RunStatus.CANCELLED, stream.collect().status());
    }
    assertEquals(List.of(), model.asked());
  }

  @Test
  @Tag("A7")
  void a_memory_that_does_not_fit_into_the_state_is_not_written() {
    Program program = program(store);
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .maxStateBytes(1024)
            .memory(asked -> List.of(Message.user("x".repeat(2000))))
            .build();

    AgentResult result = program.agents.run(request(agent));

    assertEquals(FailureKind.LIMIT, result.state().failure().orElseThrow().kind());
    assertEquals(List.of("RunStarted", "RunFailed"), program.types(RUN));
  }

  @Test
  @Tag("A23")
  void the_observer_is_told_that_memory_was_loaded_after_the_run_started() {
    Program program = program(store);
    List<AgentTelemetry.Event> told = Collections.synchronizedList(new ArrayList<>());
    Agents.builder(program.gateway)
        .store(store)
        .observer(telemetry -> told.add(telemetry.event()))
        .build()
        .run(request(agent(asked -> List.of(REMEMBERED))));
    program.gateway.flushObservers(Duration.ofSeconds(30));

    assertEquals(
        List.of("InvocationStart", "RunStart", "EventsAppended", "EventsAppended", "MemoryLoaded"),
        told.subList(0, 5).stream().map(event -> event.getClass().getSimpleName()).toList());
    assertEquals(new AgentTelemetry.MemoryLoaded(1), told.get(4));
  }
}
