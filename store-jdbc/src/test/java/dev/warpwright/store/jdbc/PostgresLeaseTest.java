package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.model.StoreException;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.run.Append;
import dev.warpwright.run.DueRuns;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunListener;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore.Claim;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import dev.warpwright.store.jdbc.CommitHook.Boundary;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.EffectClass;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases: who loses its runs when, and what a store does that cannot know. */
@NeedsPostgres
@Timeout(120)
final class PostgresLeaseTest {
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "r1");
  private static final Duration TTL = Duration.ofSeconds(15);

  private final CountDownLatch upkeep = new CountDownLatch(1); // of the stores that are held
  private final Gate gate = new Gate();
  private final ManualTime time = new ManualTime();
  private final List<JdbcRunStore> stores = new ArrayList<>();
  private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
  private String url;

  @BeforeEach
  void clear() throws SQLException {
    url = PostgresServer.get().cleared();
  }

  @AfterEach
  void close() {
    gate.open();
    upkeep.countDown();
    callers.close();
    stores.forEach(JdbcRunStore::close);
    Databases.assertNoThreadLeft();
  }

  private static Deadline soon() {
    return Deadline.after(TimeSource.system(), Duration.ofSeconds(60));
  }

  private JdbcRunStore open(String name) {
    return keep(JdbcRunStore.builder(PostgresServer.source(url)).owner(name));
  }

  private JdbcRunStore keep(JdbcRunStore.Builder builder) {
    JdbcRunStore store = builder.open();
    stores.add(store);
    return store;
  }

  /** A store whose lease nobody keeps up until the test lets go of it. */
  private JdbcRunStore openHeld(String name, TimeSource clock) {
    return keep(
        JdbcRunStore.builder(PostgresServer.source(url))
            .owner(name)
            .timeSource(clock)
            .commitHook(gate)
            .leaseHook(this::awaitUpkeep));
  }

  private void awaitUpkeep() {
    try {
      upkeep.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Lets the lease of a store run out, as its time does. */
  private void lapse(String name) throws SQLException {
    PostgresServer.execute(url, "UPDATE ww_worker SET lease_until = 1 WHERE id = '" + name + "'");
  }

  private long number(String sql) throws SQLException {
    try (var connection = Databases.connect(url);
        var statement = connection.createStatement();
        var row = statement.executeQuery(sql)) {
      return row.next() ? row.getLong(1) : -1;
    }
  }

  private long leaseUntil(String name) throws SQLException {
    return number("SELECT lease_until FROM ww_worker WHERE id = '" + name + "'");
  }

  private static void await(Callable<Boolean> condition) throws Exception {
    while (!condition.call()) {
      Thread.onSpinWait();
    }
  }

  private static RunEvent.RunStarted started() {
    return new RunEvent.RunStarted(
        "a", "1", Map.of(), Optional.empty(), List.of(), 9, List.of(), Map.of());
  }

  private static Writer create(JdbcRunStore store, RunKey run) {
    Claim claim = store.create(new NewRun(run, NOON, started()), soon());
    return assertInstanceOf(Claim.Won.class, claim).owner();
  }

  private static void queue(JdbcRunStore store, String id, Instant due) {
    RunKey run = new RunKey(RunScope.DEFAULT, id);
    store.adopt(
        List.of(new LoggedEvent(run, 1, Writer.outside("client"), NOON, started())),
        Standing.due(RunStatus.QUEUED, due),
        soon());
  }

  private static Append append(RunKey run, long expected, Writer writer, RunEvent... events) {
    return new Append(
        run, expected, writer, NOON, List.of(events), Standing.due(RunStatus.RUNNING, NOON));
  }

  private static Append append(long expected, Writer writer) {
    return append(RUN, expected, writer, new RunEvent.RunResumed("x"));
  }

  /** What a driver was told. */
  private static final class Told implements RunListener {
    final AtomicInteger cancelled = new AtomicInteger();
    final AtomicInteger lost = new AtomicInteger();

    @Override
    public void cancelRequested() {
      cancelled.incrementAndGet();
    }

    @Override
    public void lost() {
      lost.incrementAndGet();
    }
  }

  private static void assertLost(JdbcRunStore store, Append append) {
    ConflictException lost =
        assertThrows(ConflictException.class, () -> store.append(append, soon()));
    assertTrue(lost.getMessage().contains("lost its lease"), lost.getMessage());
  }

  @Test
  @Tag("A122")
  @Tag("A123")
  @Tag("A124")
  @Tag("A128")
  void a_run_whose_owners_lease_has_run_out_is_taken_over_at_once_and_the_owner_is_told()
      throws Exception {
    JdbcRunStore first = openHeld("first", TimeSource.system());
    JdbcRunStore second = openHeld("second", TimeSource.system()); // reaps only for what it wants
    Writer before = create(first, RUN);
    Told told = new Told();
    first.watch(RUN, told);
    assertEquals(Optional.empty(), second.acquire(RUN, soon()));
    first.append(append(1, before), soon());

    lapse("first");
    assertTrue(second.awaitRelease(RUN, soon()));
    Writer after = second.acquire(RUN, soon()).orElseThrow();

    assertLost(first, append(2, before));
    assertEquals(1, told.lost.get());
    second.append(append(2, after), soon());
    assertEquals(3, first.load(RUN, 1, soon()).size());
    first.release(RUN, before); // does nothing
    second.append(append(3, after), soon());
  }

  @Test
  @Tag("A122")
  void a_store_that_lost_its_lease_has_another_one_under_the_epoch_that_was_raised()
      throws Exception {
    JdbcRunStore first = openHeld("first", TimeSource.system());
    Writer before = create(first, RUN);
    lapse("first");
    JdbcRunStore second = open("second");
    Writer after = acquireSoon(second, RUN);
    RunKey other = new RunKey(RunScope.DEFAULT, "other");
    assertLost(first, append(1, before));
    assertThrows(StoreException.class, () -> create(first, other));
    first.append(append(1, Writer.outside("ann")), soon()); // needs no lease

    upkeep.countDown();

    Writer again = createSoon(first, other);
    assertEquals(before.epoch() + 1, again.epoch());
    first.append(append(other, 1, again, new RunEvent.StepStarted(1, 1)), soon());
    assertThrows(ConflictException.class, () -> first.append(append(2, before), soon()));
    second.append(append(2, after), soon());
  }

  @Test
  @Tag("A122")
  void what_another_store_writes_from_outside_leaves_a_dead_owner_s_run_to_be_freed()
      throws Exception {
    JdbcRunStore first = openHeld("first", TimeSource.system());
    JdbcRunStore second = openHeld("second", TimeSource.system());
    create(first, RUN);
    lapse("first");
    second.append(append(1, Writer.outside("ann")), soon());

    upkeep.countDown();

    await(() -> second.acquireDue(Set.of("a"), 1, soon()).taken().size() == 1);
  }

  private static Writer acquireSoon(JdbcRunStore store, RunKey run) throws Exception {
    assertTrue(store.awaitRelease(run, soon()));
    return store.acquire(run, soon()).orElseThrow();
  }

  /** Creates a run as soon as the store has a lease. */
  private static Writer createSoon(JdbcRunStore store, RunKey run) {
    while (true) {
      try {
        return create(store, run);
      } catch (StoreException e) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  @Tag("A122")
  void a_lease_that_has_run_out_is_not_renewed_also_if_nobody_took_it() throws Exception {
    JdbcRunStore store = openHeld("store", time);
    Writer before = create(store, RUN);
    Told told = new Told();
    store.watch(RUN, told);
    lapse("store");

    upkeep.countDown();
    time.advance(TTL.dividedBy(3));

    await(() -> told.lost.get() == 1);
    RunKey other = new RunKey(RunScope.DEFAULT, "other");
    assertEquals(before.epoch() + 1, createSoon(store, other).epoch());
    assertThrows(ConflictException.class, () -> store.append(append(1, before), soon()));
    assertEquals(1, store.load(RUN, 1, soon()).size());
    assertTrue(store.acquire(RUN, soon()).isPresent());
  }

  @Test
  @Tag("A125")
  void an_owner_renews_its_lease_three_times_as_often_as_it_lasts() throws Exception {
    JdbcRunStore store = openHeld("store", time);
    Writer owner = create(store, RUN);
    upkeep.countDown();

    for (int n = 1; n <= 6; n++) {
      long before = leaseUntil("store");
      time.advance(TTL.dividedBy(3));
      await(() -> leaseUntil("store") > before);
      store.append(append(RUN, n, owner, new RunEvent.StepStarted(n, 1)), soon());
    }
  }

  @Test
  @Tag("A125")
  void a_renewal_that_fails_is_tried_again_and_nothing_is_lost() throws Exception {
    AtomicInteger failures = new AtomicInteger();
    DataSource failing =
        Interposed.rewriting(
            PostgresServer.source(url),
            sql ->
                sql.startsWith("UPDATE ww_worker SET lease_until")
                        && failures.getAndUpdate(n -> Math.max(0, n - 1)) > 0
                    ? "nonsense"
                    : sql);
    JdbcRunStore store = keep(JdbcRunStore.builder(failing).owner("store").timeSource(time));
    Writer owner = create(store, RUN);
    Told told = new Told();
    store.watch(RUN, told);
    long before = leaseUntil("store");
    failures.set(2);

    time.advance(TTL.dividedBy(3));
    for (int n = 1; n >= 0; n--) {
      int left = n;
      await(() -> failures.get() == left);
      time.awaitAlarmIn(Duration.ofSeconds(1)); // it sleeps before it tries again
      time.advance(Duration.ofSeconds(1));
    }

    await(() -> leaseUntil("store") > before);
    assertEquals(0, told.lost.get());
    store.append(append(RUN, 1, owner, new RunEvent.StepStarted(1, 1)), soon());
  }

  @Test
  @Tag("A125")
  void an_owner_that_cannot_renew_begins_nothing_near_the_end_and_stops_at_the_end() {
    JdbcRunStore store = openHeld("store", time);
    Writer owner = create(store, RUN);
    Told told = new Told();
    store.watch(RUN, told);
    RunEvent step = new RunEvent.StepStarted(1, 1);
    RunEvent intent =
        new RunEvent.ToolStarted(1, 0, "c1", "tool", EffectClass.ONCE, Json.parse("{}"), "key", 1);

    time.advance(TTL.multipliedBy(4).dividedBy(5).minusMillis(1));
    store.append(append(RUN, 1, owner, step), soon());
    time.advance(Duration.ofMillis(1));
    assertLateToBegin(store, append(RUN, 2, owner, step));
    assertLateToBegin(store, append(RUN, 2, owner, new RunEvent.RunResumed("x"), intent));
    store.append(append(RUN, 2, owner, new RunEvent.RunResumed("an outcome")), soon());
    assertEquals(0, told.lost.get());

    time.advance(TTL.dividedBy(5));

    assertEquals(1, told.lost.get());
    assertLost(store, append(3, owner));
    assertEquals(3, store.load(RUN, 1, soon()).size());
  }

  private static void assertLateToBegin(JdbcRunStore store, Append append) {
    ConflictException late =
        assertThrows(ConflictException.class, () -> store.append(append, soon()));
    assertTrue(late.getMessage().contains("about to lose its lease"), late.getMessage());
  }

  @Test
  @Tag("A123")
  void a_transaction_under_way_is_not_fenced_but_passed_over_and_read_by_who_takes_over()
      throws Exception {
    JdbcRunStore first = openHeld("first", TimeSource.system());
    Writer owner = create(first, RUN);
    JdbcRunStore second = open("second");
    Gate.Stop stop = gate.stopAt(Boundary.BEFORE_STATEMENT);
    Future<?> late = callers.submit(() -> first.append(append(1, owner), soon()));
    stop.awaitReached();
    Gate.Stop commit = gate.stopAt(Boundary.BEFORE_COMMIT);
    stop.open();
    commit.awaitReached(); // it has the worker's row
    lapse("first");
    long epoch = number("SELECT epoch FROM ww_worker WHERE id = 'first'");
    for (int n = 0; n < 20; n++) {
      try (var connection = Databases.connect(url)) {
        assertEquals(List.of(), LeaseTable.reap(connection, "second"));
      }
    }
    assertEquals(epoch, number("SELECT epoch FROM ww_worker WHERE id = 'first'"));

    commit.open();
    late.get();

    Writer after = acquireSoon(second, RUN);
    assertEquals(2, second.load(RUN, 1, soon()).size());
    assertLost(first, append(2, owner));
    second.append(append(2, after), soon());
  }

  @Test
  @Tag("A122")
  @Tag("A128")
  void a_thousand_runs_of_a_store_that_died_are_due_for_others_and_each_goes_to_one()
      throws Exception {
    JdbcRunStore first = openHeld("first", TimeSource.system());
    int runs = 1_000;
    List<Future<?>> queued = new ArrayList<>();
    for (int n = 0; n < runs; n++) {
      String id = "r" + n;
      queued.add(callers.submit(() -> queue(first, id, NOON)));
    }
    for (Future<?> done : queued) {
      done.get();
    }
    assertEquals(runs, first.acquireDue(Set.of("a"), runs, soon()).taken().size());
    JdbcRunStore second = open("second");
    JdbcRunStore third = open("third");
    assertEquals(List.of(), second.acquireDue(Set.of("a"), runs, soon()).taken());

    lapse("first");

    List<RunKey> taken = new ArrayList<>();
    while (taken.size() < runs) {
      for (JdbcRunStore store : List.of(second, third)) {
        DueRuns due = store.acquireDue(Set.of("a"), 150, soon());
        due.taken().forEach(run -> taken.add(run.run()));
      }
    }
    assertEquals(runs, new HashSet<>(taken).size());
    assertEquals(List.of(), second.acquireDue(Set.of("a"), runs, soon()).taken());
    await(() -> number("SELECT COUNT(*) FROM ww_worker WHERE id = 'first' AND freed") == 1);
  }

  @Test
  @Tag("A122")
  void the_runs_of_a_store_that_closed_are_due_for_others() throws Exception {
    JdbcRunStore first = open("first");
    JdbcRunStore second = open("second");
    create(first, RUN);
    first.close();

    await(() -> !second.acquireDue(Set.of("a"), 5, soon()).taken().isEmpty());
  }

  @Test
  @Tag("A112")
  void what_is_due_is_judged_by_the_clock_of_the_database() {
    ManualTime early = new ManualTime(Instant.parse("2001-01-01T00:00:00Z"), 1);
    JdbcRunStore store =
        keep(JdbcRunStore.builder(PostgresServer.source(url)).owner("x").timeSource(early));
    queue(store, "due", NOON);

    assertEquals(1, store.acquireDue(Set.of("a"), 5, soon()).taken().size());
  }

  @Test
  @Tag("A126")
  @Tag("A132")
  void a_request_to_cancel_of_another_process_is_told_to_the_driver() throws Exception {
    JdbcRunStore first = open("first");
    JdbcRunStore second = open("second");
    create(first, RUN);
    Told told = new Told();
    first.watch(RUN, told);

    assertEquals(RunStatus.CANCEL_REQUESTED, Runs.in(second).cancel(RUN, "test").status());

    await(() -> told.cancelled.get() == 1);
    assertEquals(0, told.lost.get());
  }

  @Test
  @Tag("A127")
  void an_append_that_meets_a_control_event_of_another_process_takes_place_on_top_of_it() {
    JdbcRunStore first = open("first");
    JdbcRunStore second = open("second");
    Writer owner = create(first, RUN);
    RunLog log = RunLog.open(first, RUN, owner, TimeSource.system(), soon());
    log.append(new RunEvent.StepStarted(1, 1));
    var _ = Runs.in(second).cancel(RUN, "test");

    log.append(
        new RunEvent.ModelResponded(
            1,
            Target.of("p", "m"),
            new Message(Role.ASSISTANT, List.of(new ToolCall("c1", "refund", Json.parse("{}")))),
            new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls"),
            Usage.ABSENT,
            List.of()));

    List<LoggedEvent> events = second.load(RUN, 1, soon());
    assertEquals(4, events.size());
    assertInstanceOf(RunEvent.CancelRequested.class, events.get(2).event());
    assertInstanceOf(RunEvent.ModelResponded.class, events.get(3).event());
  }

  @Test
  @Tag("A151")
  void a_run_is_stranded_when_the_stores_that_announced_its_agent_are_gone() throws Exception {
    JdbcRunStore here = open("here");
    JdbcRunStore closing = open("closing");
    JdbcRunStore dying = openHeld("dying", TimeSource.system());
    queue(here, "r1", NOON);
    closing.announce(Set.of("a"), soon());
    assertEquals(List.of(), here.stranded(RunScope.DEFAULT, 5, soon()));
    closing.close();
    assertEquals(1, here.stranded(RunScope.DEFAULT, 5, soon()).size());
    dying.announce(Set.of("a"), soon());
    assertEquals(List.of(), here.stranded(RunScope.DEFAULT, 5, soon()));
    lapse("dying");
    assertEquals(1, here.stranded(RunScope.DEFAULT, 5, soon()).size());
    here.announce(Set.of("a"), soon());
    assertEquals(List.of(), here.stranded(RunScope.DEFAULT, 5, soon()));
  }

  @Test
  @Tag("A112")
  void due_runs_are_found_by_an_index_among_many_that_are_not_due() throws Exception {
    JdbcRunStore store = open("store");
    queue(store, "r1", NOON);
    PostgresServer.execute(
        url,
        "INSERT INTO ww_run (tenant, user_id, namespace, run_id, agent_id, status, sequence,"
            + " worker, owner, owner_epoch, created_nanos, updated_nanos, due_nanos) SELECT 't',"
            + " '', '', 'x' || n, 'a', 'RUNNING', 1, CASE WHEN n % 2 = 0 THEN 'store' END,"
            + " 'store#x', 1, n, n, CASE WHEN n % 2 = 0 THEN n ELSE 9e18::bigint END FROM"
            + " generate_series(1, 20000) AS n");
    try (var connection = Databases.connect(url)) {
      String plan = PostgresSession.duePlan(connection, Set.of("a", "b"), 10);
      assertTrue(plan.contains("ww_run_due"), plan);
      assertFalse(plan.contains("Seq Scan on ww_run"), plan);
      assertTrue(plan.contains("Index Cond: ((agent_id"), plan);
    }
    assertEquals(1, store.acquireDue(Set.of("a", "b"), 10, soon()).taken().size());
  }

  @Test
  @Tag("A125")
  void a_store_that_gets_no_connection_for_its_lease_does_not_open() {
    DataSource scarce =
        Interposed.source(
            PostgresServer.source(url),
            connection -> {
              if (Thread.currentThread().getName().equals("warpwright-store-lease")) {
                connection.close();
                throw new SQLException("the pool is empty");
              }
              return connection;
            });

    StoreException failure =
        assertThrows(StoreException.class, () -> JdbcRunStore.builder(scarce).open());

    assertTrue(failure.getMessage().contains("the pool is empty"), failure.getMessage());
    Databases.assertNoThreadLeft();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 749, 3_600_001})
  @Tag("A125")
  void a_lease_that_is_too_short_or_too_long_is_refused(long millis) {
    JdbcRunStore.Builder builder = JdbcRunStore.builder(PostgresServer.source(url));
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> builder.lease(Duration.ofMillis(millis)));
    assertTrue(refused.getMessage().contains("must be between"), refused.getMessage());
  }
}
