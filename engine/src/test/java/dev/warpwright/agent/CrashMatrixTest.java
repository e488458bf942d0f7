package dev.warpwright.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.warpwright.agent.World.Effect;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Json;
import dev.warpwright.run.Append;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.CallState;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RouteBound;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The process dies before and after each of its writes to the store, and the next one before and
 * after each of its own; then another takes the run up by its idempotency key. What comes out is
 * what an undisturbed run gives, and the world saw no effect twice that must not be repeated.
 */
@Timeout(120)
final class CrashMatrixTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  static List<Scenario> scenarios() {
    return Scenario.all();
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("A33")
  @Tag("A36")
  @Tag("A54")
  @Tag("A55")
  @Tag("A57")
  void a_crash_at_any_write_loses_nothing_and_does_nothing_twice(Scenario scenario) {
    Life undisturbed = new Life(scenario);
    int writes = undisturbed.live(0, false);
    undisturbed.assertConsistent();

    for (int write = 1; write <= writes; write++) {
      for (boolean afterIt : new boolean[] {false, true}) {
        crashAndCrashAgain(undisturbed, write, afterIt);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("A33")
  @Tag("A36")
  @Tag("A55")
  void a_crash_of_a_run_that_is_watched_loses_nothing_and_does_nothing_twice(Scenario scenario) {
    Life undisturbed = new Life(scenario);
    int writes = undisturbed.live(0, false);
    Life watched = new Life(scenario, WATCHED);
    assertEquals(writes, watched.live(0, false));
    watched.assertLike(undisturbed, "watched");

    for (int write = 1; write <= writes; write++) {
      for (boolean afterIt : new boolean[] {false, true}) {
        Life life = new Life(scenario, WATCHED);
        life.live(write, afterIt);
        life.live(0, false);
        life.assertLike(undisturbed, "died %s write %d".formatted(after(afterIt), write));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("R151")
  @Tag("A12")
  @Tag("A55")
  void a_stream_that_is_left_at_any_event_loses_nothing_and_does_nothing_twice(Scenario scenario) {
    Life undisturbed = new Life(scenario);
    undisturbed.live(0, false);

    boolean left = true;
    for (int events = 0; left; events++) {
      Life life = new Life(scenario, WATCHED);
      left = life.leaveAfter(events);
      life.live(0, false);
      life.assertLike(undisturbed, "left after " + events + " events");
    }
  }

  /** How a program has its runs driven. */
  private interface Way {
    AgentResult run(Agents agents, AgentRequest request);

    AgentResult resume(Agents agents, Agent agent, ApprovalDecision... decisions);
  }

  private static final Way BLOCKING =
      new Way() {
        @Override
        public AgentResult run(Agents agents, AgentRequest request) {
          return agents.run(request);
        }

        @Override
        public AgentResult resume(Agents agents, Agent agent, ApprovalDecision... decisions) {
          return agents.resume(agent, RUN, decisions);
        }
      };

  private static final Way WATCHED =
      new Way() {
        @Override
        public AgentResult run(Agents agents, AgentRequest request) {
          return read(agents.stream(request));
        }

        @Override
        public AgentResult resume(Agents agents, Agent agent, ApprovalDecision... decisions) {
          return read(agents.stream(agent, RUN, decisions));
        }

        private static AgentResult read(AgentStream stream) {
          try (stream) {
            stream.forEach(event -> {});
            return stream.collect();
          }
        }
      };

  /** All lives in which the first process dies at a given write. */
  private static void crashAndCrashAgain(Life undisturbed, int write, boolean afterIt) {
    for (int next = 0; ; next++) {
      for (boolean nextAfterIt : new boolean[] {false, true}) {
        Life life = new Life(undisturbed.scenario);
        life.live(write, afterIt);
        int secondLife = next == 0 ? 0 : life.live(next, nextAfterIt);
        life.live(0, false);
        life.assertLike(
            undisturbed,
            "died %s write %d, then %s write %d"
                .formatted(after(afterIt), write, after(nextAfterIt), next));
        if (next > 0 && secondLife < next) {
          return; // the second process was through before that write
        }
      }
    }
  }

  private static String after(boolean afterIt) {
    return afterIt ? "after" : "before";
  }

  /** What becomes of a run in a store and a world that outlive every process. */
  private static final class Life {
    final Scenario scenario;
    final RunStore store = RunStore.inMemory();
    final World world = new World();
    final Agent agent;
    final Way way;
    final List<String> wrongQuestions = new ArrayList<>();
    Optional<AgentResult> result = Optional.empty();

    Life(Scenario scenario) {
      this(scenario, BLOCKING);
    }

    Life(Scenario scenario, Way way) {
      this.scenario = scenario;
      this.way = way;
      this.agent = scenario.agent(world);
    }

    /** One process that drives the run as far as it gets; returns its number of writes. */
    int live(int fatalWrite, boolean afterIt) {
      MortalStore mortal = MortalStore.dyingAt(fatalWrite, afterIt, store);
      Program program =
          Program.on(
              mortal,
              FakeModel.of(scenario.answers()).onAsk(this::asked),
              FakeModel.of(scenario.spare()).onAsk(this::asked));
      int writes;
      try {
        result = Optional.of(drive(program));
        writes = mortal.writes();
        awaitEnd(program);
        program.assertNothingIsLeft();
      } catch (MortalStore.Crash crash) {
        writes = mortal.writes();
        result = Optional.empty();
        mortal.bury();
        awaitEnd(program);
        assertEquals(0, program.time.pendingAlarms());
      }
      return writes;
    }

    /** The thread of a stream ends just after its reader has seen that. */
    @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
    private static void awaitEnd(Program program) {
      while (!program.gateway.diagnostics().liveTasks().isEmpty()) {
        Thread.yield();
      }
    }

    /** Watches so much of the run and leaves; false if there was no more. */
    boolean leaveAfter(int events) {
      Program program =
          Program.having(
              store,
              FakeModel.of(scenario.answers()).onAsk(this::asked),
              FakeModel.of(scenario.spare()).onAsk(this::asked),
              builder -> builder.streamBufferEvents(2));
      boolean left = false;
      try (AgentStream stream = program.agents.stream(request())) {
        Iterator<AgentEvent> all = stream.iterator();
        int i = 0;
        while (i < events && all.hasNext()) {
          all.next();
          i++;
        }
        left = i == events; // else it was at its end
      }
      awaitEnd(program);
      program.assertNothingIsLeft();
      return left;
    }

    /** A model is never asked for an answer that is in the log. */
    private void asked(int answer) {
      long answered = count(ModelResponded.class);
      if (answered != answer) {
        wrongQuestions.add("answer " + answer + " was asked for when there were " + answered);
      }
    }

    private AgentResult drive(Program program) {
      for (int patience = 0; patience < 10; patience++) {
        AgentResult result = way.run(program.agents, request());
        if (result.status() == RunStatus.WAITING_APPROVAL) {
          result = way.resume(program.agents, agent, decisions(result));
        }
        if (result.status() == RunStatus.NEEDS_RECONCILIATION) {
          result.inDoubt().forEach(call -> decideAsOperator(program, call));
        } else if (result.status() != RunStatus.WAITING_APPROVAL) {
          return result;
        }
      }
      return fail("The run does not come to an end.");
    }

    private AgentRequest request() {
      return AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build();
    }

    private ApprovalDecision[] decisions(AgentResult result) {
      return result.pendingApprovals().stream()
          .map(scenario.decide())
          .toArray(ApprovalDecision[]::new);
    }

    /** A person looks into the world and says what became of a call. */
    private void decideAsOperator(Program program, CallState call) {
      assertEquals(EffectClass.ONCE, call.started().orElseThrow().effect());
      String key = call.started().orElseThrow().key();
      Optional<Effect> effect = world.find(key);
      RunEvent verdict =
          new ToolReconciled(
              call.call().id(),
              key,
              effect.isPresent() ? Verdict.SUCCEEDED : Verdict.NOT_EXECUTED,
              effect.map(done -> Json.of(World.output(done.tool(), done.order()))),
              "ann");
      RunState state = state();
      program.store.append(
          new Append(
              RUN,
              state.sequence(),
              Writer.outside("ann"),
              state.updatedAt(),
              List.of(verdict),
              state.standing()),
          Deadline.never());
    }

    RunState state() {
      return RunState.of(store.load(RUN, 1, Deadline.never()));
    }

    private long count(Class<? extends RunEvent> type) {
      return store.load(RUN, 1, Deadline.never()).stream()
          .filter(logged -> type.isInstance(logged.event()))
          .count();
    }

    void assertConsistent() {
      assertEquals(List.of(), wrongQuestions);
      assertEquals(1, store.list(RunQuery.all(RunScope.DEFAULT), Deadline.never()).size());
      List<String> story = story();
      Set<String> once = new HashSet<>();
      for (String line : story) {
        assertTrue(mayRepeat(line) || once.add(line), () -> "twice: " + line + " in " + story);
      }
    }

    void assertLike(Life undisturbed, String what) {
      assertConsistent();
      assertEquals(undisturbed.result.orElseThrow().status(), result.orElseThrow().status(), what);
      assertEquals(undisturbed.result.get().text(), result.get().text(), what);
      assertEquals(undisturbed.state().messages(), state().messages(), what);
      assertEquals(undisturbed.state().usage(), state().usage(), what);
      assertEquals(new TreeSet<>(undisturbed.story()), new TreeSet<>(story()), what);
      assertEquals(undisturbed.effects(EffectClass.ONCE), effects(EffectClass.ONCE), what);
      assertEquals(
          new HashSet<>(undisturbed.effects(EffectClass.IDEMPOTENT)),
          new HashSet<>(effects(EffectClass.IDEMPOTENT)),
          what);
    }

    /** The effects of tools of a class, sorted; keys included. */
    private List<String> effects(EffectClass effectClass) {
      Map<String, EffectClass> classes =
          agent.tools().tools().stream()
              .collect(Collectors.toMap(tool -> tool.name(), tool -> tool.effect()));
      return world.effects().stream()
          .filter(effect -> classes.get(effect.tool()) == effectClass)
          .map(Effect::toString)
          .sorted()
          .toList();
    }

    /** What happened in the run, without the traces that crashes leave. */
    private List<String> story() {
      List<String> story = new ArrayList<>();
      Map<String, Integer> step = new HashMap<>();
      for (LoggedEvent logged : store.load(RUN, 1, Deadline.never())) {
        tell(logged.event(), step).ifPresent(story::add);
      }
      return story;
    }

    private static Optional<String> tell(RunEvent event, Map<String, Integer> at) {
      int step = at.getOrDefault("step", 0);
      return switch (event) {
        case RunStarted e -> Optional.of("started " + e.agentId());
        case StepStarted e -> {
          at.put("step", e.step());
          yield Optional.of("step " + e.step());
        }
        case RouteBound e -> Optional.of("bound in step " + e.step() + " to " + e.target());
        case ModelResponded e -> Optional.of("answered in step " + e.step());
        case RunEvent.GuardrailChecked e -> Optional.of("stopped by " + e.guardrailId());
        case ApprovalRequested e -> Optional.of("asked for " + e.callId());
        case ApprovalDecided e -> Optional.of("decided " + e.requestId());
        case ToolStarted e -> Optional.of("began " + e.callId() + " in step " + e.step() + e.key());
        case ToolFinished e -> Optional.of("ended " + e.callId() + " in step " + step + e.error());
        case ToolReconciled e when e.verdict() == Verdict.NOT_EXECUTED -> Optional.empty();
        case ToolReconciled e ->
            Optional.of(
                "ended " + e.callId() + " in step " + step + (e.verdict() == Verdict.FAILED));
        case RunEvent.ChildStarted e -> Optional.of("child began for " + e.callId());
        case RunEvent.ChildFinished e -> Optional.of("child ended for " + e.callId() + e.status());
        case RunSuspended e when e.reason() == RunSuspended.Reason.RECONCILIATION ->
            Optional.empty();
        case RunSuspended e -> Optional.of("waited for " + e.awaited());
        case RunResumed e -> Optional.empty();
        case RunEvent.CancelRequested e -> Optional.of("asked to cancel");
        case RunEvent.RunCancelled e -> Optional.of("cancelled");
        case RunEvent.RunTimedOut e -> Optional.of("timed out");
        case RunCompleted e -> Optional.of("completed: " + e.text());
        case RunFailed e when e.kind() == FailureKind.CANCELLED -> Optional.empty();
        case RunFailed e -> Optional.of("failed: " + e.kind() + " " + e.message());
        case dev.warpwright.run.FlowEvent e -> throw new IllegalStateException("an agent did " + e);
      };
    }

    private static boolean mayRepeat(String line) {
      return line.startsWith("step ") || line.startsWith("began ") || line.startsWith("failed: ");
    }
  }
}
