package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.model.Money;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** URLs of fresh databases, and a look at what a store may have left behind. */
final class Databases {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private Databases() {}

  /** A database in memory that lives until the JVM ends. */
  static String inMemory() {
    return "jdbc:h2:mem:store" + NUMBER.incrementAndGet() + ";DB_CLOSE_DELAY=-1";
  }

  static String inFile(Path folder) {
    return "jdbc:h2:async:" + folder.toAbsolutePath() + "/runs";
  }

  /** A store on the database of a URL, under a name that stays the same. */
  static JdbcRunStore.Builder builder(String url) {
    JdbcRunStore.Builder builder =
        isPostgres(url)
            ? JdbcRunStore.builder(PostgresServer.source(url))
            : JdbcRunStore.builder(url);
    return builder.owner("store");
  }

  static JdbcBudgetStore.Builder budget(String url, Money limit) {
    return isPostgres(url)
        ? JdbcBudgetStore.builder(PostgresServer.source(url), limit)
        : JdbcBudgetStore.builder(url, limit);
  }

  static JdbcAdmission.Builder admission(String url, AdmissionPolicy policy) {
    return isPostgres(url)
        ? JdbcAdmission.builder(PostgresServer.source(url), policy)
        : JdbcAdmission.builder(url, policy);
  }

  /** A number that a statement selects, or how many rows another one changes. */
  static long execute(String url, String sql) throws SQLException {
    try (Connection connection = connect(url);
        Statement statement = connection.createStatement()) {
      if (!statement.execute(sql)) {
        return statement.getUpdateCount();
      }
      try (ResultSet row = statement.getResultSet()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  /** A connection beside those of a store. */
  static Connection connect(String url) throws SQLException {
    return isPostgres(url)
        ? DriverManager.getConnection(url)
        : DriverManager.getConnection(url, "sa", "");
  }

  private static boolean isPostgres(String url) {
    return url.startsWith("jdbc:postgresql:");
  }

  static void assertNoThreadLeft() {
    assertEquals(
        List.of(),
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith("warpwright-store"))
            .toList());
  }
}
