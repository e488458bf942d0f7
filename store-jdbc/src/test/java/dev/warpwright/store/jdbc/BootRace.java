package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.flywaydb.core.Flyway;

/**
 * Processes that boot at the same time on an empty database, or on one of an older version: all
 * come up, and each can write.
 *
 * <p>As a program: the URL and a number; opens the store when it gets the lock that the parent
 * holds until all are there, and creates a run.
 */
final class BootRace {
  private static final int PROCESSES = 8;
  private static final int LOCK = 4711;

  private BootRace() {}

  public static void main(String[] arguments) throws SQLException {
    String url = arguments[0];
    Databases.execute(url, "SELECT 1 FROM pg_advisory_lock_shared(" + LOCK + ")"); // and let go
    try (JdbcRunStore store = Databases.builder(url).owner("p" + arguments[1]).open()) {
      var _ = Appends.create(store, new RunKey(RunScope.DEFAULT, "r" + arguments[1]));
    }
    System.out.println("open");
  }

  /** A database of each kind, in turn. */
  static void race(Ordeal ordeal) throws Exception {
    while (ordeal.nextRound()) {
      String url = PostgresServer.get().empty();
      boolean old = ordeal.round() % 2 == 0;
      if (old) {
        makeOld(url);
      }
      race(ordeal, url, old ? "an old schema, " : "no schema, ");
    }
  }

  private static void race(Ordeal ordeal, String url, String what) throws Exception {
    List<ChildJvm> children = new ArrayList<>();
    try (Connection connection = Databases.connect(url);
        Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_advisory_lock(" + LOCK + ")");
      for (int n = 0; n < PROCESSES; n++) {
        children.add(ChildJvm.start(BootRace.class, url, String.valueOf(n)));
      }
      while (waiting(url) < PROCESSES) {
        Pause.millis(10);
      }
      statement.execute("SELECT pg_advisory_unlock(" + LOCK + ")");
      for (ChildJvm child : children) {
        assertEquals("open", child.readLine(), () -> what + ordeal.here());
        ordeal.blow();
      }
    } finally {
      for (ChildJvm child : children) {
        child.close();
      }
    }
    long runs = Databases.execute(url, "SELECT COUNT(*) FROM ww_run WHERE run_id LIKE 'r%'");
    assertEquals(PROCESSES, runs, () -> what + ordeal.here());
    ordeal.acknowledged(runs);
  }

  private static long waiting(String url) throws SQLException {
    return Databases.execute(
        url,
        "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            + " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())");
  }

  /** The tables of the first version, and a run of it. */
  private static void makeOld(String url) throws SQLException, IOException {
    Flyway.configure(JdbcRunStore.class.getClassLoader())
        .dataSource(PostgresServer.source(url))
        .locations("classpath:META-INF/warpwright/postgresql")
        .table("ww_schema_history")
        .baselineOnMigrate(true)
        .baselineVersion("0")
        .target("1")
        .load()
        .migrate();
    assertTrue(Databases.execute(url, "SELECT COUNT(*) FROM ww_run") == 0);
  }
}
