package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.StoreException;
import dev.warpwright.model.Target;
import dev.warpwright.run.Append;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore.Claim;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import dev.warpwright.store.jdbc.CommitHook.Boundary;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import dev.warpwright.testing.ManualTime;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** On every database: one commit for many, commits of unknown fate, bounds and deadlines. */
@Timeout(60)
abstract class CommitContract {
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
  private static final Duration SHORT = Duration.ofMillis(20);

  final Gate gate = new Gate();
  final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
  JdbcRunStore store;

  /** The URL of a database in which there is nothing. */
  abstract String database() throws Exception;

  private JdbcRunStore open(int maxEvents, Duration grace) throws Exception {
    return Databases.builder(database())
        .commitHook(gate)
        .queueBounds(maxEvents, 1_000_000)
        .grace(grace)
        .open();
  }

  @BeforeEach
  void open() throws Exception {
    store = open(10_000, Duration.ofSeconds(30));
  }

  private void reopen(int maxEvents, Duration grace) throws Exception {
    store.close();
    store = open(maxEvents, grace);
  }

  @AfterEach
  void close() {
    gate.open();
    callers.close();
    store.close();
    Databases.assertNoThreadLeft();
  }

  static Deadline soon() {
    return Deadline.after(TimeSource.system(), Duration.ofSeconds(30));
  }

  private static Deadline passed() {
    return Deadline.after(TimeSource.system(), Duration.ZERO);
  }

  static RunKey run(int number) {
    return new RunKey(RunScope.DEFAULT, "r" + number);
  }

  /** Reopens a store on a clock of the test; returns its URL. */
  final String reopen(TimeSource time, Duration grace) throws Exception {
    store.close();
    String url = database();
    store = Databases.builder(url).commitHook(gate).timeSource(time).grace(grace).open();
    return url;
  }

  final Writer create(RunKey run) {
    return create(run, soon());
  }

  private Writer create(RunKey run, Deadline deadline) {
    RunEvent.RunStarted started =
        new RunEvent.RunStarted(
            "a",
            "1",
            Map.of(),
            Optional.of("key-" + run.runId()),
            List.of(Message.user("Hello.")),
            10,
            List.of(Target.of("p", "m")),
            Map.of());
    Claim claim = store.create(new NewRun(run, NOON, started), deadline);
    return assertInstanceOf(Claim.Won.class, claim).owner();
  }

  static Append append(RunKey run, long expected, Writer writer) {
    return new Append(
        run,
        expected,
        writer,
        NOON.plusNanos(expected),
        List.of(new RunEvent.StepStarted((int) expected, 1), new RunEvent.StepStarted(-1, 1)),
        Standing.of(RunStatus.RUNNING));
  }

  /** Appends from another thread. */
  final Future<?> submit(Append append, Deadline deadline) {
    return callers.submit(() -> store.append(append, deadline));
  }

  /** Waits until a submitted call stands in the queue or waits for room in it. */
  final void awaitQueued(int operations) {
    while (store.queued() < operations) {
      Thread.onSpinWait();
    }
  }

  final void assertContiguous(RunKey run, int events) {
    assertEquals(
        LongStream.rangeClosed(1, events).boxed().toList(),
        store.load(run, 1, soon()).stream().map(LoggedEvent::sequence).toList());
    RunSummary summary =
        store.list(RunQuery.builder(run.scope()).limit(1000).build(), soon()).stream()
            .filter(listed -> listed.run().equals(run))
            .findFirst()
            .orElseThrow();
    assertEquals(events, summary.sequence());
  }

