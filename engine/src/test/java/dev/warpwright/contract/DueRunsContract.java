package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.Json;
import dev.warpwright.run.Append;
import dev.warpwright.run.DueRuns;
import dev.warpwright.run.FlowEvent;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Signal;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who takes up which runs, how often, and which nobody takes up. */
public abstract class DueRunsContract extends RetentionContract {
  /** Takes a run in that nobody owns. */
  private void queue(RunKey run, String agent, Standing standing) {
    store.adopt(
        List.of(
            new LoggedEvent(
                run, 1, Writer.outside("client"), NOON, started(agent, Optional.empty()))),
        standing,
        soon());
  }

  private void queue(String id, String agent, Instant due) {
    queue(run(id), agent, Standing.due(RunStatus.QUEUED, due));
  }

  private List<String> takeDue(int limit, String... agents) {
    return store.acquireDue(Set.of(agents), limit, soon()).taken().stream()
        .map(taken -> taken.run().runId())
        .toList();
  }

  private RunSummary listed(RunKey run) {
    return store.list(RunQuery.builder(run.scope()).limit(1000).build(), soon()).stream()
        .filter(summary -> summary.run().equals(run))
        .findFirst()
        .orElseThrow();
  }

  @Test
  @Tag("A112")
  void runs_are_taken_up_longest_due_first_and_only_of_the_agents_that_are_asked_for() {
    queue("third", "a", NOON.plusSeconds(3));
    queue("first", "b", NOON.plusNanos(1));
    queue("other", "c", NOON.minusSeconds(1));
    queue("second-b", "a", NOON.plusSeconds(2));
    queue("second-a", "b", NOON.plusSeconds(2));
    RunKey elsewhere = new RunKey(RunScope.of("else"), "zeroth");
    queue(elsewhere, "a", Standing.due(RunStatus.QUEUED, NOON));

    assertEquals(List.of("zeroth", "first", "second-a"), takeDue(3, "a", "b"));
    assertEquals(List.of("second-b", "third"), takeDue(3, "a", "b"));
    assertEquals(List.of(), takeDue(3, "a", "b", "nobody's"));
    assertEquals(List.of(), takeDue(3));
    assertEquals(List.of("other"), takeDue(1, "c"));
  }

  @Test
  @Tag("A122")
  void who_takes_a_due_run_up_owns_it() {
    queue("r1", "a", NOON);

    DueRuns.Taken taken = store.acquireDue(Set.of("a"), 5, soon()).taken().getFirst();

    assertEquals(run("r1"), taken.run());
    assertEquals("a", taken.agentId());
    assertTrue(taken.owner().isOwner());
    assertEquals(Optional.empty(), store.acquire(run("r1"), soon()));
    store.append(append(run("r1"), 1, taken.owner()), soon());
    store.release(run("r1"), taken.owner());
    assertTrue(store.acquire(run("r1"), soon()).isPresent());
  }

  @Test
  @Tag("A112")
  void a_run_that_is_owned_or_not_due_is_not_taken_up_and_the_next_that_will_be_is_known() {
    Duration hour = Duration.ofHours(1);
    queue("later", "a", Instant.now().plus(hour.multipliedBy(2)));
    queue("soon", "a", Instant.now().plus(hour));
    queue("sooner", "b", Instant.now().plus(hour.dividedBy(2)));
    queue(run("waits"), "a", Standing.of(RunStatus.WAITING_APPROVAL));
    Writer owner = create(store, run("driven"));

    DueRuns due = store.acquireDue(Set.of("a", "agent"), 10, soon());

    assertEquals(List.of(), due.taken());
    Duration next = due.next().orElseThrow();
    assertTrue(next.compareTo(hour) <= 0, next::toString);
    assertTrue(next.compareTo(hour.minusMinutes(10)) > 0, next::toString);
    assertEquals(Optional.empty(), store.acquireDue(Set.of("agent"), 10, soon()).next());

    store.release(run("driven"), owner);
    assertEquals(List.of("driven"), takeDue(10, "a", "agent"));
  }

