package dev.warpwright.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.Target;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.RunCancelled;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunSnapshot;
import dev.warpwright.run.RunStates;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is kept of runs, how much of it, and that it never counts for more than the store. */
@Timeout(60)
final class FoldCacheTest {
  private static final Writer WRITER = new Writer("owner", 1);
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
  private static final RunEvent RESUMED = new RunResumed("test");
  private static final RunEvent[] ENDED = {
    new CancelRequested(Optional.empty()), new RunCancelled(0, List.of())
  };
  private static final long ROOMY = 1_000_000;

  private final RunStore store = RunStore.inMemory();

  private static RunKey key(String id) {
    return new RunKey(RunScope.DEFAULT, id);
  }

  private static RunEvent started(String prompt) {
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

  /** A run whose log is just long enough to be kept, and has some events more. */
  private static RunSnapshot snapshot(RunKey run, String prompt, RunEvent... more) {
    List<RunEvent> events = new ArrayList<>();
    events.add(started(prompt));
    events.addAll(Collections.nCopies(FoldCache.MIN_EVENTS - 1, RESUMED));
    events.addAll(List.of(more));
    return of(run, events);
  }

  private static RunSnapshot of(RunKey run, List<RunEvent> events) {
    List<LoggedEvent> log = new ArrayList<>();
    for (RunEvent event : events) {
      log.add(new LoggedEvent(run, log.size() + 1L, WRITER, NOON, event));
    }
    return RunSnapshot.of(log);
  }

  /** A run that is in the store so. */
  private RunSnapshot stored(RunKey run, String prompt, RunEvent... more) {
    RunSnapshot snapshot = snapshot(run, prompt, more);
    store.adopt(snapshot.events(), snapshot.state().standing(), Deadline.never());
    return snapshot;
  }

  private static RunSnapshot load(FoldCache folds, RunKey run) {
    return folds.load(run, Deadline.never());
  }

  @Test
  @Tag("A115")
  void what_was_kept_is_given_again_while_the_store_has_the_same() {
    FoldCache folds = new FoldCache(store, ROOMY);
    RunSnapshot left = stored(key("r"), "Do it.");
    folds.keep(left);

    assertSame(left, load(folds, key("r")));
    assertNotSame(left, load(new FoldCache(store, ROOMY), key("r")), "not in another process");
  }

  @Test
  @Tag("A115")
  void an_entry_that_is_not_what_the_store_has_is_never_believed() {
    FoldCache folds = new FoldCache(store, ROOMY);
    RunKey run = key("r");
    List<RunSnapshot> poisons =
        List.of(
            snapshot(run, "Pay.", new RunResumed("other")),
            snapshot(run, "Pay.", RESUMED, RESUMED),
            snapshot(run, "Do it.", RESUMED, RESUMED, RESUMED, RESUMED));
    RunSnapshot truth = stored(run, "Do it.", RESUMED, new RunResumed("last"));

    for (RunSnapshot poison : poisons) {
      folds.keep(poison);
      assertEquals(poison.weight(), folds.bytes());
      RunSnapshot found = load(folds, run);
      assertEquals(truth.events(), found.events());
      assertEquals(RunStates.view(truth.state()), RunStates.view(found.state()));
    }
    assertTrue(store.delete(run, Deadline.never()));
    assertEquals(Optional.empty(), folds.find(run, Deadline.never()));
    assertThrows(InvalidRequestException.class, () -> load(folds, run));
    assertEquals(0, folds.bytes(), "and it is forgotten");
  }

  @Test
  @Tag("A115")
  void what_is_forgotten_is_loaded_anew() {
    FoldCache folds = new FoldCache(store, ROOMY);
    RunSnapshot left = stored(key("r"), "Do it.");
    folds.keep(left);

    folds.forget(key("r"));

    assertEquals(0, folds.bytes());
    assertNotSame(left, load(folds, key("r")));
  }

  @Test
  @Tag("A115")
  @Tag("A117")
  void runs_of_the_same_id_in_other_scopes_are_other_runs() {
    FoldCache folds = new FoldCache(store, ROOMY);
    List<RunSnapshot> kept = new ArrayList<>();
    for (RunScope scope :
        List.of(
            RunScope.DEFAULT,
            RunScope.of("a"),
            RunScope.of("b"),
            new RunScope("a", Optional.of("u"), Optional.empty()),
            new RunScope("a", Optional.empty(), Optional.of("u")))) {
      kept.add(stored(new RunKey(scope, "r"), "Do it in " + scope + "."));
    }
    kept.forEach(folds::keep);

    for (RunSnapshot left : kept) {
      assertSame(left, load(folds, left.state().run()));
    }
  }

  @Test
  @Tag("A115")
  void a_run_that_has_ended_goes_at_once_whoever_has_ended_it() {
    FoldCache folds = new FoldCache(store, ROOMY);
    folds.keep(stored(key("here"), "Do it."));
    folds.keep(snapshot(key("here"), "Do it.", ENDED));
    assertEquals(0, folds.bytes());

    stored(key("elsewhere"), "Do it.", ENDED);
    folds.keep(snapshot(key("elsewhere"), "Do it."));
    assertTrue(load(folds, key("elsewhere")).state().isTerminal());
    assertEquals(0, folds.bytes());
  }

  @Test
  @Tag("A115")
  void a_run_that_waits_early_on_is_not_kept() {
    FoldCache folds = new FoldCache(store, ROOMY);
    List<RunEvent> events = new ArrayList<>(List.of(started("Do it.")));
    while (events.size() < FoldCache.MIN_EVENTS) {
      folds.keep(of(key("r"), events));
      assertEquals(0, folds.bytes());
      events.add(RESUMED);
    }
    folds.keep(of(key("r"), events));
    assertTrue(folds.bytes() > 0);
  }

  @Test
  @Tag("A115")
  void the_run_that_was_not_used_for_the_longest_time_goes_first() {
    List<RunSnapshot> left = new ArrayList<>();
    for (String id : List.of("r1", "r2", "r3", "r4")) {
      left.add(stored(key(id), "Do it."));
    }
    FoldCache folds = new FoldCache(store, 3 * left.getFirst().weight());
    left.subList(0, 3).forEach(folds::keep);
    assertSame(left.get(0), load(folds, key("r1")));

    folds.keep(left.get(3));

    assertNotSame(left.get(1), load(folds, key("r2")));
    for (RunSnapshot kept : List.of(left.get(0), left.get(2), left.get(3))) {
      assertSame(kept, load(folds, kept.state().run()));
    }
    assertEquals(3 * left.getFirst().weight(), folds.bytes());
  }

  @Test
  @Tag("A115")
  void no_number_of_runs_takes_more_than_its_bound_and_no_single_one_does() {
    long bound = 20 * snapshot(key("r"), "Do it.").weight();
    FoldCache folds = new FoldCache(store, bound);
    for (int n = 0; n < 1_000; n++) {
      folds.keep(snapshot(key("r" + n), "Do it."));
      assertTrue(folds.bytes() <= bound);
    }
    assertEquals(bound, folds.bytes());

    folds.keep(snapshot(key("r999"), "x".repeat((int) bound)));
    assertEquals(bound / 20 * 19, folds.bytes(), "its earlier entry is gone, the others are not");
  }

  @Test
  void nothing_is_kept_in_no_bytes_and_fewer_are_refused() {
    FoldCache folds = new FoldCache(store, 0);
    RunSnapshot left = stored(key("r"), "Do it.");
    folds.keep(left);

    assertEquals(0, folds.bytes());
    assertNotSame(left, load(folds, key("r")));
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> new FoldCache(store, -1));
    assertTrue(String.valueOf(refused.getMessage()).contains("0 bytes or more, but is -1"));
  }

  @Test
  @Tag("A115")
  void many_threads_keep_the_bound_and_find_what_the_store_has() throws Exception {
    List<RunSnapshot> runs = new ArrayList<>();
    for (int n = 0; n < 40; n++) {
      runs.add(stored(key("r" + n), "x".repeat(1 + n)));
    }
    long bound = 10 * runs.getFirst().weight();
    FoldCache folds = new FoldCache(store, bound);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> all = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        Random random = new Random(thread);
        all.add(
            threads.submit(
                () -> {
                  for (int n = 0; n < 500; n++) {
                    RunSnapshot run = runs.get(random.nextInt(runs.size()));
                    folds.keep(run);
                    assertTrue(folds.bytes() <= bound);
                    assertEquals(run.events(), load(folds, run.state().run()).events());
                  }
                }));
      }
      for (Future<?> each : all) {
        each.get();
      }
    }
    runs.forEach(run -> folds.keep(snapshot(run.state().run(), "Do it.", ENDED)));
    assertEquals(0, folds.bytes(), "the sum is that of the entries");
  }
}