  @Test
  @Tag("A113")
  @Tag("A118")
  void a_refused_append_among_fifty_good_ones_is_refused_alone_in_their_commit() throws Exception {
    List<Writer> owners = new ArrayList<>();
    for (int n = 0; n < 51; n++) {
      owners.add(create(run(n)));
    }
    List<Future<?>> appends = new ArrayList<>();
    int before;
    Gate.Stop stop = gate.stopAt(Boundary.BEFORE_STATEMENT);
    Future<Writer> first = callers.submit(() -> create(run(1000)));
    stop.awaitReached();
    before = gate.commits();
    for (int n = 0; n < 51; n++) {
      appends.add(submit(append(run(n), n == 25 ? 7 : 1, owners.get(n)), soon()));
    }
    awaitQueued(51);
    stop.open();
    first.get();

    for (int n = 0; n < 51; n++) {
      if (n == 25) {
        ExecutionException refused = assertThrows(ExecutionException.class, appends.get(n)::get);
        assertInstanceOf(ConflictException.class, refused.getCause());
      } else {
        appends.get(n).get();
      }
      assertContiguous(run(n), n == 25 ? 1 : 3);
    }
    assertEquals(before + 2, gate.commits());
  }

  /**
   * Holds the journal, queues calls in their order, and lets them go into one commit; returns the
   * number that it has.
   */
  private int inOneCommit(List<Runnable> calls) throws Exception {
    Gate.Stop stop = gate.stopAt(Boundary.BEFORE_STATEMENT);
    Future<Writer> first = callers.submit(() -> create(run(1000)));
    stop.awaitReached();
    int before = gate.commits();
    for (int n = 0; n < calls.size(); n++) {
      calls.get(n).run();
      awaitQueued(n + 1);
    }
    stop.open();
    first.get();
    return before + 2;
  }

  private static void assertRefused(Class<? extends Exception> as, Future<?> call) {
    ExecutionException refused = assertThrows(ExecutionException.class, call::get);
    assertInstanceOf(as, refused.getCause());
  }

  @Test
  @Tag("A118")
  void appends_of_one_owner_to_one_run_take_place_in_their_order_in_one_commit() throws Exception {
    RunKey run = run(1);
    Writer owner = create(run);
    List<Future<?>> appends = new ArrayList<>();

    int commit =
        inOneCommit(
            LongStream.of(1, 3, 3, 5)
                .<Runnable>mapToObj(
                    expected -> () -> appends.add(submit(append(run, expected, owner), soon())))
                .toList());

    appends.get(0).get();
    appends.get(1).get();
    assertRefused(ConflictException.class, appends.get(2));
    appends.get(3).get();
    assertEquals(commit, gate.commits());
    assertContiguous(run, 7);
  }

  @Test
  @Tag("A122")
  void an_append_after_a_release_in_the_same_commit_is_refused() throws Exception {
    RunKey run = run(1);
    RunKey other = run(2);
    Writer owner = create(run);
    Writer owner2 = create(other);
    List<Future<?>> appends = new ArrayList<>();

    int commit =
        inOneCommit(
            List.of(
                () -> store.release(run, owner),
                () -> appends.add(submit(append(run, 1, owner), soon())),
                () -> appends.add(submit(append(other, 1, owner2), soon())),
                () -> store.release(other, owner2)));

    assertRefused(ConflictException.class, appends.get(0));
    appends.get(1).get();
    assertEquals(commit, gate.commits());
    assertContiguous(run, 1);
    assertContiguous(other, 3);
    assertTrue(store.acquire(run, soon()).isPresent());
    assertTrue(store.acquire(other, soon()).isPresent());
  }

  @Test
  @Tag("A3")
  @Tag("A118")
  void an_owner_that_meets_a_control_event_in_the_same_commit_is_refused_whole() throws Exception {
    RunKey run = run(1);
    RunKey other = run(2);
    Writer owner = create(run);
    Writer owner2 = create(other);
    List<Future<?>> appends = new ArrayList<>();

    int commit =
        inOneCommit(
            List.of(
                () -> appends.add(submit(append(other, 1, owner2), soon())),
                () -> appends.add(submit(append(run, 1, Writer.outside("ann")), soon())),
                () -> appends.add(submit(append(run, 1, owner), soon()))));

    appends.get(0).get();
    appends.get(1).get();
    assertRefused(ConflictException.class, appends.get(2));
    assertEquals(commit, gate.commits());
    assertContiguous(run, 3);
    assertContiguous(other, 3);
  }

