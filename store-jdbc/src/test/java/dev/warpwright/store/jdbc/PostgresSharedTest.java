package dev.warpwright.store.jdbc;

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
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore.Claim;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import dev.warpwright.store.jdbc.CommitHook.Boundary;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
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
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several stores on one PostgreSQL: who owns, who is fenced, and who wins a race. */
@NeedsPostgres
@Timeout(120)
final class PostgresSharedTest {
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "r1");

  private final Gate gate = new Gate();
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
    callers.close();
    stores.forEach(JdbcRunStore::close);
    Databases.assertNoThreadLeft();
  }

  private static Deadline soon() {
    return Deadline.after(TimeSource.system(), Duration.ofSeconds(30));
  }

  private JdbcRunStore open(String name) {
    return open(PostgresServer.source(url), name, CommitHook.NONE);
  }

  private JdbcRunStore open(DataSource source, String name, CommitHook hook) {
    JdbcRunStore store = JdbcRunStore.builder(source).owner(name).commitHook(hook).open();
    stores.add(store);
    return store;
  }

  private static RunKey run(int number) {
    return new RunKey(RunScope.DEFAULT, "r" + number);
  }

  private static Claim claim(JdbcRunStore store, RunKey run, Optional<String> key) {
    RunEvent.RunStarted started =
        new RunEvent.RunStarted("a", "1", Map.of(), key, List.of(), 1, List.of(), Map.of());
    return store.create(new NewRun(run, NOON, started), soon());
  }

  private static Writer create(JdbcRunStore store, RunKey run) {
    return assertInstanceOf(Claim.Won.class, claim(store, run, Optional.empty())).owner();
  }

  private static Append append(RunKey run, long expected, Writer writer) {
    return new Append(
        run,
        expected,
        writer,
        NOON,
        List.of(new RunEvent.RunResumed("x"), new RunEvent.RunResumed(writer.name())),
        Standing.of(RunStatus.RUNNING));
  }

  private static int length(JdbcRunStore store, RunKey run) {
    return store.load(run, 1, soon()).size();
  }

  @Test
  @Tag("A122")
  @Tag("A126")
  void a_run_of_an_open_store_is_owned_for_all_and_takes_control_events_from_any() {
    JdbcRunStore first = open("first");
    JdbcRunStore second = open("second");
    Writer owner = create(first, RUN);

    assertEquals(Optional.empty(), second.acquire(RUN, soon()));
    assertThrows(ConflictException.class, () -> second.append(append(RUN, 1, owner), soon()));
    second.release(RUN, new Writer(owner.name() + "0", owner.epoch()));
    second.append(append(RUN, 1, Writer.outside("ann")), soon());

    assertThrows(ConflictException.class, () -> first.append(append(RUN, 1, owner), soon()));
    first.append(append(RUN, 3, owner), soon());
    assertEquals(5, length(second, RUN));
  }

  @Test
  @Tag("A122")
  void a_store_that_closes_leaves_its_runs_to_the_others() throws Exception {
    JdbcRunStore first = open("first");
    JdbcRunStore second = open("second");
    Writer before = create(first, RUN);
    first.close();

    assertTrue(second.awaitRelease(RUN, soon()));
    Writer after = second.acquire(RUN, soon()).orElseThrow();
    assertThrows(ConflictException.class, () -> second.append(append(RUN, 1, before), soon()));
    second.append(append(RUN, 1, after), soon());
  }

  @Test
  @Tag("A123")
  @Tag("A124")
  void opening_under_a_name_again_fences_who_had_it_and_frees_its_runs() {
    JdbcRunStore first = open("same");
    JdbcRunStore other = open("other");
    Writer before = create(first, RUN);
    JdbcRunStore second = open("same");

    ConflictException fenced =
        assertThrows(ConflictException.class, () -> first.append(append(RUN, 1, before), soon()));
    assertTrue(fenced.getMessage().contains("owner(name)"), fenced.getMessage());
    assertThrows(ConflictException.class, () -> create(first, run(2)));
    assertThrows(ConflictException.class, () -> second.append(append(RUN, 1, before), soon()));
    Writer after = other.acquire(RUN, soon()).orElseThrow();
    first.release(RUN, before);
    first.close(); // leaves the epoch of the second alone
    assertEquals(Optional.empty(), second.acquire(RUN, soon()));
    other.append(append(RUN, 1, after), soon());
    second.append(append(run(3), 1, create(second, run(3))), soon());
  }

  @Test
  @Tag("A123")
  void nothing_of_an_epoch_comes_to_the_log_after_the_next_one_has_read_it() throws Exception {
    assertEquals(List.of(3, 3), FenceRace.run(url, PostgresServer.source(url), RUN));
  }

  /** The control of the test above: it must be the lock that makes the difference. */
  @Test
  void without_the_lock_of_the_fence_an_event_of_the_old_epoch_comes_late() throws Exception {
    assertEquals(List.of(1, 3), FenceRace.run(url, FenceRace.unfenced(url), RUN));
  }

  /** Runs all at once; returns their results in order. */
  private <T> List<T> together(List<Callable<T>> calls) throws Exception {
    CyclicBarrier barrier = new CyclicBarrier(calls.size());
    List<Future<T>> futures = new ArrayList<>();
    for (Callable<T> call : calls) {
      futures.add(
          callers.submit(
              () -> {
                barrier.await();
                return call.call();
              }));
    }
    List<T> results = new ArrayList<>();
    for (Future<T> future : futures) {
      results.add(future.get());
    }
    return results;
  }

  @Test
  @Tag("A104")
  @Tag("A113")
  void of_stores_that_claim_the_same_keys_in_another_order_one_wins_each() throws Exception {
    List<JdbcRunStore> open = List.of(open("first"), open("second"), open("third"));
    List<Callable<Claim>> claims = new ArrayList<>();
    for (int n = 0; n < 60; n++) {
      int id = n;
      JdbcRunStore store = open.get(n % 3);
      // Run ids and keys in opposite orders, so that inserts wait for each other.
      String key = "key-" + (n % 3 == 1 ? 19 - n / 3 : n / 3);
      claims.add(() -> claim(store, run(id), Optional.of(key)));
    }

    List<Claim> results = together(claims);

    assertEquals(20, results.stream().filter(Claim.Won.class::isInstance).count());
    Set<RunKey> winners = new HashSet<>();
    for (int n = 0; n < 60; n++) {
      switch (results.get(n)) {
        case Claim.Won won -> winners.add(run(n));
        case Claim.Taken(RunKey run) -> assertEquals(1, length(open.getFirst(), run));
      }
    }
    assertEquals(
        winners,
        new HashSet<>(
            open.getFirst().list(RunQuery.all(RunScope.DEFAULT), soon()).stream()
                .map(summary -> summary.run())
                .toList()));
  }

  @Test
  @Tag("A3")
  @Tag("A118")
  void of_stores_that_append_at_the_same_sequences_one_wins_each_as_a_whole() throws Exception {
    JdbcRunStore first = open("first");
    JdbcRunStore second = open("second");
    int runs = 12;
    for (int n = 0; n < runs; n++) {
      create(first, run(n));
    }
    for (int round = 0; round < 10; round++) {
      long expected = 1 + 2L * round;
      List<Callable<Boolean>> appends = new ArrayList<>();
      for (int n = 0; n < 2 * runs; n++) {
        int number = n % 2 == 0 ? n / 2 : runs - 1 - n / 2;
        JdbcRunStore store = n % 2 == 0 ? first : second;
        Writer writer = Writer.outside("writer-" + n % 2);
        appends.add(
            () -> {
              try {
                store.append(append(run(number), expected, writer), soon());
                return true;
              } catch (ConflictException e) {
                return false;
              }
            });
      }
      assertEquals(runs, together(appends).stream().filter(won -> won).count());
    }
    for (int n = 0; n < runs; n++) {
      List<LoggedEvent> log = second.load(run(n), 1, soon());
      assertEquals(
          LongStream.rangeClosed(1, 21).boxed().toList(),
          log.stream().map(LoggedEvent::sequence).toList());
      for (int at = 1; at < 21; at += 2) {
        assertEquals(log.get(at).writer(), log.get(at + 1).writer());
      }
    }
  }

  @Test
  @Tag("A3")
  @Tag("A118")
  @Tag("A126")
  void of_an_owner_and_another_store_at_the_same_sequence_one_wins_as_a_whole() throws Exception {
    JdbcRunStore first = open("first");
    JdbcRunStore second = open("second");
    int runs = 12;
    List<Writer> owners = new ArrayList<>();
    for (int n = 0; n < runs; n++) {
      owners.add(create(n % 2 == 0 ? first : second, run(n)));
    }
    for (int round = 0; round < 10; round++) {
      long expected = 1 + 2L * round;
      List<Callable<Boolean>> appends = new ArrayList<>();
      for (int n = 0; n < runs; n++) {
        JdbcRunStore owning = n % 2 == 0 ? first : second;
        JdbcRunStore other = n % 2 == 0 ? second : first;
        Append byOwner = step(run(n), expected, owners.get(n));
        Append byOther = step(run(n), expected, Writer.outside("ann"));
        appends.add(() -> isAppended(owning, byOwner));
        appends.add(() -> isAppended(other, byOther));
      }
      assertEquals(runs, together(appends).stream().filter(won -> won).count());
    }
    for (int n = 0; n < runs; n++) {
      List<LoggedEvent> log = second.load(run(n), 1, soon());
      assertEquals(
          LongStream.rangeClosed(1, 21).boxed().toList(),
          log.stream().map(LoggedEvent::sequence).toList());
      for (int at = 1; at < 21; at += 2) {
        assertEquals(log.get(at).writer(), log.get(at + 1).writer());
      }
    }
  }

  private static Append step(RunKey run, long expected, Writer writer) {
    return new Append(
        run,
        expected,
        writer,
        NOON,
        List.of(new RunEvent.StepStarted(1, 1), new RunEvent.StepStarted(2, 1)),
        Standing.due(RunStatus.RUNNING, NOON.plusNanos(expected)));
  }

  private static boolean isAppended(JdbcRunStore store, Append append) {
    try {
      store.append(append, soon());
      return true;
    } catch (ConflictException e) {
      return false;
    }
  }

  @Test
  @Tag("A122")
  void of_stores_that_acquire_a_free_run_one_gets_it() throws Exception {
    JdbcRunStore first = open("first");
    JdbcRunStore second = open("second");
    for (int round = 0; round < 20; round++) {
      RunKey run = run(round);
      first.release(run, create(first, run));
      assertTrue(first.awaitRelease(run, soon()));

      List<Optional<Writer>> owners =
          together(
              IntStream.range(0, 4)
                  .<Callable<Optional<Writer>>>mapToObj(
                      n -> () -> (n % 2 == 0 ? first : second).acquire(run, soon()))
                  .toList());

      assertEquals(1, owners.stream().filter(Optional::isPresent).count());
    }
  }

  @Test
  @Tag("A3")
  @Tag("A113")
  @Tag("A118")
  void an_append_that_does_not_come_to_the_log_whole_is_refused_alone_in_its_commit()
      throws Exception {
    JdbcRunStore store = open(PostgresServer.source(url), "store", gate);
    List<Writer> owners = new ArrayList<>();
    for (int n = 0; n < 10; n++) {
      owners.add(create(store, run(n)));
    }
    PostgresServer.execute(
        url,
        "INSERT INTO ww_event SELECT run, 2, 0, type, version, writer, epoch, time_nanos, codec,"
            + " body FROM ww_event WHERE run = (SELECT id FROM ww_run WHERE run_id = 'r5')");
    Gate.Stop stop = gate.stopAt(Boundary.BEFORE_STATEMENT);
    Future<Writer> held = callers.submit(() -> create(store, run(100)));
    stop.awaitReached();
    int before = gate.commits();
    List<Future<?>> appends = new ArrayList<>();
    for (int n = 0; n < 10; n++) {
      Append append = append(run(n), 1, owners.get(n));
      appends.add(callers.submit(() -> store.append(append, soon())));
    }
    while (store.queued() < 10) {
      Thread.onSpinWait();
    }
    stop.open();
    held.get();

    for (int n = 0; n < 10; n++) {
      if (n == 5) {
        ExecutionException refused = assertThrows(ExecutionException.class, appends.get(n)::get);
        assertInstanceOf(ConflictException.class, refused.getCause());
      } else {
        appends.get(n).get();
        assertEquals(3, length(store, run(n)));
      }
    }
    assertEquals(before + 2, gate.commits());
    assertEquals(2, length(store, run(5)), "nothing of it was written");
    assertFalse(store.isClosing());
  }
}
