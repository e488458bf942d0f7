package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.run.Append;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore.Claim;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Finding runs by what they were started with, and deleting them. */
public abstract class RetentionContract extends RunStoreFixture {
  private void start(RunKey run, Map<String, String> metadata) {
    RunEvent.RunStarted plain = started("agent", Optional.empty());
    RunEvent.RunStarted noted =
        new RunEvent.RunStarted(
            plain.agentId(),
            plain.agentVersion(),
            plain.fingerprint(),
            plain.idempotencyKey(),
            plain.messages(),
            plain.maxSteps(),
            plain.targets(),
            metadata);
    var _ = store.create(new NewRun(run, NOON, noted), soon());
  }

  private List<String> found(RunQuery query) {
    return store.list(query, soon()).stream().map(summary -> summary.run().runId()).toList();
  }

  @Test
  @Tag("A112")
  void runs_are_found_by_the_metadata_that_they_were_started_with() {
    start(run("r1"), Map.of("customer", "42", "kind", "order"));
    start(run("r2"), Map.of("customer", "42", "kind", "refund"));
    start(run("r3"), Map.of("customer", "43", "kind", "order"));
    start(run("r4"), Map.of("42", "customer"));
    start(new RunKey(RunScope.of("other"), "r5"), Map.of("customer", "42"));

    RunQuery.Builder customer = RunQuery.builder(SCOPE).metadata("customer", "42");
    assertEquals(List.of("r1", "r2"), found(customer.build()));
    assertEquals(List.of("r1"), found(customer.limit(1).build()));
    assertEquals(
        List.of("r2"),
        found(customer.build().after(store.list(customer.build(), soon()).getFirst())));
    assertEquals(List.of("r2"), found(customer.metadata("kind", "refund").limit(9).build()));
    assertEquals(List.of(), found(customer.statuses(RunStatus.FAILED).build()));
    assertEquals(List.of(), found(RunQuery.builder(SCOPE).metadata("customer", "4").build()));
    assertEquals(List.of(), found(RunQuery.builder(SCOPE).metadata("Customer", "42").build()));
  }

  @Test
  @Tag("A112")
  void metadata_that_is_long_or_strange_is_kept_and_found_as_far_as_it_is_short() {
    String longest = "ä".repeat(RunQuery.MAX_SEARCHED);
    Map<String, String> metadata =
        Map.of("short", longest, "long", longest + "x", "strange", "a\0b", "", "", "x", "'%_\\");
    start(run("r1"), metadata);

    assertEquals(
        metadata,
        assertInstanceOf(RunEvent.RunStarted.class, events(run("r1")).getFirst()).metadata());
    assertEquals(List.of("r1"), found(RunQuery.builder(SCOPE).metadata("short", longest).build()));
    assertEquals(List.of(), found(RunQuery.builder(SCOPE).metadata("long", longest + "x").build()));
    assertEquals(List.of("r1"), found(RunQuery.builder(SCOPE).metadata("", "").build()));
    assertEquals(List.of("r1"), found(RunQuery.builder(SCOPE).metadata("x", "'%_\\").build()));
    assertEquals(List.of(), found(RunQuery.builder(SCOPE).metadata("x", "'a\\").build()));
  }

  /** Brings a run to a status and hands it back. */
  private void end(String id, RunStatus status, Instant at) {
    RunKey run = run(id);
    Writer owner = create(store, run);
    store.append(new Append(run, 1, owner, at, List.of(step(1)), Standing.of(status)), soon());
    store.release(run, owner);
  }

  /** Brings a run to a status and hands it back in one act. */
  private void finish(RunKey run, Writer owner, RunStatus status, Instant at) {
    store.append(
        new Append(
            run, 1, owner, at, List.of(step(1)), Standing.of(status), Optional.empty(), true),
        soon());
  }

  @Test
  @Tag("A112")
  @Tag("F77")
  void a_run_that_is_deleted_leaves_nothing_and_its_key_and_id_can_be_claimed_anew() {
    RunKey run = run("r1");
    Writer owner = create(store, run, Optional.of("key"));
    store.append(append(run, 1, owner), soon());
    store.release(run, owner);
    create(store, run("other"));

    assertTrue(store.delete(run, soon()));

    assertFalse(store.delete(run, soon()));
    assertEquals(List.of(), store.load(run, 1, soon()));
    assertEquals(Optional.empty(), store.find(SCOPE, "key", soon()));
    assertThrows(ConflictException.class, () -> store.acquire(run, soon()));
    assertThrows(ConflictException.class, () -> store.append(append(run, 2, owner), soon()));
    assertEquals(List.of("other"), found(RunQuery.all(SCOPE)));
    assertEquals(List.of("other"), found(RunQuery.builder(SCOPE).metadata("note", "x").build()));

    create(store, run("r2"), Optional.of("key"));
    Claim claim = store.create(new NewRun(run, NOON, started("b", Optional.empty())), soon());
    store.append(append(run, 1, assertInstanceOf(Claim.Won.class, claim).owner()), soon());
    assertEquals(2, events(run).size());
  }