  @Test
  @Tag("A118")
  void an_append_whose_time_is_before_the_last_event_is_refused_alone() throws Exception {
    List<Writer> owners = List.of(create(run(0)), create(run(1)), create(run(2)));
    for (int n = 0; n < 3; n++) {
      store.append(append(run(n), 1, owners.get(n)), soon());
    }
    Append early = append(run(1), 3, owners.get(1));
    Append back =
        new Append(
            early.run(), 3, early.writer(), NOON, early.events(), Standing.of(RunStatus.RUNNING));
    List<Future<?>> appends = new ArrayList<>();

    int commit =
        inOneCommit(
            List.of(
                () -> appends.add(submit(append(run(0), 3, owners.get(0)), soon())),
                () -> appends.add(submit(back, soon())),
                () -> appends.add(submit(append(run(2), 3, owners.get(2)), soon()))));

    appends.get(0).get();
    assertRefused(InvalidRequestException.class, appends.get(1));
    appends.get(2).get();
    assertEquals(commit, gate.commits());
    assertContiguous(run(1), 3);
    assertContiguous(run(2), 5);
  }

  private RunSummary summary(RunKey run) {
    return store.list(RunQuery.all(run.scope()), soon()).stream()
        .filter(listed -> listed.run().equals(run))
        .findFirst()
        .orElseThrow();
  }

  @Test
  @Tag("A151")
  void progress_forgets_claims_and_problem_and_sets_where_the_run_stands() {
    RunKey run = run(1);
    store.release(run, create(run));
    for (int n = 1; n <= 2; n++) {
      Writer owner = store.acquire(run, soon()).orElseThrow();
      store.append(
          new Append(
              run,
              n,
              owner,
              NOON,
              List.of(new RunEvent.RunResumed("x")),
              Standing.due(RunStatus.RUNNING, NOON)),
          soon());
      store.release(run, owner, Optional.of("broken"));
    }
    Writer owner = store.acquire(run, soon()).orElseThrow();
    assertEquals(3, summary(run).claims());
    assertEquals(Optional.of("broken"), summary(run).problem());
    Append progress = append(run, 3, owner);
    Standing standing = Standing.due(RunStatus.CANCEL_REQUESTED, NOON.plusSeconds(9));

    store.append(new Append(run, 3, owner, progress.time(), progress.events(), standing), soon());

    RunSummary after = summary(run);
    assertEquals(0, after.claims());
    assertEquals(Optional.empty(), after.problem());
    assertEquals(standing, after.standing());
    assertEquals(progress.time(), after.updated());
    assertEquals(5, after.sequence());
  }

  @ParameterizedTest
  @EnumSource(
      value = Boundary.class,
      names = {"BEFORE_STATEMENT", "BEFORE_COMMIT", "AFTER_COMMIT", "BEFORE_ACKNOWLEDGEMENT"})
  @Tag("A121")
  void when_the_database_fails_at_a_boundary_everything_takes_place_once(Boundary boundary)
      throws Exception {
    List<Writer> owners = new ArrayList<>();
    for (int n = 0; n < 20; n++) {
      owners.add(create(run(n)));
    }
    Writer handedBack = create(run(50));
    store.release(run(50), handedBack);
    assertTrue(store.awaitRelease(run(50), soon()));
    List<Future<?>> appends = new ArrayList<>();
    Future<Writer> created;
    Future<Writer> claimed;
    Future<Optional<Writer>> acquired;
    Gate.Stop stop = gate.stopAt(Boundary.AFTER_ACKNOWLEDGEMENT);
    Future<Writer> first = callers.submit(() -> create(run(1000)));
    stop.awaitReached();
    for (int n = 0; n < 20; n++) {
      appends.add(submit(append(run(n), n == 7 ? 9 : 1, owners.get(n)), soon()));
    }
    created = callers.submit(() -> create(run(100)));
    claimed = callers.submit(() -> create(run(101)));
    acquired = callers.submit(() -> store.acquire(run(50), soon()));
    awaitQueued(23);
    store.release(run(8), owners.get(8));
    gate.failAt(boundary, 1);
    stop.open();
    first.get();

    for (int n = 0; n < 20; n++) {
      if (n == 7) {
        ExecutionException refused = assertThrows(ExecutionException.class, appends.get(n)::get);
        assertInstanceOf(ConflictException.class, refused.getCause());
      } else {
        appends.get(n).get();
      }
      assertContiguous(run(n), n == 7 ? 1 : 3);
    }
    assertContiguous(run(100), 1);
    assertContiguous(run(101), 1);
    assertEquals(0, gate.failuresLeft());
    store.append(append(run(100), 1, created.get()), soon());
    store.append(append(run(101), 1, claimed.get()), soon());
    store.append(append(run(50), 1, acquired.get().orElseThrow()), soon());
    assertTrue(store.awaitRelease(run(8), soon()));
  }