  @Test
  @Tag("A120")
  void when_a_run_is_due_is_as_its_last_append_says() {
    queue("r1", "a", NOON);
    Writer owner = store.acquireDue(Set.of("a"), 1, soon()).taken().getFirst().owner();
    Instant later = Instant.now().plusSeconds(3600);
    store.append(
        new Append(
            run("r1"),
            1,
            owner,
            NOON,
            List.of(step(1)),
            Standing.due(RunStatus.WAITING_APPROVAL, later)),
        soon());
    store.release(run("r1"), owner);
    assertEquals(Standing.due(RunStatus.WAITING_APPROVAL, later), listed(run("r1")).standing());
    assertEquals(List.of(), takeDue(1, "a"));

    RunEvent decision =
        new RunEvent.ApprovalDecided("request", true, Optional.of("ann"), Optional.empty());
    store.append(
        new Append(
            run("r1"),
            2,
            Writer.outside("ann"),
            NOON,
            List.of(decision),
            Standing.due(RunStatus.WAITING_APPROVAL, NOON)),
        soon());
    assertEquals(List.of("r1"), takeDue(1, "a"));
  }

  @Test
  @Tag("A122")
  void of_many_who_take_due_runs_up_each_run_goes_to_one() throws Exception {
    int runs = 60;
    for (int n = 0; n < runs; n++) {
      queue("r" + n, "agent-" + n % 3, NOON.plusNanos(n % 7));
    }
    List<Callable<List<String>>> workers =
        IntStream.range(0, 16)
            .<Callable<List<String>>>mapToObj(
                n ->
                    () -> {
                      List<String> mine = new ArrayList<>();
                      List<String> some;
                      do {
                        some = takeDue(3, "agent-0", "agent-1", "agent-2");
                        mine.addAll(some);
                      } while (!some.isEmpty());
                      return mine;
                    })
            .toList();

    List<String> taken = together(workers).stream().flatMap(List::stream).toList();

    assertEquals(runs, Set.copyOf(taken).size());
    assertEquals(runs, taken.size());
  }

  /** Takes a run up so often, each time without progress. */
  private void takeUpInVain(RunKey run, int times) {
    for (int n = 0; n < times; n++) {
      Writer owner = store.acquire(run, soon()).orElseThrow();
      long last = events(run).size();
      store.append(
          new Append(
              run,
              last,
              owner,
              NOON.plusNanos(last),
              List.of(new RunEvent.RunResumed("again")),
              Standing.due(RunStatus.RUNNING, NOON.plusNanos(1))),
          soon());
      store.release(run, owner, Optional.of("problem " + n));
    }
  }

  @Test
  @Tag("A151")
  void a_run_that_is_taken_up_five_times_without_progress_is_quarantined_and_listed() {
    RunKey run = run("r1");
    queue("r1", "a", NOON);
    queue("r2", "a", NOON);
    takeUpInVain(run, RunStore.MAX_CLAIMS - 1);
    assertEquals(4, listed(run).claims());
    assertFalse(listed(run).isQuarantined());
    assertTrue(takeDue(2, "a").contains("r1"));
    assertEquals(RunStore.MAX_CLAIMS, listed(run).claims());
    assertEquals(Optional.of("problem 3"), listed(run).problem());
    assertEquals(Optional.empty(), store.acquire(run, soon()));
  }

  @Test
  @Tag("A151")
  void a_quarantined_run_is_not_taken_up_until_it_is_readmitted_but_can_be_decided_on() {
    RunKey run = run("r1");
    queue("r1", "a", NOON);
    takeUpInVain(run, RunStore.MAX_CLAIMS);

    ConflictException refused =
        assertThrows(ConflictException.class, () -> store.acquire(run, soon()));
    assertTrue(refused.getMessage().contains("quarantined"), refused.getMessage());
    assertEquals(List.of(), takeDue(5, "a"));
    RunQuery query = RunQuery.builder(SCOPE).quarantined().build();
    assertEquals(List.of(run), store.list(query, soon()).stream().map(RunSummary::run).toList());
    assertEquals(Optional.of("problem 4"), store.list(query, soon()).getFirst().problem());
    Writer borrower = store.borrow(run, soon()).orElseThrow();
    assertEquals(Optional.empty(), store.borrow(run, soon()));
    store.release(run, borrower);
    assertEquals(RunStore.MAX_CLAIMS, listed(run).claims());

    store.readmit(run, soon());

    assertEquals(List.of(), store.list(query, soon()));
    assertEquals(0, listed(run).claims());
    assertEquals(List.of("r1"), takeDue(5, "a"));
    assertThrows(ConflictException.class, () -> store.readmit(run("nobody"), soon()));
  }

