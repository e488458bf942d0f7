package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.saying;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static dev.warpwright.agent.Family.agent;
import static dev.warpwright.agent.Family.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.warpwright.agent.World.Effect;
import dev.warpwright.model.Json;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.CallState;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The process dies before and after each of its writes while an agent has others work for it, and
 * the next one at each of its own; then another takes the run up by its idempotency key. There is
 * one child run for each call, no answer is paid for twice, and the world saw no effect twice that
 * must not be repeated.
 */
@Timeout(120)
final class SubAgentCrashTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  /**
   * A run with child runs that is always the same.
   *
   * @param name what happens in it
   * @param root the agent that gives the work, with tools that act on the given world
   * @param answers what the model of each agent answers
   */
  record Tale(
      String name, Function<World, Agent> root, Map<String, List<FakeModel.Answer>> answers) {
    @Override
    public String toString() {
      return name;
    }
  }

  static List<Tale> tales() {
    return List.of(
        new Tale(
            "a child with tools between tools of its parent",
            world ->
                agent("desk")
                    .tools(
                        world.tool("note", EffectClass.IDEMPOTENT).build(),
                        world.reconciled("refund").build())
                    .subAgents(
                        agent("clerk")
                            .tools(
                                world.tool("look", EffectClass.PURE).build(),
                                world.reconciled("pay").build())
                            .build())
                    .build(),
            Map.of(
                "desk",
                List.of(
                    saying(
                        "First. ",
                        call("c1", "note", "o1"),
                        ask("c2", "clerk", "Pay."),
                        call("c3", "refund", "o1")),
                    text("Done.")),
                "clerk",
                List.of(calls(call("c1", "look", "o1"), call("c2", "pay", "o1")), text("Paid.")))),
        new Tale(
            "two children, of which the second waits for an approval",
            world ->
                agent("desk")
                    .subAgents(
                        agent("research").build(),
                        agent("clerk")
                            .tools(world.reconciled("pay").requiresApproval().build())
                            .build())
                    .build(),
            Map.of(
                "desk",
                List.of(
                    calls(ask("c1", "research", "What?"), ask("c2", "clerk", "Pay.")),
                    text("Done.")),
                "research",
                List.of(text("It.")),
                "clerk",
                List.of(calls(call("c1", "pay", "o1")), text("Paid.")))),
        new Tale(
            "a grandchild that waits for an approval",
            world ->
                agent("boss")
                    .subAgents(
                        agent("desk")
                            .subAgents(
                                agent("clerk")
                                    .tools(world.reconciled("pay").requiresApproval().build())
                                    .build())
                            .build())
                    .build(),
            Map.of(
                "boss",
                List.of(calls(ask("c1", "desk", "Do it.")), text("Good.")),
                "desk",
                List.of(calls(ask("c1", "clerk", "Pay.")), text("Done.")),
                "clerk",
                List.of(calls(call("c1", "pay", "o1")), text("Paid.")))),
        new Tale(
            "a child whose ONCE tool nobody can ask",
            world ->
                agent("desk")
                    .subAgents(
                        agent("clerk").tools(world.tool("pay", EffectClass.ONCE).build()).build())
                    .build(),
            Map.of(
                "desk",
                List.of(calls(ask("c1", "clerk", "Pay.")), text("Done.")),
                "clerk",
                List.of(calls(call("c1", "pay", "o1")), text("Paid.")))),
        new Tale(
            "a child that fails",
            world -> agent("desk").subAgents(agent("clerk").build()).build(),
            Map.of(
                "desk",
                List.of(calls(ask("c1", "clerk", "Pay.")), text("It failed.")),
                "clerk",
                List.of(status(503)))));
  }

  @ParameterizedTest
  @MethodSource("tales")
  @Tag("A93")
  @Tag("A95")
  @Tag("A96")
  @Tag("C44")
  @Tag("A129")
  void a_crash_at_any_write_loses_no_child_and_does_nothing_twice(Tale tale) {
    Life undisturbed = new Life(tale);
    int writes = undisturbed.live(0, false);
    undisturbed.assertLike(undisturbed, "undisturbed");

    for (int write = 1; write <= writes; write++) {
      for (boolean afterIt : new boolean[] {false, true}) {
        crashAndCrashAgain(undisturbed, write, afterIt);
      }
    }
  }

  /** Lives in which the first process dies at a given write, and the next at every other. */
  private static void crashAndCrashAgain(Life undisturbed, int write, boolean afterIt) {
    for (int next = 0; ; next += next == 0 ? 1 + write % 2 : 2) {
      Life life = new Life(undisturbed.tale);
      life.live(write, afterIt);
      boolean nextAfterIt = (write / 2 + next / 2) % 2 == 0;
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

  private static String after(boolean afterIt) {
    return afterIt ? "after" : "before";
  }

  /** What becomes of the runs in a store and a world that outlive every process. */
  private static final class Life {
    final Tale tale;
    final RunStore store = RunStore.inMemory();
    final World world = new World();
    final Agent root;
    final List<String> wrongQuestions = new ArrayList<>();
    Optional<AgentResult> result = Optional.empty();

    Life(Tale tale) {
      this.tale = tale;
      this.root = tale.root().apply(world);
    }

    /** One process that drives the run as far as it gets; returns its number of writes. */
    int live(int fatalWrite, boolean afterIt) {
      MortalStore mortal = MortalStore.dyingAt(fatalWrite, afterIt, store);
      Family family = new Family();
      tale.answers()
          .forEach(
              (agentId, answers) ->
                  family.model(
                      agentId, FakeModel.of(answers).onAsk(answer -> asked(agentId, answer))));
      Program program = family.program(mortal);
      int writes;
      try {
        result = Optional.of(drive(program));
        writes = mortal.writes();
        program.assertNothingIsLeft();
      } catch (MortalStore.Crash crash) {
        writes = mortal.writes();
        result = Optional.empty();
        mortal.bury();
        assertEquals(List.of(), program.gateway.diagnostics().liveTasks());
        assertEquals(0, program.time.pendingAlarms());
      }
      return writes;
    }

    /** A model is never asked for an answer that is in the log. */
    private void asked(String agentId, int answer) {
      long answered =
          logOf(agentId).stream()
              .filter(logged -> logged.event() instanceof ModelResponded)
              .count();
      if (answered != answer) {
        wrongQuestions.add(agentId + " was asked for " + answer + " after " + answered);
      }
    }

    private List<LoggedEvent> logOf(String agentId) {
      return runs().stream()
          .filter(run -> run.agentId().equals(agentId))
          .findFirst()
          .map(run -> store.load(run.run(), 1, Deadline.never()))
          .orElse(List.of());
    }

    private List<RunSummary> runs() {
      return store.list(RunQuery.all(RunScope.DEFAULT), Deadline.never());
    }

    private AgentResult drive(Program program) {
      AgentRequest request =
          AgentRequest.builder(root, "Do it.").runId("run-1").idempotencyKey("key").build();
      for (int patience = 0; patience < 12; patience++) {
        AgentResult left = program.agents.run(request);
        if (left.status() == RunStatus.WAITING_APPROVAL) {
          left =
              program.agents.resume(
                  root,
                  RUN,
                  left.pendingApprovals().stream()
                      .map(asked -> ApprovalDecision.approve(asked.requestId()))
                      .toArray(ApprovalDecision[]::new));
        }
        if (left.status() == RunStatus.WAITING) {
          Runs.in(program.store)
              .inDoubt(RunScope.DEFAULT)
              .forEach(run -> run.inDoubt().forEach(call -> decideAsOperator(program, run, call)));
        } else if (left.status() != RunStatus.WAITING_APPROVAL) {
          return left;
        }
      }
      return fail("The run does not come to an end: " + story());
    }

    /** A person looks into the world and says what became of a call. */
    private void decideAsOperator(Program program, RunState run, CallState call) {
      String key = call.started().orElseThrow().key();
      Optional<Effect> effect = world.find(key);
      var _ =
          Runs.in(program.store)
              .reconcile(
                  run.run(),
                  new ToolReconciled(
                      call.call().id(),
                      key,
                      effect.isPresent() ? Verdict.SUCCEEDED : Verdict.NOT_EXECUTED,
                      effect.map(done -> Json.of(World.output(done.tool(), done.order()))),
                      "ann"));
    }

    void assertLike(Life undisturbed, String what) {
      assertEquals(List.of(), wrongQuestions, what);
      assertEquals(undisturbed.runs().size(), runs().size(), what);
      assertEquals(undisturbed.result.orElseThrow().status(), result.orElseThrow().status(), what);
      assertEquals(undisturbed.result.get().text(), result.get().text(), what);
      assertEquals(
          undisturbed.result.get().state().messages().size(),
          result.get().state().messages().size(),
          what);
      assertEquals(undisturbed.story(), story(), what);
      assertEquals(undisturbed.effects(), effects(), what);
      Map<String, Set<String>> keys = new HashMap<>();
      world
          .effects()
          .forEach(
              done ->
                  keys.computeIfAbsent(done.tool() + done.order(), each -> new HashSet<>())
                      .add(done.key()));
      keys.forEach((effect, each) -> assertEquals(1, each.size(), what + ": " + effect));
      assertTrue(
          runs().stream().allMatch(run -> state(run).calls().isEmpty()), () -> what + story());
    }

    private RunState state(RunSummary run) {
      return RunState.of(store.load(run.run(), 1, Deadline.never()));
    }

    /** What took place; of what may be repeated, that it did. */
    private List<String> effects() {
      Set<String> repeatable = new TreeSet<>();
      List<String> all = new ArrayList<>();
      for (Effect done : world.effects()) {
        String line = done.tool() + " " + done.order();
        boolean once = !Set.of("look", "note").contains(done.tool());
        if (once || repeatable.add(line)) {
          all.add(line);
        }
      }
      return all.stream().sorted().toList();
    }

    /** How each call of each agent ended, once each, and that each child began once. */
    private Map<String, List<String>> story() {
      return runs().stream()
          .collect(
              Collectors.toMap(
                  RunSummary::agentId,
                  run ->
                      store.load(run.run(), 1, Deadline.never()).stream()
                          .flatMap(logged -> tell(logged.event()).stream())
                          .sorted()
                          .toList(),
                  (one, other) -> fail("two runs of one agent"),
                  TreeMap::new));
    }

    private static Optional<String> tell(RunEvent event) {
      return switch (event) {
        case ModelResponded e -> Optional.of("answered " + e.step());
        case ChildStarted e -> Optional.of("child of " + e.callId());
        case ChildFinished e ->
            Optional.of(
                "child of " + e.callId() + " " + e.status() + " " + e.text() + e.toolCalls());
        case ToolFinished e -> Optional.of("ended " + e.callId());
        case ToolReconciled e when e.verdict() != Verdict.NOT_EXECUTED ->
            Optional.of("ended " + e.callId());
        case RunEvent.ApprovalRequested e -> Optional.of("asked for " + e.callId());
        case RunEvent.ApprovalDecided e -> Optional.of("decided");
        case RunEvent.RunCompleted e -> Optional.of("completed " + e.text());
        default -> Optional.empty();
      };
    }
  }
}