  @Test
  @Tag("A118")
  @Tag("F77")
  void a_run_that_is_driven_or_waits_for_a_verdict_is_not_deleted() {
    RunKey driven = run("driven");
    Writer owner = create(store, driven);
    end("doubt", RunStatus.NEEDS_RECONCILIATION, NOON);
    List<RunSummary> before = store.list(RunQuery.all(SCOPE), soon());

    for (RunKey run : List.of(driven, run("doubt"))) {
      ConflictException refused =
          assertThrows(ConflictException.class, () -> store.delete(run, soon()));
      assertTrue(refused.getMessage().contains(run.runId()), refused.getMessage());
    }

    assertEquals(before, store.list(RunQuery.all(SCOPE), soon()));
    store.append(append(driven, 1, owner), soon());
  }

  @Test
  @Tag("A112")
  @Tag("F78")
  void ended_runs_are_deleted_by_status_and_age_so_many_at_a_time() {
    for (int n = 0; n < 7; n++) {
      end("old-" + n, n % 2 == 0 ? RunStatus.COMPLETED : RunStatus.FAILED, NOON.plusNanos(n));
    }
    end("cancelled", RunStatus.CANCELLED, NOON);
    end("new", RunStatus.COMPLETED, NOON.plusSeconds(1));
    end("waits", RunStatus.WAITING_APPROVAL, NOON);
    create(store, run("driven"));
    RunKey owned = run("ended-but-owned");
    Writer owner = create(store, owned);
    store.append(
        new Append(owned, 1, owner, NOON, List.of(step(1)), Standing.of(RunStatus.COMPLETED)),
        soon());
    Set<RunStatus> statuses = Set.of(RunStatus.COMPLETED, RunStatus.FAILED);
    Instant before = NOON.plusNanos(7);

    assertEquals(0, store.deleteExpired(NOON, statuses, 10, soon()));
    assertEquals(3, store.deleteExpired(before, Set.of(RunStatus.COMPLETED), 3, soon()));
    assertEquals(1, store.deleteExpired(before, Set.of(RunStatus.COMPLETED), 3, soon()));
    assertEquals(3, store.deleteExpired(before, statuses, 1000, soon()));
    assertEquals(0, store.deleteExpired(before, statuses, 1000, soon()));

    assertEquals(
        Set.of("cancelled", "new", "waits", "driven", "ended-but-owned"),
        Set.copyOf(found(RunQuery.all(SCOPE))));
    assertEquals(List.of(), events(run("old-0")));
    assertEquals(2, events(owned).size());
  }

  /** Starts a child run, without its parent's taking part. */
  private Writer startChild(RunKey run, String parent) {
    NewRun child = new NewRun(run, NOON, childOf(parent));
    return assertInstanceOf(Claim.Won.class, store.create(child, soon())).owner();
  }

  private static RunEvent.RunStarted childOf(String parent) {
    RunEvent.RunStarted plain = started("agent", Optional.empty());
    return new RunEvent.RunStarted(
        plain.agentId(),
        plain.agentVersion(),
        plain.fingerprint(),
        plain.idempotencyKey(),
        plain.messages(),
        plain.maxSteps(),
        plain.targets(),
        plain.metadata(),
        Optional.empty(),
        false,
        Optional.empty(),
        Optional.empty(),
        Optional.of(parent),
        Optional.empty());
  }

  private void endChild(String id, String parent) {
    RunKey run = run(id);
    finish(run, startChild(run, parent), RunStatus.COMPLETED, NOON);
  }

  /** A root with a child and a grandchild that have completed; the root is driven. */
  private Writer family() {
    Writer root = create(store, run("root"));
    endChild("child", "root");
    endChild("grandchild", "child");
    return root;
  }

  private int deleteOld(int limit) {
    return store.deleteExpired(NOON.plusNanos(1), Set.of(RunStatus.COMPLETED), limit, soon());
  }