  @ParameterizedTest
  @EnumSource(
      value = Boundary.class,
      names = {"BEFORE_STATEMENT", "BEFORE_COMMIT", "AFTER_COMMIT", "BEFORE_ACKNOWLEDGEMENT"})
  @Tag("A121")
  @Tag("A149")
  void a_log_is_taken_in_once_when_the_database_fails_at_a_boundary(Boundary boundary) {
    Writer owner = create(run(1));
    store.append(append(run(1), 1, owner), soon());
    List<LoggedEvent> log =
        store.load(run(1), 1, soon()).stream()
            .map(
                logged ->
                    new LoggedEvent(
                        new RunKey(RunScope.of("other"), "copy"),
                        logged.sequence(),
                        logged.writer(),
                        logged.time(),
                        logged.event()))
            .toList();
    gate.failAt(boundary, 1);

    store.adopt(log, Standing.of(RunStatus.FAILED), soon());

    assertEquals(log, store.load(log.getFirst().run(), 1, soon()));
    assertContiguous(log.getFirst().run(), 3);
  }

  @Test
  @Tag("A121")
  void a_database_that_goes_on_failing_is_reported_and_recovers() {
    RunKey run = run(1);
    Writer owner = create(run);
    gate.failAt(Boundary.BEFORE_STATEMENT, 2);

    StoreException failure =
        assertThrows(StoreException.class, () -> store.append(append(run, 1, owner), soon()));

    assertTrue(failure.getMessage().contains("nothing was written"), failure.getMessage());
    assertTrue(failure.retryable());
    assertContiguous(run, 1);
    store.append(append(run, 1, owner), soon());
    assertContiguous(run, 3);
  }

  @Test
  void a_release_that_the_database_fails_is_repeated_with_the_next_commit() {
    RunKey run = run(1);
    Writer owner = create(run);
    gate.failAt(Boundary.BEFORE_STATEMENT, 2);
    store.release(run, owner);
    while (gate.failuresLeft() > 0) {
      Thread.onSpinWait();
    }

    assertTrue(store.acquire(run, soon()).isPresent());
  }

  @Test
  void a_release_that_the_database_fails_is_repeated_by_an_idle_store() throws Exception {
    RunKey run = run(1);
    Writer owner = create(run);
    gate.failAt(Boundary.BEFORE_STATEMENT, 2);
    store.release(run, owner);

    assertTrue(store.awaitRelease(run, soon()));

    assertEquals(0, gate.failuresLeft());
  }

  @Test
  void a_failed_release_keeps_no_store_from_closing() {
    RunKey run = run(1);
    Writer owner = create(run);
    gate.failAt(Boundary.BEFORE_STATEMENT, Integer.MAX_VALUE);
    store.release(run, owner);

    store.close();
  }

  @Test
  @Tag("A121")
  void an_append_that_is_under_way_at_the_deadline_is_of_unknown_fate_and_settles_later()
      throws Exception {
    ManualTime time = new ManualTime();
    reopen(time, Duration.ZERO);
    RunKey run = run(1);
    Writer owner = create(run);
    Gate.Stop stop = gate.stopAt(Boundary.BEFORE_COMMIT);
    Deadline deadline = Deadline.after(time, Duration.ofSeconds(1));
    Future<?> append = submit(append(run, 1, owner), deadline);
    stop.awaitReached();
    time.advance(Duration.ofSeconds(1));

    ExecutionException failure = assertThrows(ExecutionException.class, append::get);

    StoreException unknown = assertInstanceOf(StoreException.class, failure.getCause());
    assertTrue(unknown.getMessage().contains("unknown"), unknown.getMessage());
    assertTrue(unknown.getMessage().contains("resumed"), unknown.getMessage());
    stop.open();
    store.append(append(run, 3, owner), soon());
    assertContiguous(run, 5);
  }

