package dev.warpwright.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.Program;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A tool's late end and a person's verdict at the same moment: one of them counts. */
@Timeout(60)
@Tag("A62")
final class LateEndRaceTest {
  private static final int ROUNDS = 300;
  private static final TimeSource TIME = TimeSource.system();
  private static final Json INPUT = Json.parse("{}");

  private final RunStore store = RunStore.inMemory();

  /** A run that waits for verdicts on calls, the driver gone. */
  private RunState waiting(RunKey run, int calls) {
    NewRun fresh =
        new NewRun(
            run,
            TIME.now(),
            new RunEvent.RunStarted(
                "a",
                "1",
                Map.of(),
                Optional.empty(),
                List.of(Message.user("Go.")),
                10,
                List.of(),
                Map.of()));
    Writer owner = ((RunStore.Claim.Won) store.create(fresh, Deadline.never())).owner();
    RunLog log = RunLog.created(store, fresh, owner, TIME, Deadline.never());
    List<ToolCall> asked = new ArrayList<>();
    List<RunEvent> events = new ArrayList<>();
    List<String> ids = new ArrayList<>();
    for (int n = 0; n < calls; n++) {
      asked.add(new ToolCall("c" + n, "refund", INPUT));
      ids.add("c" + n);
    }
    events.add(new RunEvent.StepStarted(1, 1));
    events.add(
        new RunEvent.ModelResponded(
            1,
            Program.TARGET,
            new Message(Role.ASSISTANT, List.copyOf(asked)),
            new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls"),
            Usage.ABSENT,
            List.of()));
    for (int n = 0; n < calls; n++) {
      events.add(new ToolStarted(1, n, "c" + n, "refund", EffectClass.ONCE, INPUT, "key-" + n, 1));
    }
    events.add(
        new RunEvent.RunSuspended(
            RunEvent.RunSuspended.Reason.RECONCILIATION, ids, Optional.empty()));
    log.append(events);
    store.release(run, owner);
    return log.state();
  }

  private static ToolFinished late(int call) {
    return new ToolFinished(
        "c" + call,
        "refund",
        Optional.of("key-" + call),
        true,
        Json.of("late"),
        false,
        Duration.ofSeconds(1));
  }

  private static boolean reconciles(Runs runs, RunKey run) {
    try {
      var _ =
          runs.reconcile(
              run, new ToolReconciled("c0", "key-0", Verdict.FAILED, Optional.empty(), "ann"));
      return true;
    } catch (ConflictException e) {
      return false;
    }
  }

  @Test
  void of_a_late_end_and_a_verdict_exactly_one_is_written() throws Exception {
    int late = 0;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < ROUNDS; round++) {
        RunKey run = new RunKey(RunScope.DEFAULT, "race-" + round);
        RunState left = waiting(run, 1);
        LateEnds ends = new LateEnds(store, run, TIME);
        CountDownLatch start = new CountDownLatch(1);
        Future<?> tool =
            threads.submit(
                () -> {
                  start.await();
                  ends.tell(late(0));
                  return true;
                });
        Future<Boolean> person =
            threads.submit(
                () -> {
                  start.await();
                  return reconciles(Runs.in(store), run);
                });
        start.countDown();
        ends.driverLeft(left);
        tool.get();
        boolean decided = person.get();

        List<RunEvent> added =
            store.load(run, left.sequence() + 1, Deadline.never()).stream()
                .map(logged -> logged.event())
                .toList();
        assertEquals(1, added.size(), () -> added.toString());
        assertEquals(decided, added.getFirst() instanceof ToolReconciled);
        assertTrue(RunState.of(store.load(run, 1, Deadline.never())).inDoubt().isEmpty());
        assertTrue(store.acquire(run, Deadline.never()).isPresent(), "handed back");
        late += decided ? 0 : 1;
      }
    }
    assertTrue(late > 0, "the tool was never faster");
  }

  @Test
  void late_ends_of_one_step_do_not_keep_each_other_out() throws Exception {
    int calls = 16;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < 50; round++) {
        RunKey run = new RunKey(RunScope.DEFAULT, "step-" + round);
        RunState left = waiting(run, calls);
        LateEnds ends = new LateEnds(store, run, TIME);
        List<Future<?>> tools = new ArrayList<>();
        for (int n = 0; n < calls; n++) {
          int call = n;
          tools.add(threads.submit(() -> ends.tell(late(call))));
        }
        ends.driverLeft(left);
        for (Future<?> tool : tools) {
          tool.get();
        }

        RunState state = RunState.of(store.load(run, 1, Deadline.never()));
        assertEquals(left.sequence() + calls, state.sequence());
        assertEquals(List.of(), state.inDoubt());
      }
    }
  }

  @Test
  void an_end_of_a_run_that_was_not_left_waiting_or_of_an_unknown_key_is_dropped() {
    RunKey run = new RunKey(RunScope.DEFAULT, "run");
    RunState left = waiting(run, 1);
    LateEnds failed = new LateEnds(store, run, TIME);
    failed.driverFailed();
    failed.tell(late(0));
    LateEnds ends = new LateEnds(store, run, TIME);
    ends.driverLeft(left);

    ends.tell(
        new ToolFinished("c0", "refund", Optional.of("other"), true, INPUT, false, Duration.ZERO));
    assertEquals(left.sequence(), store.load(run, 1, Deadline.never()).size());

    ends.tell(late(0));
    ends.tell(late(0));
    assertEquals(left.sequence() + 1, store.load(run, 1, Deadline.never()).size());
  }
}
