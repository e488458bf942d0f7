package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Message;
import dev.warpwright.model.Target;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.MemoryLoaded;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What was read of a run, and what is read again. */
final class RunSnapshotTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Writer WRITER = new Writer("owner", 1);
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
  private static final RunEvent RESUMED = new RunResumed("test");

  /** From where on the store was asked for events, in order. */
  private final List<Long> asked = new ArrayList<>();

  private static RunStarted started(String prompt) {
    return new RunStarted(
        "agent",
        "1",
        Map.of(),
        Optional.empty(),
        List.of(Message.user(prompt)),
        10,
        List.of(Target.of("fake", "model")),
        Map.of());
  }

  private static List<LoggedEvent> log(RunEvent... events) {
    List<LoggedEvent> log = new ArrayList<>();
    for (RunEvent event : events) {
      long sequence = log.size() + 1L;
      log.add(new LoggedEvent(RUN, sequence, WRITER, NOON.plusSeconds(sequence), event));
    }
    return log;
  }

  private RunStore storeOf(List<LoggedEvent> log) {
    RunStore store = RunStore.inMemory();
    if (!log.isEmpty()) {
      store.adopt(log, RunState.of(log).standing(), Deadline.never());
    }
    return new ForwardingStore(store) {
      @Override
      public List<LoggedEvent> load(RunKey run, long fromSequence, Deadline deadline) {
        asked.add(fromSequence);
        return super.load(run, fromSequence, deadline);
      }
    };
  }

  private static void assertIs(List<LoggedEvent> log, RunSnapshot snapshot) {
    assertEquals(log, snapshot.events());
    assertEquals(RunStates.view(RunState.of(log)), RunStates.view(snapshot.state()));
  }

  private RunSnapshot refreshed(RunSnapshot known, List<LoggedEvent> log) {
    return known.refreshed(storeOf(log), Deadline.never()).orElseThrow();
  }

  @Test
  @Tag("A115")
  void of_a_run_that_goes_on_only_the_last_known_event_and_new_ones_are_loaded() {
    List<LoggedEvent> log =
        log(started("Do it."), new StepStarted(1, 1), RESUMED, new StepStarted(1, 1), RESUMED);
    RunSnapshot known = RunSnapshot.of(log.subList(0, 3));

    RunSnapshot now = refreshed(known, log);

    assertIs(log, now);
    assertEquals(List.of(3L), asked);
    assertIs(log.subList(0, 3), known);
  }

  @Test
  @Tag("A115")
  void of_a_run_with_nothing_new_it_stays_the_same_object() {
    List<LoggedEvent> log = log(started("Do it."), new StepStarted(1, 1));
    RunSnapshot known = RunSnapshot.of(log);

    assertSame(known, refreshed(known, log));
    assertEquals(List.of(2L), asked);
  }

  @Test
  @Tag("A115")
  void another_log_in_its_place_is_loaded_whole_whatever_differs_at_the_last_known_event() {
    List<LoggedEvent> log = log(started("Do it."), new StepStarted(1, 1), RESUMED);
    LoggedEvent last = log.getLast();
    Writer other = new Writer("other", 1);
    RunSnapshot known = RunSnapshot.of(log);
    List<LoggedEvent> shorter = log(started("Do something else."), RESUMED);
    List<LoggedEvent> longer =
        log(started("Do something else."), RESUMED, new StepStarted(1, 1), RESUMED);
    List<List<LoggedEvent>> others = new ArrayList<>(List.of(shorter, longer));
    for (LoggedEvent differs :
        List.of(
            new LoggedEvent(RUN, 3, other, last.time(), last.event()),
            new LoggedEvent(RUN, 3, new Writer("owner", 2), last.time(), last.event()),
            new LoggedEvent(RUN, 3, WRITER, last.time().plusNanos(1), last.event()),
            new LoggedEvent(RUN, 3, WRITER, last.time(), new RunResumed("otherwise")),
            new LoggedEvent(
                RUN, 3, WRITER, last.time(), new CancelRequested(Optional.of("test"))))) {
      List<LoggedEvent> same = log(started("Do something else."), RESUMED);
      same.add(differs);
      others.add(same);
    }

    for (List<LoggedEvent> begunAnew : others) {
      asked.clear();
      assertIs(begunAnew, refreshed(known, begunAnew));
      assertEquals(List.of(3L, 1L), asked);
    }
  }

  @Test
  @Tag("A115")
  void a_log_that_goes_on_as_the_known_one_cannot_is_loaded_whole() {
    RunEvent memory = new MemoryLoaded(List.of(Message.user("It was paid.")));
    RunSnapshot known = RunSnapshot.of(log(started("Do it."), memory, RESUMED));
    List<LoggedEvent> changed = log(started("Do it."), RESUMED, RESUMED, memory);

    assertIs(changed, refreshed(known, changed));
    assertEquals(List.of(3L, 1L), asked);
  }

  @Test
  @Tag("A115")
  void a_run_that_was_deleted_is_not_there() {
    RunSnapshot known = RunSnapshot.of(log(started("Do it."), new StepStarted(1, 1)));

    assertEquals(Optional.empty(), known.refreshed(storeOf(List.of()), Deadline.never()));
  }

  @Test
  @Tag("A115")
  void what_is_appended_later_does_not_change_what_was_read_or_given() {
    List<LoggedEvent> log = log(started("Do it."), new StepStarted(1, 1));
    RunStore store = storeOf(log);
    Writer owner = store.acquire(RUN, Deadline.never()).orElseThrow();
    RunSnapshot found = RunSnapshot.load(store, RUN, Deadline.never()).orElseThrow();
    RunLog driver = RunLog.open(store, found, owner, TimeSource.system(), Deadline.never());

    driver.append(RESUMED);
    RunSnapshot given = driver.snapshot();
    List<LoggedEvent> then = store.load(RUN, 1, Deadline.never());
    driver.append(RESUMED);
    assertIs(then, given);
    store.append( // which makes the driver fold again
        new Append(
            RUN,
            4,
            Writer.outside("ann"),
            driver.state().updatedAt(),
            List.of(new CancelRequested(Optional.empty())),
            Standing.of(RunStatus.CANCEL_REQUESTED)),
        Deadline.never());
    driver.refresh();

    assertIs(log, found);
    assertIs(then, given);
    assertIs(store.load(RUN, 1, Deadline.never()), driver.snapshot());
  }

  @Test
  void a_log_weighs_more_than_its_content_and_does_not_become_lighter() {
    String text = "x".repeat(10_000);
    RunSnapshot small = RunSnapshot.of(log(started("Do it.")));
    RunSnapshot large =
        RunSnapshot.of(
            log(started("Do it."), new MemoryLoaded(List.of(Message.user(text))), RESUMED));

    assertTrue(small.weight() > 0);
    assertTrue(large.weight() > small.weight() + text.length(), large::toString);
  }
}