  @Test
  @Tag("A121")
  void an_append_that_nobody_began_until_the_deadline_is_withdrawn() throws Exception {
    reopen(10_000, SHORT);
    RunKey first = run(1);
    RunKey second = run(2);
    Writer one = create(first);
    Writer two = create(second);
    Gate.Stop stop = gate.stopAt(Boundary.BEFORE_COMMIT);
    Future<?> held = submit(append(first, 1, one), soon());
    stop.awaitReached();

    StoreException late =
        assertThrows(StoreException.class, () -> store.append(append(second, 1, two), passed()));

    assertTrue(late.getMessage().contains("nothing was written"), late.getMessage());
    stop.open();
    held.get();
    store.append(append(second, 1, two), soon());
    assertContiguous(second, 3);
  }

  private static void assertUnknown(Future<?> call) {
    ExecutionException failure = assertThrows(ExecutionException.class, call::get);
    StoreException unknown = assertInstanceOf(StoreException.class, failure.getCause());
    assertTrue(unknown.getMessage().contains("unknown"), unknown.getMessage());
  }

  @ParameterizedTest
  @EnumSource(
      value = Boundary.class,
      names = {"BEFORE_STATEMENT", "BEFORE_COMMIT", "AFTER_COMMIT", "BEFORE_ACKNOWLEDGEMENT"})
  @Tag("A121")
  void a_run_that_is_created_after_its_caller_left_can_be_acquired_and_driven(Boundary boundary)
      throws Exception {
    ManualTime time = new ManualTime();
    reopen(time, Duration.ZERO);
    RunKey run = run(1);
    Gate.Stop stop = gate.stopAt(boundary);
    Deadline deadline = Deadline.after(time, Duration.ofSeconds(1));
    Future<Writer> gone = callers.submit(() -> create(run, deadline));
    stop.awaitReached();
    time.advance(Duration.ofSeconds(1));
    assertUnknown(gone);

    Future<Optional<Writer>> next = callers.submit(() -> store.acquire(run, soon()));
    awaitQueued(1);
    stop.open();

    Writer owner = next.get().orElseThrow();
    assertEquals(Optional.of(run), store.find(run.scope(), "key-r1", soon()));
    assertInstanceOf(RunEvent.RunStarted.class, store.load(run, 1, soon()).getFirst().event());
    store.append(append(run, 1, owner), soon());
    assertContiguous(run, 3);
  }

  @ParameterizedTest
  @EnumSource(
      value = Boundary.class,
      names = {"BEFORE_STATEMENT", "BEFORE_COMMIT", "AFTER_COMMIT", "BEFORE_ACKNOWLEDGEMENT"})
  @Tag("A121")
  void a_run_that_is_acquired_after_its_caller_left_is_handed_back(Boundary boundary)
      throws Exception {
    ManualTime time = new ManualTime();
    reopen(time, Duration.ZERO);
    RunKey run = run(1);
    store.release(run, create(run));
    assertTrue(store.awaitRelease(run, soon()));
    Gate.Stop stop = gate.stopAt(boundary);
    Deadline deadline = Deadline.after(time, Duration.ofSeconds(1));
    Future<Optional<Writer>> gone = callers.submit(() -> store.acquire(run, deadline));
    stop.awaitReached();
    time.advance(Duration.ofSeconds(1));
    assertUnknown(gone);
    Gate.Stop told = gate.stopAt(Boundary.AFTER_ACKNOWLEDGEMENT);
    stop.open();
    told.awaitReached(); // the run has its owner, whom nobody holds
    Future<Boolean> released = callers.submit(() -> store.awaitRelease(run, soon()));
    assertEquals(1, store.queued());

    told.open();

    assertTrue(released.get());
    store.append(append(run, 1, store.acquire(run, soon()).orElseThrow()), soon());
    assertContiguous(run, 3);
  }