  private void assertLeft(String... ids) {
    assertEquals(Set.of(ids), Set.copyOf(found(RunQuery.all(SCOPE))));
  }

  @Test
  @Tag("A93")
  @Tag("F78")
  void what_a_run_that_has_not_ended_may_ask_its_child_runs_for_is_not_deleted() {
    Writer owner = family();

    assertEquals(0, deleteOld(10)); // while it is driven
    finish(run("root"), owner, RunStatus.WAITING, NOON);
    assertEquals(0, deleteOld(10)); // while it waits

    assertLeft("root", "child", "grandchild");
    assertEquals(2, events(run("child")).size());
  }

  @ParameterizedTest
  @EnumSource(names = {"FAILED", "COMPLETED"})
  @Tag("A93")
  @Tag("F78")
  void a_parent_that_is_not_to_be_deleted_yet_keeps_its_child_runs(RunStatus status) {
    Writer owner = family();
    finish(run("root"), owner, status, NOON.plusNanos(status == RunStatus.FAILED ? 0 : 1));

    assertEquals(0, deleteOld(10)); // it may be resumed, or has ended later

    assertLeft("root", "child", "grandchild");
  }

  @Test
  @Tag("F78")
  void a_tree_that_has_ended_goes_in_one_call_from_its_root_down() {
    Writer owner = family();
    endChild("younger", "root");
    finish(run("root"), owner, RunStatus.COMPLETED, NOON);

    assertEquals(1, deleteOld(1));
    assertEquals(List.of(), events(run("root")));
    assertEquals(3, deleteOld(10));

    assertLeft();
  }

  @Test
  @Tag("F78")
  void a_child_run_whose_parent_has_expired_stays_until_it_has_expired_itself() {
    Writer owner = family();
    startChild(run("driven"), "root");
    finish(run("young"), startChild(run("young"), "root"), RunStatus.COMPLETED, NOON.plusNanos(1));
    finish(run("root"), owner, RunStatus.COMPLETED, NOON);

    assertEquals(3, deleteOld(10));

    assertLeft("driven", "young");
  }

  @Test
  @Tag("F77")
  @Tag("F78")
  void a_parent_that_is_not_there_keeps_no_child_run() {
    family();
    create(store, new RunKey(RunScope.of("other"), "stranger"));
    endChild("orphan", "never-was");
    endChild("elsewhere", "stranger");

    assertEquals(2, deleteOld(10));
    assertLeft("root", "child", "grandchild");
    assertTrue(store.delete(run("child"), soon())); // by hand, which asks for no parent
    assertEquals(1, deleteOld(10));
    assertLeft("root");
  }

  @Test
  @Tag("F76")
  @Tag("F78")
  void a_child_run_that_was_taken_in_before_its_parent_stays_with_it() {
    endChild("child", "root");
    List<LoggedEvent> log = store.load(run("child"), 1, soon());
    assertTrue(store.delete(run("child"), soon()));
    store.adopt(log, Standing.of(RunStatus.COMPLETED), soon());
    create(store, run("root"));

    assertEquals(0, deleteOld(10));

    assertLeft("root", "child");
  }

  @Test
  @Tag("F72")
  @Tag("F74")
  @Tag("F76")
  void a_fork_and_an_import_are_there_whole_and_free_to_be_driven() {
    RunKey run = run("source");
    Writer owner = create(store, run, Optional.of("key"));
    asks(run, 1, owner);
    List<LoggedEvent> source = store.load(run, 1, soon());
    Runs runs = Runs.in(store);

    RunKey fork = runs.fork(run, 1); // of a run that is driven
    assertEquals(source, store.load(run, 1, soon()));
    assertEquals(Optional.of(run), store.find(SCOPE, "key", soon()));
    Writer other = store.acquire(fork, soon()).orElseThrow();
    asks(fork, 1, other);
    asks(run, 2, owner);
    store.release(fork, other);

    String text = RunExport.write(store.load(fork, 1, soon()));
    assertThrows(ConflictException.class, () -> runs.importRuns(text));
    assertTrue(runs.delete(fork));
    assertEquals(List.of(fork), runs.importRuns(text));
    assertEquals(text, RunExport.write(store.load(fork, 1, soon())));
    assertTrue(store.acquire(fork, soon()).isPresent());
  }

  private void asks(RunKey run, long sequence, Writer owner) {
    store.append(
        new Append(run, sequence, owner, NOON, List.of(step(1)), Standing.of(RunStatus.RUNNING)),
        soon());
  }
}
