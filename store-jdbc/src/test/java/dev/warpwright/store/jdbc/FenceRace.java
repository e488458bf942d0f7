package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.Writer;
import dev.warpwright.store.jdbc.CommitHook.Boundary;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;

/** An append that is under way while another process takes the name, and reads the log. */
final class FenceRace {
  private FenceRace() {}

  /** A data source by which the store's appends do not take the lock of the fence. */
  static DataSource unfenced(String url) {
    return Interposed.rewriting(
        PostgresServer.source(url), sql -> sql.replace(" FOR KEY SHARE", ""));
  }

  /**
   * Holds an append of a first store just before its commit, opens a second one under its name and
   * reads the log there; returns how long the log was then and how long it is in the end.
   */
  static List<Integer> run(String url, DataSource source, RunKey run) throws Exception {
    Gate gate = new Gate();
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
        JdbcRunStore first = JdbcRunStore.builder(source).owner("same").commitHook(gate).open()) {
      Writer owner = Appends.create(first, run);
      Gate.Stop stop = gate.stopAt(Boundary.BEFORE_COMMIT);
      Future<?> late = callers.submit(() -> Appends.two(first, run, 1, owner));
      stop.awaitReached();
      Future<Integer> read = callers.submit(() -> openAndRead(source, run));
      while (!read.isDone() && !isWaiting(url)) {
        Thread.onSpinWait();
      }
      stop.open();
      late.get();
      return List.of(read.get(), length(first, run));
    }
  }

  private static int openAndRead(DataSource source, RunKey run) {
    try (JdbcRunStore second = JdbcRunStore.builder(source).owner("same").open()) {
      return length(second, run);
    }
  }

  private static int length(JdbcRunStore store, RunKey run) {
    return store.load(run, 1, Acknowledged.soon()).size();
  }

  /** Whether a backend of the database waits for a lock. */
  private static boolean isWaiting(String url) throws SQLException {
    return Databases.execute(
            url,
            "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()"
                + " AND wait_event_type = 'Lock'")
        > 0;
  }

  /** Again and again, and the control each time. */
  static void race(Ordeal ordeal, String url) throws Exception {
    while (ordeal.nextRound()) {
      RunKey fenced = new RunKey(RunScope.DEFAULT, "fenced-" + ordeal.round());
      assertEquals(List.of(3, 3), run(url, PostgresServer.source(url), fenced), ordeal.here());
      RunKey control = new RunKey(RunScope.DEFAULT, "control-" + ordeal.round());
      assertEquals(List.of(1, 3), run(url, unfenced(url), control), "the control must be late");
      ordeal.blow();
      ordeal.acknowledged(6);
    }
    ordeal.remark(ordeal.round() + " late without the lock");
  }
}
