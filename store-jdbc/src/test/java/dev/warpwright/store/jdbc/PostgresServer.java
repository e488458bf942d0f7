package dev.warpwright.store.jdbc;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The PostgreSQL of this JVM's tests, with {@code fsync} and {@code synchronous_commit} on: the one
 * that {@code -Dwarpwright.postgres.url} names, as an administrator, or else one that is started
 * here and ends with the JVM. Tests run one after another in one database, which {@link #cleared}
 * empties: to make one for each, also from a template, takes this server half a second.
 */
final class PostgresServer {
  static final String PROPERTY = "warpwright.postgres.url";

  private static final Logger LOG = LoggerFactory.getLogger(PostgresServer.class);
  private static final String PREFIX = "ww_test_" + ProcessHandle.current().pid() + "_";
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final String url; // of the administrator's database
  private final String database; // the URL of the one with the tables

  /** The server, or why there is none. */
  private record Found(Optional<PostgresServer> server, String reason) {}

  private static final class Holder {
    static final Found FOUND = find();
  }

  private PostgresServer(String url) throws SQLException {
    this.url = url;
    this.database = empty();
    JdbcRunStore.builder(source(database)).open().close();
  }

  private static Found find() {
    String named = System.getProperty(PROPERTY, "");
    try {
      if (!named.isEmpty()) {
        return new Found(Optional.of(new PostgresServer(named)), "");
      }
      EmbeddedPostgres embedded =
          EmbeddedPostgres.builder()
              .setServerConfig("fsync", "on")
              .setServerConfig("synchronous_commit", "on")
              .setServerConfig("full_page_writes", "on")
              .setServerConfig("max_connections", "200")
              .start();
      return new Found(
          Optional.of(new PostgresServer(embedded.getJdbcUrl("postgres", "postgres"))), "");
    } catch (IOException | SQLException | RuntimeException e) {
      String reason =
          "no PostgreSQL: "
              + (named.isEmpty() ? "none could be started here (" : "none at the named URL (")
              + e.getMessage()
              + "); name a server of an administrator by -D"
              + PROPERTY
              + "=jdbc:postgresql://HOST/DATABASE?user=USER&password=PASSWORD";
      LOG.warn("The tests on PostgreSQL are skipped, {}", reason);
      return new Found(Optional.empty(), reason);
    }
  }

  /** Why there is no server; empty if there is one. */
  static Optional<String> missing() {
    return Holder.FOUND.server().isPresent()
        ? Optional.empty()
        : Optional.of(Holder.FOUND.reason());
  }

  static PostgresServer get() {
    return Holder.FOUND.server().orElseThrow();
  }

  /** The URL of the database with the tables, in which there is nothing. */
  String cleared() throws SQLException {
    execute(
        database,
        "TRUNCATE ww_run, ww_event, ww_worker, ww_worker_agent, ww_run_metadata, ww_signal,"
            + " ww_budget, ww_budget_reservation, ww_budget_lease, ww_admission,"
            + " ww_admission_share, ww_admission_lease");
    return database;
  }

  /** The URL of a fresh database without any table. */
  String empty() throws SQLException {
    String name = PREFIX + NUMBER.incrementAndGet();
    execute(url, "CREATE DATABASE " + name + " TEMPLATE template0 ENCODING 'UTF8'");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> drop(name)));
    return url.replaceFirst("(jdbc:postgresql://[^/]*/)[^?]*", "$1" + name);
  }

  /** A server that was named is left as it was. */
  private void drop(String name) {
    if (!System.getProperty(PROPERTY, "").isEmpty()) {
      try {
        execute(url, "DROP DATABASE " + name + " WITH (FORCE)");
      } catch (SQLException e) {
        LOG.warn("A database of a test was left: {}", e.toString());
      }
    }
  }

  /** Connections without a pool. */
  static PGSimpleDataSource source(String url) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(url);
    return source;
  }

  /** Ends every other connection of a database, as a restart or an operator does. */
  static void terminateOthers(String url) throws SQLException {
    execute(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
  }

  static void execute(String url, String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
