package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A driver's way to add to its log. */
final class RunLogTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

  /** A wall clock that somebody sets. */
  private static final class SetClock implements TimeSource {
    Instant now = NOON;

    @Override
    public long nanoTime() {
      return 0;
    }

    @Override
    public Instant now() {
      return now;
    }

    @Override
    public Alarm alarm(long atNanoTime, Runnable action) {
      throw new UnsupportedOperationException();
    }

    @Override
    public RandomGenerator random() {
      throw new UnsupportedOperationException();
    }
  }

  private final SetClock clock = new SetClock();
  private final RunStore store = RunStore.inMemory();

  private RunLog created() {
    RunStarted started =
        new RunStarted(
            "agent",
            "1",
            Map.of(),
            Optional.empty(),
            List.of(Message.user("Do it.")),
            10,
            List.of(Target.of("fake", "model")),
            Map.of());
    NewRun run = new NewRun(RUN, clock.now(), started);
    RunStore.Claim.Won claim = (RunStore.Claim.Won) store.create(run, Deadline.never());
    return RunLog.created(store, run, claim.owner(), clock, Deadline.never());
  }

  private List<LoggedEvent> stored() {
    return store.load(RUN, 1, Deadline.never());
  }

  @Test
  @Tag("A6")
  void a_clock_that_goes_backwards_does_not_make_time_go_backwards_in_the_log() {
    RunLog log = created();
    clock.now = NOON.minusSeconds(3600);
    log.append(new StepStarted(1, 1));
    clock.now = NOON.plusSeconds(1);
    log.append(new RunResumed("test"));

    assertEquals(
        List.of(NOON, NOON, NOON.plusSeconds(1)),
        stored().stream().map(LoggedEvent::time).toList());
    assertEquals(NOON.plusSeconds(1), log.state().updatedAt());
  }

  @Test
  @Tag("A6")
  void an_event_that_may_not_follow_is_not_written_and_neither_are_those_beside_it() {
    RunLog log = created();
    List<LoggedEvent> before = stored();

    assertThrows(
        InvalidRequestException.class,
        () ->
            log.append(List.of(new StepStarted(1, 1), new RunCompleted("Done.", 1, Usage.ABSENT))));

    assertEquals(before, stored());
    assertTrue(log.hasFailed());
    assertThrows(IllegalStateException.class, () -> log.append(new StepStarted(1, 1)));
  }

  @Test
  @Tag("A3")
  void who_lost_the_run_or_is_behind_is_refused_and_must_load_again() {
    RunLog log = created();
    Writer first = stored().getFirst().writer();
    store.release(RUN, first);
    Writer second = store.acquire(RUN, Deadline.never()).orElseThrow();
    RunLog other = RunLog.open(store, RUN, second, clock, Deadline.never());
    other.append(new RunResumed("test"));

    assertThrows(ConflictException.class, () -> log.append(new StepStarted(1, 1)));
    assertTrue(log.hasFailed());
    assertFalse(other.hasFailed());
    other.append(new StepStarted(1, 1));
    assertEquals(RunStates.view(RunState.of(stored())), RunStates.view(other.state()));
  }

  /** A store in which somebody decides the next pending approval before an append of the owner. */
  private final class Deciding extends ForwardingStore {
    private final int decisions;
    private int made;

    Deciding(int decisions) {
      super(store);
      this.decisions = decisions;
    }

    @Override
    public void append(Append append, Deadline deadline) {
      if (append.writer().isOwner() && made < decisions) {
        made++;
        RunState state = RunState.of(stored());
        String pending = state.pendingApprovals().getFirst().requestId();
        store.append(
            new Append(
                RUN,
                state.sequence(),
                Writer.outside("ann"),
                state.updatedAt(),
                List.of(decided(pending)),
                state.standing()),
            deadline);
      }
      super.append(append, deadline);
    }
  }

  private static ApprovalDecided decided(String request) {
    return new ApprovalDecided(request, true, Optional.empty(), Optional.empty());
  }

  /** A run that waits for approvals of so many calls, taken up in a store that decides some. */
  private RunLog waiting(int approvals, int decisions) {
    RunLog log = created();
    List<ToolCall> calls = new ArrayList<>();
    List<RunEvent> asked = new ArrayList<>();
    for (int i = 0; i < approvals; i++) {
      calls.add(new ToolCall("c" + i, "tool", Json.EMPTY_OBJECT));
      asked.add(
          new ApprovalRequested(
              "a" + i, "sha256:" + "0".repeat(64), 1, "c" + i, "tool", "1", Json.EMPTY_OBJECT));
    }
    log.append(new StepStarted(1, 1));
    log.append(
        new ModelResponded(
            1,
            Target.of("fake", "model"),
            new Message(Role.ASSISTANT, List.copyOf(calls)),
            new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls"),
            Usage.ABSENT,
            List.of()));
    asked.add(new RunSuspended(RunSuspended.Reason.APPROVAL, List.of("a0"), Optional.empty()));
    log.append(asked);
    Writer owner = stored().getFirst().writer();
    return RunLog.open(new Deciding(decisions), RUN, owner, clock, Deadline.never());
  }

  @Test
  @Tag("A127")
  void an_append_takes_place_on_top_of_control_events_at_most_thirty_two_times() {
    RunLog log = waiting(40, 31);

    log.append(new RunResumed("test"));

    assertEquals(9, log.state().pendingApprovals().size());
    assertEquals(RunStatus.RUNNING, log.state().status());
    assertEquals(stored(), log.events());
    assertEquals(RunStates.view(RunState.of(stored())), RunStates.view(log.state()));
  }

  @Test
  @Tag("A127")
  void an_append_that_meets_control_events_again_and_again_is_a_conflict_in_the_end() {
    RunLog log = waiting(40, 40);

    assertThrows(ConflictException.class, () -> log.append(new RunResumed("test")));

    assertTrue(log.hasFailed());
    assertEquals(8, RunState.of(stored()).pendingApprovals().size());
  }

  @Test
  @Tag("A127")
  void what_a_control_event_has_made_impossible_is_left_out_and_the_rest_is_written() {
    RunLog log = waiting(2, 1);

    log.append(List.of(decided("a0"), decided("a1"), new RunResumed("test")));

    assertEquals(List.of(), log.state().pendingApprovals());
    assertEquals(
        List.of(decided("a0"), decided("a1"), new RunResumed("test")),
        stored().subList(stored().size() - 3, stored().size()).stream()
            .map(LoggedEvent::event)
            .toList());
    assertEquals(RunStates.view(RunState.of(stored())), RunStates.view(log.state()));
  }

  /** A run with a tool under way. */
  private RunLog withTool() {
    RunLog log = created();
    ToolCall call = new ToolCall("c1", "tool", Json.EMPTY_OBJECT);
    log.append(new StepStarted(1, 1));
    log.append(
        List.of(
            new ModelResponded(
                1,
                Target.of("fake", "model"),
                new Message(Role.ASSISTANT, List.of(call)),
                new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls"),
                Usage.ABSENT,
                List.of()),
            new RunEvent.ToolStarted(
                1, 0, "c1", "tool", EffectClass.ONCE, Json.EMPTY_OBJECT, "key", 1)));
    return log;
  }

  private static RunEvent finished() {
    return new RunEvent.ToolFinished(
        "c1", "tool", Optional.of("key"), true, Json.of("done"), false, Duration.ZERO);
  }

  private void cancelFromOutside() {
    long end = stored().size();
    RunEvent.CancelRequested cancel = new RunEvent.CancelRequested(Optional.of("not needed"));
    store.append(
        new Append(
            RUN,
            end,
            Writer.outside("ann"),
            clock.now(),
            List.of(cancel),
            new Standing(RunStatus.CANCEL_REQUESTED, Optional.of(clock.now()), Set.of(), Set.of())),
        Deadline.never());
  }

  private List<String> lastTypes(int count) {
    return stored().subList(stored().size() - count, stored().size()).stream()
        .map(logged -> logged.event().getClass().getSimpleName())
        .toList();
  }

  @Test
  @Tag("A114")
  void what_is_deferred_is_in_the_state_at_once_and_in_the_store_with_the_next_append() {
    RunLog log = withTool();
    List<LoggedEvent> before = stored();

    log.defer(List.of(finished()));

    assertEquals(before, stored());
    assertEquals(before, log.events(), "only what is durable");
    assertTrue(log.hasDeferred());
    assertEquals(List.of(), log.state().calls());
    clock.now = NOON.plusSeconds(9);
    log.append(new StepStarted(2, 3));
    assertFalse(log.hasDeferred());
    assertEquals(List.of("ToolFinished", "StepStarted"), lastTypes(2));
    assertEquals(stored(), log.events());
    assertEquals(RunStates.view(RunState.of(stored())), RunStates.view(log.state()));
  }

  @Test
  @Tag("A127")
  void what_is_deferred_outlives_a_cancel_that_comes_before_it() {
    RunLog log = withTool();
    log.defer(List.of(finished()));
    cancelFromOutside();

    log.append(new StepStarted(2, 3));

    assertEquals(List.of("ToolStarted", "CancelRequested", "ToolFinished"), lastTypes(3));
    assertEquals(stored(), log.events());
    assertEquals(RunStates.view(RunState.of(stored())), RunStates.view(log.state()));
  }

  @Test
  @Tag("A127")
  void a_look_at_what_others_wrote_keeps_what_is_deferred() {
    RunLog log = withTool();
    log.defer(List.of(finished()));
    cancelFromOutside();

    log.refresh();

    assertEquals(RunStatus.CANCEL_REQUESTED, log.state().status());
    assertEquals(List.of(), log.state().calls());
    log.append(List.of());
    assertEquals(List.of("CancelRequested", "ToolFinished"), lastTypes(2));
    assertEquals(stored(), log.events());
  }

  @Test
  void what_does_not_fit_is_not_deferred() {
    RunLog log = withTool();
    RunEvent large =
        new RunEvent.ToolFinished(
            "c1",
            "tool",
            Optional.of("key"),
            true,
            Json.of("x".repeat((int) RunState.DEFAULT_MAX_BYTES)),
            false,
            Duration.ZERO);

    assertThrows(LimitExceededException.class, () -> log.defer(List.of(large)));

    assertFalse(log.hasDeferred());
    log.defer(List.of(finished()));
    log.append(List.of());
    assertEquals(List.of("ToolStarted", "ToolFinished"), lastTypes(2));
  }

  @Test
  void a_log_whose_beginning_is_known_is_loaded_from_there_on() {
    RunLog log = withTool();
    List<LoggedEvent> known = stored().subList(0, 2);

    RunSnapshot now = RunSnapshot.of(known).refreshed(store, Deadline.never()).orElseThrow();
    RunLog other = RunLog.open(store, now, stored().getFirst().writer(), clock, Deadline.never());

    assertEquals(stored(), other.events());
    assertEquals(RunStates.view(log.state()), RunStates.view(other.state()));
  }

  @Test
  void a_log_of_nothing_cannot_be_opened() {
    assertThrows(
        InvalidRequestException.class,
        () -> RunLog.open(store, RUN, new Writer("nobody", 1), clock, Deadline.never()));
  }
}