  @Test
  @Tag("A121")
  void an_ownership_that_the_store_cannot_look_up_is_handed_back() throws Exception {
    String url = reopen(TimeSource.system(), Duration.ofSeconds(30));
    RunKey run = run(1);
    gate.failAt(Boundary.AFTER_COMMIT, 1);
    Gate.Stop stop = gate.stopAt(Boundary.AFTER_COMMIT);
    Future<Writer> created = callers.submit(() -> create(run));
    stop.awaitReached();
    try (Connection other = Databases.connect(url);
        Statement statement = other.createStatement()) {
      statement.execute("ALTER TABLE ww_run RENAME TO ww_hidden");
      stop.open();
      assertUnknown(created);
      statement.execute("ALTER TABLE ww_hidden RENAME TO ww_run");
    }

    Writer owner = store.acquire(run, soon()).orElseThrow();

    store.append(append(run, 1, owner), soon());
    assertContiguous(run, 3);
  }

  @Test
  void at_the_bound_of_the_queue_new_calls_wait_until_their_deadline() throws Exception {
    reopen(4, Duration.ofSeconds(30));
    List<Writer> owners = new ArrayList<>();
    for (int n = 0; n < 5; n++) {
      owners.add(create(run(n)));
    }
    List<Future<?>> accepted = new ArrayList<>();
    Gate.Stop stop = gate.stopAt(Boundary.BEFORE_STATEMENT);
    accepted.add(submit(append(run(0), 1, owners.get(0)), soon()));
    stop.awaitReached();
    accepted.add(submit(append(run(1), 1, owners.get(1)), soon()));
    accepted.add(submit(append(run(2), 1, owners.get(2)), soon()));
    awaitQueued(2);

    StoreException full =
        assertThrows(
            StoreException.class, () -> store.append(append(run(3), 1, owners.get(3)), passed()));
    assertTrue(full.getMessage().contains("4 events"), full.getMessage());

    accepted.add(submit(append(run(4), 1, owners.get(4)), soon()));
    store.release(run(3), owners.get(3)); // gives back, so it never waits
    stop.open();
    for (Future<?> append : accepted) {
      append.get();
    }
    assertContiguous(run(4), 3);
    assertContiguous(run(3), 1);
    assertTrue(store.awaitRelease(run(3), soon()));
  }

  @Test
  void an_append_larger_than_the_bound_is_let_in_when_nothing_else_waits() throws Exception {
    reopen(1, Duration.ofSeconds(30));
    RunKey run = run(1);
    Writer owner = create(run);

    store.append(append(run, 1, owner), soon());

    assertContiguous(run, 3);
  }

  @Test
  void closing_finishes_what_was_accepted() throws Exception {
    List<Writer> owners = new ArrayList<>();
    for (int n = 0; n < 10; n++) {
      owners.add(create(run(n)));
    }
    List<Future<?>> appends = new ArrayList<>();
    Future<?> closing;
    Gate.Stop stop = gate.stopAt(Boundary.BEFORE_STATEMENT);
    Future<Writer> first = callers.submit(() -> create(run(1000)));
    stop.awaitReached();
    for (int n = 0; n < 10; n++) {
      appends.add(submit(append(run(n), 1, owners.get(n)), soon()));
    }
    awaitQueued(10);
    closing = callers.submit(store::close);
    while (!store.isClosing()) {
      Thread.onSpinWait();
    }
    assertThrows(
        IllegalStateException.class, () -> store.append(append(run(1), 3, owners.get(1)), soon()));
    assertFalse(closing.isDone());
    stop.open();
    first.get();
    closing.get();
    for (Future<?> append : appends) {
      append.get();
    }
  }

  @Test
  void a_reader_does_not_show_what_is_committed_but_not_durable() throws Exception {
    reopen(10_000, SHORT);
    RunKey run = run(1);
    Writer owner = create(run);
    Gate.Stop stop = gate.stopAt(Boundary.AFTER_COMMIT);
    Future<?> append = submit(append(run, 1, owner), soon());
    stop.awaitReached();

    assertThrows(StoreException.class, () -> store.load(run, 1, passed()));
    Future<List<LoggedEvent>> load = callers.submit(() -> store.load(run, 1, soon()));
    assertFalse(load.isDone());

    stop.open();
    append.get();
    assertEquals(3, load.get().size());
  }
}
