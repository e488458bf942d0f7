package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static dev.warpwright.agent.Family.agent;
import static dev.warpwright.agent.Family.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Effect;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolStarted;
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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The root of a tree of three runs is cancelled before each append of a driver of any of them, and
 * the process dies at each of its writes, those of the cancel included. Whoever comes next brings
 * the whole tree to its end, and nothing of it begins after the request.
 */
@Timeout(120)
final class TreeCancelCrashTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  /** Who finds what the dead process left. */
  enum Next {
    CANCELS_AGAIN,
    DRIVES_ON
  }

  @ParameterizedTest
  @EnumSource(Next.class)
  @Tag("A99")
  @Tag("A131")
  @Tag("A136")
  @Tag("C46")
  void a_cancelled_tree_ends_as_a_whole_wherever_the_process_dies(Next next) {
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
        boolean afterIt = (write + cancelAt) % 2 == 0;
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

  /** Runs in a store and a world that outlive every process. */
  private static final class Life {
    private final RunStore store = RunStore.inMemory();
    private final Runs runs = Runs.in(store);
    private final World world = new World();
    private final Agent clerk = agent("clerk").tools(world.reconciled("pay").build()).build();
    private final Agent desk =
        agent("desk")
            .tools(world.tool("note", EffectClass.IDEMPOTENT).build())
            .subAgents(clerk)
            .build();
    private final Agent boss = agent("boss").subAgents(desk).build();
    private boolean wasCancelled;

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
        drive(cancelled).assertNothingIsLeft();
      } catch (MortalStore.Crash crash) {
        mortal.bury();
      }
      return mortal.writes();
    }

    private Program drive(RunStore seen) {
      Family family =
          new Family()
              .answers("boss", calls(ask("c1", "desk", "Do it.")), text("Good."))
              .answers(
                  "desk",
                  calls(call("c1", "note", "o1"), ask("c2", "clerk", "Pay.")),
                  text("Done."))
              .answers("clerk", calls(call("c1", "pay", "o1")), text("Paid."));
      Program program = family.program(seen);
      var _ =
          program.agents.run(
              AgentRequest.builder(boss, "Do it.").runId("run-1").idempotencyKey("key").build());
      return program;
    }

    /** Another process: nobody drives any of the runs now. */
    void finish(Next next) {
      if (runs.state(RUN).isEmpty()) {
        var _ = drive(store); // it died before the run began
      }
      boolean asked = root().cancellation().isPresent();
      for (int patience = 0; !root().isTerminal() && patience < 10; patience++) {
        if (next == Next.CANCELS_AGAIN || !asked) {
          var _ = runs.cancel(RUN);
          asked = true;
        } else {
          var _ = drive(store);
        }
      }
    }

    private RunState root() {
      return state(RUN);
    }

    private RunState state(RunKey run) {
      return RunState.of(store.load(run, 1, Deadline.never()));
    }

    void assertEndedCancelled(String what) {
      boolean asked =
          store.load(RUN, 1, Deadline.never()).stream()
              .anyMatch(logged -> logged.event() instanceof CancelRequested);
      assertEquals(asked ? RunStatus.CANCELLED : RunStatus.COMPLETED, root().status(), what);
      for (RunSummary run : store.list(RunQuery.all(RunScope.DEFAULT), Deadline.never())) {
        List<RunEvent> events =
            store.load(run.run(), 1, Deadline.never()).stream().map(LoggedEvent::event).toList();
        String story = what + ": " + run.agentId() + events;
        RunState state = state(run.run());
        // A child whose tool nobody has asked about yet waits for its verdict with the cancel.
        boolean inDoubt =
            state.status() == RunStatus.NEEDS_RECONCILIATION && state.cancellation().isPresent();
        assertTrue(state.isTerminal() || inDoubt, story);
        boolean begins = true;
        for (RunEvent event : events) {
          begins &= !(event instanceof CancelRequested);
          boolean beginning =
              event instanceof StepStarted
                  || event instanceof ToolStarted
                  || event instanceof ChildStarted;
          assertTrue(begins || !beginning, story);
        }
      }
      Set<String> once = new HashSet<>();
      for (Effect effect : world.effects()) {
        assertTrue(effect.tool().equals("note") || once.add(effect.key()), what + effect);
      }
    }
  }
}