  @Test
  @Tag("A151")
  void progress_of_a_driver_forgets_claims_and_problem_and_nothing_else_does() {
    RunKey run = run("r1");
    queue("r1", "a", NOON);
    takeUpInVain(run, 3);
    store.append(
        append(
            run, 4, Writer.outside("ann"), List.of(new RunEvent.CancelRequested(Optional.of("x")))),
        soon());
    assertEquals(3, listed(run).claims());
    Writer borrower = store.borrow(run, soon()).orElseThrow();
    store.release(run, borrower);
    assertEquals(3, listed(run).claims());
    assertEquals(Optional.of("problem 2"), listed(run).problem());

    Writer owner = store.acquire(run, soon()).orElseThrow();
    store.append(append(run, 5, owner, List.of(new RunEvent.RunResumed("again"), step(1))), soon());
    assertEquals(0, listed(run).claims());
    assertEquals(Optional.empty(), listed(run).problem());
    store.release(run, owner);
    takeUpInVain(run, RunStore.MAX_CLAIMS);
    assertTrue(listed(run).isQuarantined());
  }

  private List<String> stranded(RunScope scope) {
    return store.stranded(scope, 10, soon()).stream().map(s -> s.run().runId()).toList();
  }

  @Test
  @Tag("A151")
  @Tag("A153")
  void a_due_run_that_no_process_drives_is_listed_as_stranded() {
    queue("early", "gone", NOON);
    queue("late", "gone", NOON.plusSeconds(1));
    queue("driven", "here", NOON);
    queue("not-due", "gone", Instant.now().plusSeconds(3600));
    queue(run("waits"), "gone", Standing.of(RunStatus.WAITING_APPROVAL));
    queue("broken", "here", NOON.plusNanos(1));
    takeUpInVain(run("broken"), RunStore.MAX_CLAIMS);
    create(store, run("owned"));
    queue(new RunKey(RunScope.of("other"), "r1"), "gone", Standing.due(RunStatus.QUEUED, NOON));

    assertEquals(List.of("driven", "early", "broken", "late"), stranded(SCOPE));
    store.announce(Set.of("here", "other"), soon());
    assertEquals(List.of("early", "broken", "late"), stranded(SCOPE));
    assertEquals(1, store.stranded(SCOPE, 1, soon()).size());
    store.announce(Set.of("gone"), soon());
    assertEquals(List.of("driven", "broken"), stranded(SCOPE));
    store.announce(Set.of(), soon());
    assertEquals(4, stranded(SCOPE).size());
    assertEquals(List.of("r1"), stranded(RunScope.of("other")));
  }

  private static Signal signal(String id, String name) {
    return new Signal(id, name, Json.parse("{\"n\":1.50}"), NOON.plusNanos(7));
  }

