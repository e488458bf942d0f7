package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

  @Test
  void a_log_of_nothing_cannot_be_opened() {
    assertThrows(
        InvalidRequestException.class,
        () -> RunLog.open(store, RUN, new Writer("nobody", 1), clock, Deadline.never()));
  }
}
