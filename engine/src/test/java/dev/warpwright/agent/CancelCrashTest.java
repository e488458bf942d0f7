package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.saying;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Effect;
import dev.warpwright.model.Json;
import dev.warpwright.run.CallState;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunCancelled;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A run is cancelled before each of its driver's appends, and the process dies before and after
 * each of its writes, those of the cancel included. Whoever comes next, somebody who cancels again
 * or a driver, brings the run to its end: cancelled, with no effect twice that must not be
 * repeated.
 */
@Timeout(120)
final class CancelCrashTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  /** Who finds what the dead process left. */
  enum Next {
    CANCELS_AGAIN,
    DRIVES_ON
  }

  @ParameterizedTest
  @EnumSource(Next.class)
  @Tag("A131")
  @Tag("A134")
  @Tag("A136")
  @Tag("A55")
  @Tag("A56")
  void a_cancelled_run_ends_cancelled_wherever_the_process_dies(Next next) {
    int lives = 0;
    for (int cancelAt = 1; ; cancelAt++) {
      Life undisturbed = new Life();
      int writes = undisturbed.live(cancelAt, 0, false);
      if (!undisturbed.wasCancelled) {
        assertTrue(lives > 100, "The matrix has only " + lives + " lives.");
        return; // the run had ended before that append
      }
      undisturbed.assertEndedCancelled("undisturbed, cancel before append " + cancelAt);
      for (int write = 1; write <= writes; write++) {
        for (boolean afterIt : new boolean[] {false, true}) {
          Life life = new Life();
          life.live(cancelAt, write, afterIt);
          life.finish(next);
          life.assertEndedCancelled(
              "cancel before append %d, died %s write %d"
                  .formatted(cancelAt, afterIt ? "after" : "before", write));
          lives++;
        }
      }
    }
  }

  /** A run in a store and a world that outlive every process. */
  private static final class Life {
    private final RunStore store = RunStore.inMemory();
    private final Runs runs = Runs.in(store);
    private final World world = new World();
    private final Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(tools())
            .toolExecution(ToolExecution.DEFAULT.withMaxConcurrency(1))
            .build();
    private boolean wasCancelled;

    private List<Tool> tools() {
      return List.of(
          world.reconciled("refund").build(),
          world.tool("pay", EffectClass.ONCE).build(),
          world.tool("note", EffectClass.IDEMPOTENT).build(),
          world.tool("look", EffectClass.PURE).build());
    }

    /** One process that drives the run, and cancels it before one of its own appends. */
    int live(int cancelAt, int fatalWrite, boolean afterIt) {
      MortalStore mortal = MortalStore.dyingAt(fatalWrite, afterIt, store);
      AtomicInteger appends = new AtomicInteger();
      RunStore cancelled =
          new WaitingStore(
              mortal,
              append -> {
                if (append.writer().isOwner() && appends.incrementAndGet() == cancelAt) {
                  wasCancelled = true;
                  var _ = Runs.in(mortal).cancel(RUN);
                }
              });
      try {
        Program program = drive(cancelled);
        program.assertNothingIsLeft();
      } catch (MortalStore.Crash crash) {
        mortal.bury();
      }
      return mortal.writes();
    }

    private Program drive(RunStore seen) {
      Program program =
          Program.on(
              seen,
              FakeModel.of(
                  saying(
                      "First. ",
                      call("c1", "look", "o1"),
                      call("c2", "refund", "o1"),
                      call("c3", "pay", "o1"),
                      call("c4", "note", "o1")),
                  calls(call("c1", "pay", "o2")),
                  text("Done.")));
      var _ =
          program.agents.run(
              AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build());
      return program;
    }

    /** Another process: nobody drives the run now. */
    void finish(Next next) {
      if (runs.state(RUN).isEmpty()) {
        var _ = drive(store); // it died before the run began
      }
      boolean asked = state().cancellation().isPresent();
      for (int patience = 0; !state().isTerminal() && patience < 10; patience++) {
        if (next == Next.CANCELS_AGAIN || !asked) {
          var _ = runs.cancel(RUN);
          asked = true;
        } else {
          var _ = drive(store);
        }
        state().calls().stream().filter(CallState::needsVerdict).forEach(this::decide);
      }
    }

    /** A person looks into the world and says what became of a call. */
    private void decide(CallState call) {
      String key = call.started().orElseThrow().key();
      Optional<Effect> effect = world.find(key);
      var _ =
          runs.reconcile(
              RUN,
              new ToolReconciled(
                  call.call().id(),
                  key,
                  effect.isPresent() ? Verdict.SUCCEEDED : Verdict.NOT_EXECUTED,
                  effect.map(done -> Json.of(World.output(done.tool(), done.order()))),
                  "ann"));
    }

    private RunState state() {
      return RunState.of(log());
    }

    private List<LoggedEvent> log() {
      return store.load(RUN, 1, Deadline.never());
    }

    void assertEndedCancelled(String what) {
      List<RunEvent> events = log().stream().map(LoggedEvent::event).toList();
      String story = what + ": " + events;
      if (events.stream().noneMatch(CancelRequested.class::isInstance)) {
        assertEquals(RunStatus.COMPLETED, state().status(), story); // nobody had asked by then
        return;
      }
      assertEquals(RunStatus.CANCELLED, state().status(), story);
      assertEquals(1, events.stream().filter(RunCancelled.class::isInstance).count(), story);
      int asked = events.indexOf(new CancelRequested(Optional.empty()));
      for (RunEvent event : events.subList(asked, events.size())) {
        assertTrue(!(event instanceof StepStarted || event instanceof ToolStarted), story);
      }
      assertTrue(
          events.subList(asked, events.size()).stream()
                  .filter(ModelResponded.class::isInstance)
                  .count()
              <= 1,
          story);
      List<String> once = new ArrayList<>();
      for (Effect effect : world.effects()) {
        if (effect.tool().equals("refund") || effect.tool().equals("pay")) {
          assertTrue(!once.contains(effect.key()), story + " did twice " + effect);
          once.add(effect.key());
        }
      }
    }
  }
}
