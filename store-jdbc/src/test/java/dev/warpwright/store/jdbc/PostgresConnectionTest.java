package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.StoreException;
import dev.warpwright.run.Append;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore.Claim;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import dev.warpwright.store.jdbc.CommitHook.Boundary;
import dev.warpwright.store.jdbc.CuttingProxy.Cut;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Connections to PostgreSQL that break: every write takes place once, and its caller knows. */
@NeedsPostgres
@Timeout(120)
@Tag("A121")
final class PostgresConnectionTest {
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "r1");
  private static final RunKey OTHER = new RunKey(RunScope.DEFAULT, "r2");

  private static final int KILLS = 20;

  private final AtomicInteger appended = new AtomicInteger(); // and acknowledged
  private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
  private String url;

  @BeforeEach
  void clear() throws SQLException {
    url = PostgresServer.get().cleared();
  }

  @AfterEach
  void nothingIsLeft() {
    callers.close();
    Databases.assertNoThreadLeft();
  }

  private static Deadline soon() {
    return Deadline.after(TimeSource.system(), Duration.ofSeconds(60));
  }

  private static Writer create(JdbcRunStore store, RunKey run) {
    RunEvent.RunStarted started =
        new RunEvent.RunStarted(
            "a", "1", Map.of(), Optional.of(run.runId()), List.of(), 1, List.of(), Map.of());
    Claim claim = store.create(new NewRun(run, NOON, started), soon());
    return assertInstanceOf(Claim.Won.class, claim).owner();
  }

  private static Append append(RunKey run, long expected, Writer writer) {
    return new Append(
        run,
        expected,
        writer,
        NOON,
        List.of(new RunEvent.RunResumed("x"), new RunEvent.RunResumed("y")),
        Standing.of(RunStatus.RUNNING));
  }

  private static List<Long> sequences(JdbcRunStore store, RunKey run) {
    return store.load(run, 1, soon()).stream().map(LoggedEvent::sequence).toList();
  }

  private static List<Long> upTo(long sequence) {
    return LongStream.rangeClosed(1, sequence).boxed().toList();
  }

  /** How many backends wait for a lock of another one. */
  private int waiting() throws SQLException {
    try (Connection connection = Databases.connect(url);
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()"
                    + " AND wait_event_type = 'Lock'")) {
      row.next();
      return row.getInt(1);
    }
  }

  @ParameterizedTest
  @EnumSource(Cut.class)
  @Tag("A3")
  void a_commit_whose_connection_is_cut_takes_place_once(Cut cut) throws Exception {
    PGSimpleDataSource source = PostgresServer.source(url);
    boolean[] armed = {false}; // journal thread, and before its commits
    try (CuttingProxy proxy = new CuttingProxy(source.getServerNames()[0], port(source))) {
      source.setServerNames(new String[] {"127.0.0.1"});
      source.setPortNumbers(new int[] {proxy.port()});
      source.setSslMode("disable");
      CommitHook hook =
          boundary -> {
            if (boundary == Boundary.BEFORE_COMMIT && armed[0]) {
              armed[0] = false;
              proxy.cut(cut);
            }
          };
      try (JdbcRunStore store = JdbcRunStore.builder(source).commitHook(hook).open()) {
        Writer owner = create(store, RUN);

        armed[0] = true;
        Future<?> appended = callers.submit(() -> store.append(append(RUN, 1, owner), soon()));
        deliverLate(proxy, cut);
        appended.get();
        assertTrue(proxy.isCut());
        assertEquals(upTo(3), sequences(store, RUN));

        store.append(append(RUN, 3, owner), soon());
        assertEquals(upTo(5), sequences(store, RUN));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Cut.class)
  void a_run_whose_connection_is_cut_is_created_once_and_its_creator_owns_it(Cut cut)
      throws Exception {
    PGSimpleDataSource source = PostgresServer.source(url);
    boolean[] armed = {true};
    try (CuttingProxy proxy = new CuttingProxy(source.getServerNames()[0], port(source))) {
      source.setServerNames(new String[] {"127.0.0.1"});
      source.setPortNumbers(new int[] {proxy.port()});
      source.setSslMode("disable");
      CommitHook hook =
          boundary -> {
            if (boundary == Boundary.BEFORE_COMMIT && armed[0]) {
              armed[0] = false;
              proxy.cut(cut);
            }
          };
      try (JdbcRunStore store = JdbcRunStore.builder(source).commitHook(hook).open()) {
        Future<Writer> created = callers.submit(() -> create(store, OTHER));
        deliverLate(proxy, cut);

        store.append(append(OTHER, 1, created.get()), soon());

        assertTrue(proxy.isCut());
        assertEquals(upTo(3), sequences(store, OTHER));
      }
    }
  }

  /** What was delayed reaches the server when the store has begun to look for it. */
  private void deliverLate(CuttingProxy proxy, Cut cut) throws SQLException {
    if (cut == Cut.DELAYED_QUESTION) {
      while (waiting() == 0) {
        Thread.onSpinWait();
      }
      proxy.deliver();
    }
  }

  private static int port(PGSimpleDataSource source) {
    int port = source.getPortNumbers()[0];
    return port == 0 ? 5432 : port;
  }

  @Test
  @Tag("A113")
  void backends_that_are_terminated_under_load_lose_and_double_nothing() throws Exception {
    int runs = 8;
    int appends = 100;
    try (JdbcRunStore store = JdbcRunStore.builder(PostgresServer.source(url)).open()) {
      List<Future<Integer>> drivers = new ArrayList<>();
      for (int n = 0; n < runs; n++) {
        RunKey run = new RunKey(RunScope.DEFAULT, "run-" + n);
        drivers.add(callers.submit(() -> drive(store, run, appends)));
      }
      for (int kill = 1; kill <= KILLS; kill++) {
        while (appended.get() < kill * runs * appends / (KILLS + 1)) {
          Thread.onSpinWait();
        }
        PostgresServer.terminateOthers(url);
      }
      int unknown = 0;
      for (int n = 0; n < runs; n++) {
        unknown += drivers.get(n).get();
        RunKey run = new RunKey(RunScope.DEFAULT, "run-" + n);
        assertEquals(upTo(1 + 2L * appends), sequences(store, run));
      }
      assertTrue(unknown <= KILLS * runs, "of unknown fate or not written: " + unknown);
    }
  }

  /** Appends on and on, and reads the log where the store does not know; how often it did not. */
  private int drive(JdbcRunStore store, RunKey run, int appends) {
    int unknown = 0;
    Writer owner = null;
    long head = 0;
    while (head < 1 + 2L * appends) {
      try {
        if (owner == null) {
          owner = head == 0 ? create(store, run) : store.acquire(run, soon()).orElse(null);
        } else {
          store.append(append(run, head, owner), soon());
          appended.incrementAndGet();
        }
      } catch (StoreException e) {
        unknown++;
      }
      head = head(store, run);
    }
    return unknown;
  }

  private static long head(JdbcRunStore store, RunKey run) {
    while (true) {
      try {
        return store.load(run, 1, soon()).size();
      } catch (StoreException e) {
        // Terminated twice; reading again does no harm.
      }
    }
  }
}
