package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.HookFailure.Hook;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.Harness;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunBinding;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.tool.EffectClass;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What runs are bound to beside their agent and their targets. */
@Timeout(60)
final class BindingTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Harness HARNESS = new Harness("tickets", "1", "abc");

  @RegisterExtension private final LeakCheck leaks = new LeakCheck();
  private final RunStore store = RunStore.inMemory();
  private final World world = new World();
  private final List<String> trail = Collections.synchronizedList(new ArrayList<>());
  private final List<HookFailure> failures = Collections.synchronizedList(new ArrayList<>());

  private Program program(RunStore seen, FakeModel.Answer... answers) {
    Program program = Program.on(seen, FakeModel.of(answers));
    leaks.watch(program.gateway);
    leaks.watch(program.time);
    return program;
  }

  private Program program(FakeModel.Answer... answers) {
    return program(store, answers);
  }

  private Agent agent(UnaryOperator<Agent.Builder> options) {
    return options
        .apply(
            Agent.builder("agent", Program.ROUTE)
                .tools(world.tool("refund", EffectClass.ONCE).requiresApproval().build()))
        .build();
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1").build();
  }

  /** Says what it is, and what it has when it is acquired; leaves a trail. */
  private ExecutionEnvironment environment(String fingerprint, String acquired) {
    return new ExecutionEnvironment() {
      @Override
      public String fingerprint() {
        return fingerprint;
      }

      @Override
      public Handle acquire(RunKey run) {
        trail.add("acquired for " + run);
        return handle(acquired);
      }
    };
  }

  private ExecutionEnvironment.Handle handle(String fingerprint) {
    return new ExecutionEnvironment.Handle() {
      @Override
      public String fingerprint() {
        return fingerprint;
      }

      @Override
      public void release(Optional<RunStatus> status) {
        trail.add("released " + status.map(RunStatus::name).orElse("unknown"));
      }
    };
  }

  private ExecutionEnvironment environment() {
    return environment("image-1", "image-1");
  }

  private AgentResult waiting(Agent agent) {
    AgentResult result = program(calls(call("c1", "refund", "o1"))).agents.run(request(agent));
    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
    return result;
  }

  private ConflictException refused(Agent agent, Invocation invocation) {
    long before = store.load(RUN, 1, Deadline.never()).size();
    Program program = program();
    ConflictException refused =
        assertThrows(
            ConflictException.class,
            () -> program.agents.resume(agent, RUN, List.of(), invocation));
    assertEquals(before, store.load(RUN, 1, Deadline.never()).size());
    return refused;
  }

  private static Invocation unboundAllowed() {
    return Invocation.builder().allowUnboundRun(true).build();
  }

  @Test
  @Tag("A16")
  @Tag("A19")
  void a_run_records_its_binding_and_is_resumed_under_the_same() {
    Agent agent = agent(builder -> builder.harness(HARNESS).environment(environment()));
    AgentResult waiting = waiting(agent);
    RunStarted started = (RunStarted) waiting.log().getFirst().event();

    AgentResult done =
        program(calls(call("c1", "refund", "o1")), text("Refunded."))
            .agents
            .resume(
                agent,
                RUN,
                ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId()));

    assertEquals(
        Optional.of(new RunBinding(Optional.of(HARNESS), Optional.of("image-1"))),
        started.binding());
    assertEquals(RunStatus.COMPLETED, done.status());
  }

  @Test
  @Tag("A19")
  void another_harness_or_environment_or_none_does_not_resume_a_bound_run() {
    waiting(agent(builder -> builder.harness(HARNESS).environment(environment())));

    for (Harness other :
        List.of(
            new Harness("orders", "1", "abc"),
            new Harness("tickets", "2", "abc"),
            new Harness("tickets", "1", "abd"))) {
      Agent agent = agent(builder -> builder.harness(other).environment(environment()));
      String message = refused(agent, unboundAllowed()).getMessage();
      assertTrue(
          message.contains(HARNESS.toString()) && message.contains(other.toString()), message);
    }
    Agent moved =
        agent(builder -> builder.harness(HARNESS).environment(environment("image-2", "image-2")));
    String message = refused(moved, unboundAllowed()).getMessage();
    assertTrue(message.contains("image-1") && message.contains("image-2"), message);
    Agent bare = agent(builder -> builder);
    assertTrue(refused(bare, unboundAllowed()).getMessage().contains(HARNESS.toString()));
    Agent half = agent(builder -> builder.harness(HARNESS));
    assertTrue(refused(half, unboundAllowed()).getMessage().contains("image-1"));
  }

  @Test
  @Tag("A19")
  void an_unbound_run_is_resumed_under_a_binding_only_if_the_invocation_says_so() {
    AgentResult waiting = waiting(agent(builder -> builder));
    Agent named = agent(builder -> builder.harness(HARNESS));
    Agent placed = agent(builder -> builder.environment(environment()));

    assertTrue(
        refused(named, Invocation.DEFAULT).getMessage().contains("allowUnboundRun"), "harness");
    assertTrue(refused(placed, Invocation.DEFAULT).getMessage().contains("image-1"), "environment");
    List<LoggedEvent> log = waiting.log();
    assertThrows(ConflictException.class, () -> program().agents.resume(named, log));
    assertEquals(
        RunStatus.WAITING_APPROVAL,
        program().agents.resume(named, RUN, List.of(), unboundAllowed()).status());
    assertEquals(
        RunStatus.WAITING_APPROVAL,
        program().agents.resume(placed, RUN, List.of(), unboundAllowed()).status());
  }

  @Test
  @Tag("A106")
  void a_key_belongs_to_the_harness_it_was_claimed_in() {
    Program program = program(text("Hello."));
    Agent agent = agent(builder -> builder.harness(HARNESS));
    program.agents.run(AgentRequest.builder(agent, "Do it.").idempotencyKey("k").build());
    Agent other = agent(builder -> builder.harness(new Harness("tickets", "2", "abc")));

    ConflictException refused =
        assertThrows(
            ConflictException.class,
            () ->
                program.agents.run(
                    AgentRequest.builder(other, "Do it.").idempotencyKey("k").build()));

    assertTrue(refused.getMessage().contains("harness"), refused.getMessage());
  }

  @Test
  @Tag("A16")
  void a_harness_or_an_environment_without_a_name_is_refused_before_there_is_a_run() {
    assertThrows(InvalidRequestException.class, () -> new Harness(" ", "1", "abc"));
    assertThrows(InvalidRequestException.class, () -> new Harness("a", "x".repeat(257), "abc"));
    assertThrows(InvalidRequestException.class, () -> new Harness("a", "1", ""));
    assertThrows(
        InvalidRequestException.class,
        () -> agent(builder -> builder.environment(environment(" ", " "))));
  }

  static List<Scenario> scenarios() {
    return Scenario.all();
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("A28")
  void the_environment_is_released_on_every_way_out_with_the_final_status(Scenario scenario) {
    Program program =
        Program.on(store, FakeModel.of(scenario.answers()), FakeModel.of(scenario.spare()));
    leaks.watch(program.gateway);
    Scenario placed =
        new Scenario(
            scenario.name(),
            scenario.tools(),
            builder -> scenario.options().apply(builder).environment(environment()),
            scenario.answers(),
            scenario.spare(),
            scenario.decide());

    AgentResult result = program.agents.run(request(placed.agent(world)));

    assertEquals(List.of("acquired for run-1", "released " + result.status()), trail);
  }

  @Test
  @Tag("A28")
  void the_environment_is_released_after_the_tools_and_before_the_run_is_handed_back() {
    Program program = program(calls(call("c1", "note", "o1")), text("Done."));
    List<Boolean> owned = new ArrayList<>();
    ExecutionEnvironment environment =
        new ExecutionEnvironment() {
          @Override
          public String fingerprint() {
            return "image-1";
          }

          @Override
          public Handle acquire(RunKey run) {
            trail.add("acquired after " + program.types(run));
            ExecutionEnvironment.Handle handle = handle("image-1");
            return new Handle() {
              @Override
              public String fingerprint() {
                return handle.fingerprint();
              }

              @Override
              public void release(Optional<RunStatus> status) throws Exception {
                Optional<Writer> other = store.acquire(run, Deadline.never());
                owned.add(other.isEmpty());
                handle.release(status);
              }
            };
          }
        };
    Agent agent =
        agent(
            builder ->
                builder
                    .environment(environment)
                    .memory(asked -> List.of())
                    .tools(world.tool("note", EffectClass.IDEMPOTENT).build()));

    program.agents.run(request(agent));

    assertEquals(List.of("acquired after [RunStarted, MemoryLoaded]", "released COMPLETED"), trail);
    assertEquals(List.of(true), owned);
  }

  @Test
  @Tag("A26")
  void an_environment_that_is_another_one_than_the_bound_is_released_and_ends_the_run() {
    Program program = program(text("Hello."));
    Agent agent = agent(builder -> builder.environment(environment("image-1", "image-2")));

    AgentResult result = program.agents.run(request(agent));

    assertEquals(RunStatus.FAILED, result.status());
    var failure = result.state().failure().orElseThrow();
    assertEquals(FailureKind.CONFLICT, failure.kind());
    assertTrue(failure.message().contains("image-1") && failure.message().contains("image-2"));
    assertEquals(List.of("RunStarted", "RunFailed"), program.types(RUN));
    assertEquals(List.of("acquired for run-1", "released FAILED"), trail);
  }

  @Test
  @Tag("A26")
  void an_environment_that_cannot_be_acquired_fails_the_run_resumably() {
    Program program = program(text("Hello."));
    ExecutionEnvironment broken =
        acquiring(
            run -> {
              throw new IOException("PRIVATE");
            });

    AgentResult result = program.agents.run(request(agent(builder -> builder.environment(broken))));

    var failure = result.state().failure().orElseThrow();
    assertEquals(FailureKind.INTERNAL, failure.kind());
    assertTrue(failure.resumable());
    assertFalse(failure.message().contains("PRIVATE"));
    AgentResult resumed =
        program.agents.resume(agent(builder -> builder.environment(environment())), RUN);
    assertEquals(RunStatus.COMPLETED, resumed.status());
  }

  private interface Acquire {
    ExecutionEnvironment.Handle of(RunKey run) throws Exception;
  }

  private static ExecutionEnvironment acquiring(Acquire acquire) {
    return new ExecutionEnvironment() {
      @Override
      public String fingerprint() {
        return "image-1";
      }

      @Override
      public Handle acquire(RunKey run) throws Exception {
        return acquire.of(run);
      }
    };
  }

  @Test
  @Tag("A28")
  void an_environment_that_comes_when_its_invocation_is_over_is_released_too() throws Exception {
    Program program = program(text("Hello."));
    Cancellation cancellation = new Cancellation();
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    ExecutionEnvironment late =
        acquiring(
            run -> {
              asked.countDown();
              awaitStubbornly(gate);
              return handle("image-1");
            });
    AgentRequest request =
        AgentRequest.builder(agent(builder -> builder.environment(late)), "Do it.")
            .runId("run-1")
            .invocation(Invocation.builder().cancellation(cancellation).build())
            .build();
    try (AgentStream stream = program.agents.stream(request)) {
      asked.await();
      cancellation.cancel("enough");
      program.time.awaitAlarmIn(Duration.ofMillis(100));
      program.time.advance(Duration.ofMillis(100)); // the grace: it is left behind
      assertThrows(OperationCancelledException.class, stream::collect);
    }
    assertEquals(List.of(), trail);
    gate.countDown();
    program.assertNothingIsLeft();

    assertEquals(List.of("released FAILED"), trail);
  }

  private static void awaitStubbornly(CountDownLatch gate) {
    while (true) {
      try {
        gate.await();
        return;
      } catch (InterruptedException e) {
        Thread.onSpinWait(); // it does not care
      }
    }
  }

  @Test
  @Tag("A28")
  void an_interrupt_does_not_keep_the_environment_from_being_released() {
    Agent agent = agent(builder -> builder.environment(environment()));
    Thread self = Thread.currentThread();
    Program interrupted =
        program(
            RunStore.inMemory(),
            call -> {
              self.interrupt();
              new CountDownLatch(1).await();
              throw new AssertionError();
            });

    assertThrows(OperationCancelledException.class, () -> interrupted.agents.run(request(agent)));

    assertTrue(Thread.interrupted());
    assertEquals(List.of("acquired for run-1", "released FAILED"), trail);
  }

  @Test
  @Tag("A28")
  void a_release_that_fails_is_reported_and_changes_nothing() {
    Program program = program(text("Hello."));
    IOException broken = new IOException("down");
    ExecutionEnvironment leaking =
        acquiring(
            run ->
                new ExecutionEnvironment.Handle() {
                  @Override
                  public String fingerprint() {
                    return "image-1";
                  }

                  @Override
                  public void release(Optional<RunStatus> status) throws IOException {
                    throw broken;
                  }
                });
    Agents agents =
        Agents.builder(program.gateway)
            .store(store)
            .hookFailures(HookFailurePolicy.FAIL.onError(failures::add))
            .build();

    AgentResult result = agents.run(request(agent(builder -> builder.environment(leaking))));
    assertTrue(program.gateway.flushObservers(Duration.ofSeconds(30)));

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(
        List.of(new HookFailure(Hook.ENVIRONMENT, "agent", Optional.of(RUN), broken)), failures);
  }

  @Test
  @Tag("A26")
  void a_run_that_is_not_driven_acquires_nothing() {
    Agent agent = agent(builder -> builder.environment(environment()));
    waiting(agent);
    trail.clear();

    program().agents.resume(agent, RUN);

    assertEquals(List.of(), trail);
    assertInstanceOf(RunStarted.class, store.load(RUN, 1, Deadline.never()).getFirst().event());
  }
}
