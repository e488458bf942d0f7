package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStates;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Processes that keep what they know of runs, on a store where all that can happen to a run
 * happens: each of them says at any time what one says that has kept nothing.
 */
@Timeout(60)
final class FoldCacheRunsTest {
  private static final int STEPS =
      40; // three waits on the way, behind logs that are worth to be kept
  private static final int RUNS = 4;

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final Agent agent =
      Agent.builder("agent", Program.ROUTE)
          .tools(
              world.tool("pay", EffectClass.IDEMPOTENT).requiresApproval(input -> true).build(),
              world.tool("look", EffectClass.PURE).build())
          .build();

  private static FakeModel model() {
    List<FakeModel.Answer> answers = new ArrayList<>();
    for (int step = 1; step <= STEPS; step++) {
      answers.add(calls(call("c" + step, step % 10 == 0 ? "pay" : "look", "o" + step)));
    }
    answers.add(text("Done."));
    return FakeModel.of(answers);
  }

  private static RunKey key(int run) {
    return new RunKey(RunScope.DEFAULT, "run-" + run);
  }

  private List<LoggedEvent> log(RunKey run) {
    return store.load(run, 1, Deadline.never());
  }

  private static ApprovalDecision[] decisions(RunState state, Random random) {
    return state.pendingApprovals().stream()
        .map(ApprovalRequested::requestId)
        .map(id -> random.nextInt(4) == 0 ? decline(id) : ApprovalDecision.approve(id))
        .toArray(ApprovalDecision[]::new);
  }

  private static ApprovalDecision decline(String id) {
    return ApprovalDecision.deny(id, "no");
  }

  @Test
  @Tag("A115")
  @Tag("A2")
  void a_process_that_keeps_runs_says_what_one_says_that_keeps_nothing() {
    long seed = Long.getLong("seed", new Random().nextLong());
    try {
      Map<String, Integer> done = new TreeMap<>();
      for (int round = 0; round < 6; round++) {
        oneRound(new Random(seed + round), done);
      }
      assertTrue(done.size() == 9 && done.values().stream().allMatch(n -> n > 3), done::toString);
    } catch (Throwable e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private void oneRound(Random random, Map<String, Integer> done) {
    Program program = Program.on(store, model());
    long small = 1L + random.nextInt(200_000);
    List<Agents> processes =
        List.of(
            program.agents,
            Agents.builder(program.gateway).store(store).foldCache(small).build(),
            Agents.builder(program.gateway).store(store).foldCache(0).build());
    Runs runs = Runs.in(store, program.time);
    for (int n = 0; n < 150; n++) {
      program.time.advance(Duration.ofMillis(1)); // no two events of two lives are the same
      RunKey run = key(random.nextInt(RUNS));
      List<LoggedEvent> before = log(run);
      Agents one = processes.get(random.nextInt(processes.size()));
      String what = act(one, runs, run, before, random);
      done.merge(what, 1, Integer::sum);
      for (Agents each : processes) {
        assertSaysTheTruth(each, run, what);
      }
    }
    for (int run = 0; run < RUNS; run++) {
      var _ = runs.delete(key(run));
    }
    program.assertNothingIsLeft();
  }

  /** Does something to a run, and says what. */
  private String act(
      Agents agents, Runs runs, RunKey run, List<LoggedEvent> before, Random random) {
    if (before.isEmpty()) {
      String prompt = "Do it, " + random.nextInt(3) + ".";
      left(agents.run(AgentRequest.builder(agent, prompt).runId(run.runId()).build()));
      return "begun";
    }
    RunState state = RunState.of(before);
    int die = random.nextInt(20);
    if (die < 10) {
      left(agents.resume(agent, run, decisions(state, random)));
      return "resumed";
    }
    if (die < 13 && !state.pendingApprovals().isEmpty()) {
      var _ = runs.decide(run, decisions(state, random));
      return "decided outside";
    }
    if (die == 13 && !state.isTerminal()) {
      var _ = runs.cancel(run, "not needed");
      return "cancelled";
    }
    if (die == 14 || state.isTerminal()) {
      assertTrue(runs.delete(run));
      return "deleted";
    }
    if (die == 15) {
      assertTrue(runs.delete(run));
      left(agents.run(AgentRequest.builder(agent, "Again.").runId(run.runId()).build()));
      return "begun anew";
    }
    if (die == 16) {
      assertTrue(runs.delete(run));
      List<LoggedEvent> cut = before.subList(0, 1 + random.nextInt(before.size()));
      store.adopt(cut, RunState.of(cut).standing(), Deadline.never());
      return "taken in, cut off";
    }
    if (die == 17) {
      assertTrue(runs.delete(run));
      List<LoggedEvent> later = before.stream().map(FoldCacheRunsTest::aDayLater).toList();
      store.adopt(later, RunState.of(later).standing(), Deadline.never());
      return "taken in, lived again";
    }
    left(agents.resume(agent, before)); // handed in
    return "handed in";
  }

  private static LoggedEvent aDayLater(LoggedEvent event) {
    return new LoggedEvent(
        event.run(),
        event.sequence(),
        event.writer(),
        event.time().plusSeconds(86_400),
        event.event());
  }

  /** What an invocation gives is what is stored. */
  private void left(AgentResult result) {
    assertEquals(log(result.run()), result.log());
    assertEquals(RunStates.view(RunState.of(log(result.run()))), RunStates.view(result.state()));
  }

  private void assertSaysTheTruth(Agents agents, RunKey run, String what) {
    List<LoggedEvent> truth = log(run);
    if (truth.isEmpty()) {
      assertThrows(InvalidRequestException.class, () -> agents.result(agent, run), what);
      return;
    }
    AgentResult said = agents.result(agent, run);
    assertEquals(truth, said.log(), what);
    assertEquals(RunStates.view(RunState.of(truth)), RunStates.view(said.state()), what);
  }

  @Test
  @Tag("A115")
  void a_result_stays_what_it_was_when_its_run_goes_on() {
    Program program = Program.on(store, model());
    AgentResult first =
        program.agents.run(AgentRequest.builder(agent, "Do it.").runId("run-0").build());
    List<LoggedEvent> log = first.log();
    Map<String, Object> state = RunStates.view(first.state());

    AgentResult second =
        program.agents.resume(
            agent,
            first.run(),
            ApprovalDecision.approve(first.pendingApprovals().getFirst().requestId()));

    assertTrue(second.log().size() > log.size());
    assertEquals(log, first.log());
    assertEquals(state, RunStates.view(first.state()));
  }
}