  @Test
  @Tag("A112")
  void signals_are_kept_in_the_order_of_their_arrival_until_they_are_consumed_once() {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    Signal second = signal("s-2", "go on & on");
    Signal first = signal("s-1", "stop");

    assertTrue(store.signal(run, second, soon()));
    assertTrue(store.signal(run, first, soon()));
    assertFalse(store.signal(run, signal("s-1", "other"), soon()));
    assertEquals(List.of(second, first), store.signals(run, soon()));
    assertEquals(List.of(), store.signals(run("nobody"), soon()));
    assertThrows(ConflictException.class, () -> store.signal(run("nobody"), first, soon()));

    RunEvent received = new FlowEvent.SignalReceived("1", "s-2", second.value());
    RunEvent unknown = new FlowEvent.SignalReceived("1", "s-3", second.value());
    assertThrows(
        ConflictException.class,
        () -> store.append(append(run, 1, owner, List.of(received, unknown)), soon()));
    assertEquals(2, store.signals(run, soon()).size());
    store.append(append(run, 1, owner, List.of(received)), soon());
    assertEquals(List.of(first), store.signals(run, soon()));
    assertThrows(
        ConflictException.class,
        () -> store.append(append(run, 2, owner, List.of(received)), soon()));
    assertFalse(store.signal(run, second, soon()));
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"})
  @Tag("A112")
  @Tag("F35")
  void a_run_is_due_when_a_child_that_it_awaits_has_ended_and_not_before(RunStatus end) {
    for (boolean early : List.of(true, false)) {
      RunKey child = run((early ? "e" : "l").repeat(128));
      RunKey parent = run("parent-" + early);
      Standing awaits =
          new Standing(
              RunStatus.WAITING, Optional.empty(), Set.of(), Set.of("another", child.runId()));
      Writer ofParent = create(store, parent);
      Writer ofChild = create(store, child);
      if (early) {
        end(child, ofChild, end, parent);
      }
      store.append(new Append(parent, 1, ofParent, NOON, List.of(step(1)), awaits), soon());
      store.release(parent, ofParent);
      if (!early) {
        assertEquals(awaits, listed(parent).standing());
        assertEquals(List.of(), takeDue(5, "agent"));
        end(child, ofChild, end, parent);
      }
      store.release(child, ofChild);
      assertEquals(List.of(parent.runId()), takeDue(5, "agent"));
    }
  }

  private void end(RunKey child, Writer owner, RunStatus status, RunKey parent) {
    Append end =
        new Append(
            child,
            1,
            owner,
            NOON,
            List.of(step(1)),
            Standing.of(status),
            Optional.of(parent.runId()),
            false);
    store.append(end, soon());
  }

  @Test
  @Tag("A112")
  void the_end_of_a_child_is_nothing_to_a_parent_that_does_not_await_it_or_is_not_there() {
    RunKey parent = run("parent");
    RunKey child = run("child");
    Writer ofParent = create(store, parent);
    Writer ofChild = create(store, child);
    Standing waiting =
        new Standing(RunStatus.WAITING, Optional.empty(), Set.of(child.runId()), Set.of("other"));
    store.append(new Append(parent, 1, ofParent, NOON, List.of(step(1)), waiting), soon());
    store.release(parent, ofParent);

    end(child, ofChild, RunStatus.COMPLETED, parent);
    RunKey orphan = run("orphan");
    end(orphan, create(store, orphan), RunStatus.COMPLETED, run("nobody"));

    assertEquals(List.of(), takeDue(5, "agent"));
    assertEquals(waiting, listed(parent).standing());
  }

  @Test
  @Tag("F76")
  void a_run_that_is_taken_in_is_due_if_a_child_that_it_awaits_has_ended_whichever_comes_first() {
    for (boolean childFirst : List.of(true, false)) {
      RunKey parent = run("parent-" + childFirst);
      RunKey child = run("child-" + childFirst);
      Standing awaits =
          new Standing(RunStatus.WAITING, Optional.empty(), Set.of(), Set.of(child.runId()));
      List<LoggedEvent> ended =
          List.of(
              new LoggedEvent(
                  child,
                  1,
                  Writer.outside("client"),
                  NOON,
                  RunEvent.RunStarted.ofFlow(
                      "child",
                      "1",
                      Map.of(),
                      Optional.empty(),
                      Json.of("x"),
                      Map.of(),
                      Optional.empty(),
                      Optional.of(parent.runId()),
                      Optional.empty())));
      if (childFirst) {
        store.adopt(ended, Standing.of(RunStatus.COMPLETED), soon());
        queue(parent, "agent", awaits);
      } else {
        queue(parent, "agent", awaits);
        assertEquals(List.of(), takeDue(5, "agent"));
        store.adopt(ended, Standing.of(RunStatus.COMPLETED), soon());
      }
      assertEquals(List.of(parent.runId()), takeDue(5, "agent"));
    }
  }

  @Test
  @Tag("A112")
  void a_run_is_due_when_a_signal_is_there_that_it_awaits_and_not_for_others() {
    Standing awaits =
        new Standing(RunStatus.WAITING, Optional.empty(), Set.of("go on & on", "x y"), Set.of());
    for (boolean early : List.of(true, false)) {
      RunKey run = run("early-" + early);
      Writer owner = create(store, run);
      if (early) {
        store.signal(run, signal("s-1", "x y"), soon());
      }
      store.append(new Append(run, 1, owner, NOON, List.of(step(1)), awaits), soon());
      store.release(run, owner);
      if (!early) {
        assertEquals(awaits, listed(run).standing());
        store.signal(run, signal("s-0", "x"), soon());
        assertEquals(List.of(), takeDue(5, "agent"));
        store.signal(run, signal("s-1", "go on & on"), soon());
      }
      assertEquals(List.of(run.runId()), takeDue(5, "agent"));
    }
  }

  @Test
  @Tag("F58")
  void the_signals_that_a_run_has_not_received_become_those_of_the_run_that_goes_on_from_it() {
    RunKey run = run("r1");
    RunKey next = run("r2");
    Writer owner = create(store, run);
    Writer ofNext = create(store, next);
    Standing awaits = new Standing(RunStatus.WAITING, Optional.empty(), Set.of("x"), Set.of());
    store.append(new Append(next, 1, ofNext, NOON, List.of(step(1)), awaits), soon());
    store.release(next, ofNext);
    Signal gone = signal("s-0", "y");
    Signal first = signal("s-2", "y");
    Signal second = signal("s-1", "x");
    for (Signal sent : List.of(gone, first, second)) {
      store.signal(run, sent, soon());
    }
    RunEvent received = new FlowEvent.SignalReceived("1", "s-0", gone.value());
    store.append(append(run, 1, owner, List.of(received)), soon());
    assertEquals(List.of(), takeDue(5, "agent"));

    goesOn(run, 2, owner, next);

    assertEquals(List.of(), store.signals(run, soon()));
    assertEquals(List.of(first, second), store.signals(next, soon()));
    assertFalse(store.signal(next, first, soon()));
    assertEquals(List.of("r2"), takeDue(5, "agent"));
  }

  @Test
  @Tag("F58")
  void a_run_ends_also_if_the_one_that_goes_on_from_it_has_ended_or_is_not_there() {
    for (boolean there : List.of(true, false)) {
      RunKey run = run("r-" + there);
      RunKey next = run("next-" + there);
      Writer owner = create(store, run);
      store.signal(run, signal("s-1", "x"), soon());
      if (there) {
        Writer ofNext = create(store, next);
        store.append(
            new Append(next, 1, ofNext, NOON, List.of(step(1)), Standing.of(RunStatus.COMPLETED)),
            soon());
      }
      goesOn(run, 1, owner, next);
      assertEquals(RunStatus.COMPLETED, listed(run).standing().status());
      assertEquals(List.of(), store.signals(next, soon()));
    }
  }

  private void goesOn(RunKey run, long sequence, Writer owner, RunKey next) {
    store.append(
        new Append(
            run,
            sequence,
            owner,
            NOON.plusSeconds(1),
            List.of(RunEvent.RunCompleted.continuedAs(next.runId())),
            Standing.of(RunStatus.COMPLETED)),
        soon());
  }

  @Test
  @Tag("A11")
  @Tag("F77")
  @Tag("F79")
  void a_run_that_has_ended_takes_no_signal_and_a_deleted_one_leaves_none() {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    store.signal(run, signal("s-1", "x"), soon());
    store.append(
        new Append(run, 1, owner, NOON, List.of(step(1)), Standing.of(RunStatus.COMPLETED)),
        soon());
    store.release(run, owner);

    assertThrows(ConflictException.class, () -> store.signal(run, signal("s-2", "x"), soon()));
    assertTrue(store.delete(run, soon()));
    create(store, run);
    assertEquals(List.of(), store.signals(run, soon()));
    assertTrue(store.signal(run, signal("s-1", "x"), soon()));
  }
}
