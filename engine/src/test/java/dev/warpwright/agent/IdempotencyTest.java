package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Capability;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Route;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs under an idempotency key, asked for more than once. */
@Timeout(60)
final class IdempotencyTest {
  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private Optional<Program> program = Optional.empty();

  @AfterEach
  void nothingIsLeft() {
    program.ifPresent(Program::assertNothingIsLeft);
  }

  private Program program(FakeModel.Answer... answers) {
    program = Optional.of(Program.on(store, FakeModel.of(answers)));
    return program.get();
  }

  private Agent.Builder agent() {
    return Agent.builder("agent", Program.ROUTE)
        .tools(world.tool("refund", EffectClass.ONCE).build());
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build();
  }

  /** A model answer that begins when somebody waits for it and ends when it is let go. */
  private static final class Gate {
    final CountDownLatch reached = new CountDownLatch(1);
    final CountDownLatch open = new CountDownLatch(1);

    FakeModel.Answer before(FakeModel.Answer answer) {
      return call -> {
        reached.countDown();
        open.await();
        return answer.give(call);
      };
    }
  }

  @Test
  @Tag("C42")
  @Tag("A104")
  @Tag("A107")
  void fifty_callers_with_the_same_key_get_one_run_and_its_result() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    Program program =
        program(
            call -> {
              asked.incrementAndGet();
              return calls(call("c1", "refund", "o1")).give(call);
            },
            text("Done."));
    Agent agent = agent().build();
    CountDownLatch start = new CountDownLatch(1);
    List<AgentResult> results = new ArrayList<>();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<AgentResult>> callers = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        callers.add(
            pool.submit(
                () -> {
                  start.await();
                  return program.agents.run(request(agent));
                }));
      }
      start.countDown();
      for (Future<AgentResult> caller : callers) {
        results.add(caller.get());
      }
    }

    assertEquals(1, results.stream().map(AgentResult::run).distinct().count());
    assertEquals(1, results.stream().filter(AgentResult::driven).count());
    assertTrue(results.stream().allMatch(result -> result.text().equals("Done.")));
    assertEquals(1, asked.get());
    assertEquals(1, world.effects().size());
    assertEquals(1, program.runs().size());
  }

  @Test
  @Tag("A107")
  void an_ended_run_is_returned_without_any_call() {
    Program program = program(text("Done."));
    Agent agent = agent().build();
    AgentResult first = program.agents.run(request(agent));
    List<String> log = program.types(first.run());

    AgentResult second = program.agents.run(request(agent));

    assertEquals("Done.", second.text());
    assertEquals(List.of(), second.attempts());
    assertFalse(second.driven());
    assertEquals(log, program.types(first.run()));
  }

  @Test
  @Tag("A107")
  void a_run_that_failed_resumably_is_gone_on_with_and_one_that_failed_for_good_is_not() {
    AtomicInteger asked = new AtomicInteger();
    Program program =
        program(
            call ->
                asked.incrementAndGet() == 1
                    ? status(503).give(call)
                    : FakeModel.ended(
                            dev.warpwright.model.FinishReason.Kind.LENGTH,
                            "",
                            call("c1", "refund", "o1"))
                        .give(call));
    Agent agent = agent().build();

    AgentResult first = program.agents.run(request(agent));
    assertTrue(first.state().failure().orElseThrow().resumable());
    AgentResult second = program.agents.run(request(agent));
    assertFalse(second.state().failure().orElseThrow().resumable());
    AgentResult third = program.agents.run(request(agent));

    assertEquals(first.run(), third.run());
    assertEquals(second.state().failure(), third.state().failure());
    assertEquals(2, asked.get());
    assertFalse(third.driven());
  }

  @Test
  @Tag("A107")
  void a_caller_that_waited_takes_the_failure_of_the_one_who_drove() throws Exception {
    Gate gate = new Gate();
    Program program = program(gate.before(status(503)));
    Agent agent = agent().build();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> program.agents.run(request(agent)));
      gate.reached.await();
      WaitingStore watched = new WaitingStore(store);
      Program other = Program.on(watched, FakeModel.of(text("Never asked.")));
      Future<AgentResult> waiter = pool.submit(() -> other.agents.run(request(agent)));
      watched.waiting.await();
      gate.open.countDown();

      assertEquals(RunStatus.FAILED, driver.get().status());
      assertEquals(RunStatus.FAILED, waiter.get().status());
      assertFalse(waiter.get().driven());
      other.assertNothingIsLeft();
    }
  }

  @Test
  @Tag("A105")
  @Tag("A106")
  void the_same_key_with_anything_else_is_a_conflict_that_names_the_parts_and_no_content() {
    Program program = program(text("Done."));
    AgentResult first = program.agents.run(request(agent().build()));
    List<String> log = program.types(first.run());
    Tool refund2 = world.tool("refund", EffectClass.ONCE).version("2").build();
    Tool idempotent = world.tool("refund", EffectClass.IDEMPOTENT).build();
    Map<AgentRequest, String> others = new LinkedHashMap<>();
    others.put(keyed(AgentRequest.builder(agent().build(), "secret")), "messages");
    others.put(
        keyed(
            AgentRequest.builder(
                agent().build(), List.of(Message.user("Do it."), Message.user("")))),
        "messages");
    others.put(request(agent().instructions("secret").build()), "instructions");
    others.put(request(agent().version("2").build()), "agent");
    others.put(request(agent().tools(refund2).build()), "tools");
    others.put(request(agent().tools(idempotent).build()), "tools");
    others.put(request(agent().tools().build()), "tools");
    others.put(request(agent().maxSteps(3).build()), "options");
    others.put(request(agent().temperature(0.5).build()), "options");
    others.put(request(agent().maxTokens(5).build()), "options");
    others.put(request(agent().maxToolErrors(1).build()), "options");
    others.put(
        request(agent().reasoning(Reasoning.effort(Reasoning.Effort.LOW)).build()), "reasoning");
    others.put(request(agent().reasoning(Reasoning.budget(100)).build()), "reasoning");
    others.put(
        request(agent().providerOptions("fake", Json.parse("{\"secret\":1}")).build()),
        "providerOptions");
    others.put(
        request(agent().requiredCapabilities(Capability.TOOLS).build()), "requiredCapabilities");
    others.put(request(agent().invalidInput(InvalidInput.FAIL).build()), "options");
    others.put(
        request(agent().toolExecution(ToolExecution.DEFAULT.stoppingOnError()).build()), "options");
    others.put(
        request(
            Agent.builder("agent", Route.of(Program.TARGET, Program.SPARE))
                .tools(agent().build().tools().tools())
                .build()),
        "targets");

    others.forEach(
        (request, part) -> {
          ConflictException conflict =
              assertThrows(ConflictException.class, () -> program.agents.run(request));
          String message = String.valueOf(conflict.getMessage());
          assertTrue(message.endsWith("it differs in " + part + "."), message);
          assertFalse(message.contains("secret"), message);
        });
    assertEquals(log, program.types(first.run()));
    assertEquals(1, program.runs().size());
  }

  private static AgentRequest keyed(AgentRequest.Builder builder) {
    return builder.idempotencyKey("key").build();
  }

  @Test
  @Tag("A105")
  void what_does_not_change_the_request_is_no_conflict() {
    Program program = program(text("Done."));
    AgentResult first = program.agents.run(request(agent().build()));

    AgentResult again =
        program.agents.run(
            AgentRequest.builder(
                    agent().toolExecution(ToolExecution.DEFAULT.withMaxConcurrency(2)).build(),
                    "Do it.")
                .idempotencyKey("key")
                .invocation(Invocation.builder().timeout(Duration.ofSeconds(5)).build())
                .build());

    assertEquals(first.run(), again.run());
  }

  @Test
  @Tag("A105")
  void the_same_key_in_another_scope_is_another_run() {
    Program program = program(text("Done."));
    Agent agent = agent().build();
    AgentResult first = program.agents.run(request(agent));
    AgentResult second =
        program.agents.run(
            AgentRequest.builder(agent, "Do it.")
                .scope(RunScope.of("other"))
                .idempotencyKey("key")
                .build());

    assertNotEquals(first.run(), second.run());
  }

  @Test
  @Tag("A108")
  void a_waiting_caller_that_is_interrupted_or_out_of_time_leaves_the_run_alone() throws Exception {
    Gate gate = new Gate();
    Program program = program(gate.before(text("Done.")));
    Agent agent = agent().build();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> program.agents.run(request(agent)));
      gate.reached.await();
      String runId = program.runs().getFirst().run().runId();

      WaitingStore watched = new WaitingStore(store);
      Program other = Program.on(watched, FakeModel.of());
      AtomicReference<Optional<OperationCancelledException>> thrown =
          new AtomicReference<>(Optional.empty());
      Thread waiter =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      var _ = other.agents.run(request(agent));
                    } catch (OperationCancelledException e) {
                      thrown.set(
                          Optional.of(e).filter(x -> Thread.currentThread().isInterrupted()));
                    }
                  });
      watched.waiting.await();
      waiter.interrupt();
      waiter.join();
      assertEquals(Optional.of(runId), thrown.get().orElseThrow().trace().runId());

      WaitingStore alsoWatched = new WaitingStore(store);
      Program third = Program.on(alsoWatched, FakeModel.of());
      AgentRequest hurried =
          AgentRequest.builder(agent, "Do it.")
              .idempotencyKey("key")
              .invocation(Invocation.builder().timeout(Duration.ofSeconds(1)).build())
              .build();
      Future<AgentResult> late = pool.submit(() -> third.agents.run(hurried));
      alsoWatched.waiting.await();
      third.time.advance(Duration.ofSeconds(1));
      var failure = assertThrows(java.util.concurrent.ExecutionException.class, late::get);
      var deadline = (DeadlineExceededException) failure.getCause();
      assertEquals(Optional.of(runId), deadline.trace().runId());

      gate.open.countDown();
      assertEquals(RunStatus.COMPLETED, driver.get().status());
      assertEquals(0, other.time.pendingAlarms() + third.time.pendingAlarms());
    }
  }

  @Test
  @Tag("A107")
  void a_caller_that_waits_for_a_driver_that_dies_drives_on() throws Exception {
    Gate gate = new Gate();
    MortalStore mortal = MortalStore.dyingAt(3, false, store);
    Program dying = Program.on(mortal, FakeModel.of(gate.before(text("Lost."))));
    program = Optional.of(Program.on(store, FakeModel.of(text("Done."))));
    Agent agent = agent().build();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> dying.agents.run(request(agent)));
      gate.reached.await();
      WaitingStore watched = new WaitingStore(store);
      Program other = Program.on(watched, FakeModel.of(text("Done.")));
      Future<AgentResult> waiter = pool.submit(() -> other.agents.run(request(agent)));
      watched.waiting.await();
      gate.open.countDown();
      assertThrows(java.util.concurrent.ExecutionException.class, driver::get);
      mortal.bury();

      assertEquals("Done.", waiter.get().text());
      assertTrue(waiter.get().driven());
      assertEquals(
          List.of("RunResumed", "StepStarted", "RouteBound", "ModelResponded", "RunCompleted"),
          program.get().types(waiter.get().run()).subList(2, 7));
    }
  }

  @Test
  void a_run_that_is_driven_is_not_driven_twice_but_shown_as_it_stands() throws Exception {
    Gate gate = new Gate();
    Program program = program(gate.before(text("Done.")));
    Agent agent = agent().build();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> program.agents.run(request(agent)));
      gate.reached.await();
      AgentResult now = program.agents.resume(agent, program.runs().getFirst().run());

      assertEquals(RunStatus.RUNNING, now.status());
      assertFalse(now.driven());
      gate.open.countDown();
      assertEquals(RunStatus.COMPLETED, driver.get().status());
    }
  }

  @Test
  @Tag("A104")
  void of_different_keys_each_has_its_run() {
    Program program = program(text("Done."));
    Agent agent = agent().build();
    Set<String> runs =
        List.of("a", "b", "a b", "A").stream()
            .map(key -> AgentRequest.builder(agent, "Do it.").idempotencyKey(key).build())
            .map(request -> program.agents.run(request).run().runId())
            .collect(Collectors.toSet());
    assertEquals(4, runs.size());
  }
}
