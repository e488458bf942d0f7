package dev.warpwright.bench.durable;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A PostgreSQL whose commits are on the disk: the one that {@code -Dwarpwright.postgres.url} names,
 * as an administrator, or else one that is started here. Every measurement gets a database of its
 * own, in the same server.
 */
final class PostgresServer implements AutoCloseable {
  private static final String PROPERTY = "warpwright.postgres.url";

  private final String url; // of the administrator's database
  private final Optional<EmbeddedPostgres> started;
  private final AtomicInteger databases = new AtomicInteger();

  private PostgresServer(String url, Optional<EmbeddedPostgres> started) {
    this.url = url;
    this.started = started;
  }

  static PostgresServer start() throws IOException {
    String named = System.getProperty(PROPERTY, "");
    if (!named.isEmpty()) {
      return new PostgresServer(named, Optional.empty());
    }
    EmbeddedPostgres embedded =
        EmbeddedPostgres.builder()
            .setServerConfig("fsync", "on")
            .setServerConfig("synchronous_commit", "on")
            .setServerConfig("full_page_writes", "on")
            .setServerConfig("max_connections", "200")
            .start();
    return new PostgresServer(embedded.getJdbcUrl("postgres", "postgres"), Optional.of(embedded));
  }

  /** Makes an empty database and gives its URL. */
  String freshDatabase() throws SQLException {
    String name = "ww_bench_" + ProcessHandle.current().pid() + "_" + databases.incrementAndGet();
    execute(url, "CREATE DATABASE " + name + " TEMPLATE template0 ENCODING 'UTF8'");
    return url.replaceFirst("(jdbc:postgresql://[^/]*/)[^?]*", "$1" + name);
  }

  /**
   * Drops a database that {@link #freshDatabase} made, so that the next has the disk for itself.
   */
  void drop(String database) throws SQLException {
    String name = database.replaceFirst("jdbc:postgresql://[^/]*/([^?]*).*", "$1");
    execute(url, "DROP DATABASE " + name + " WITH (FORCE)");
    execute(url, "CHECKPOINT");
  }

  /** The server's version and what it does for a commit. */
  String describe() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT 'PostgreSQL ' || current_setting('server_version') || ', fsync '"
                    + " || current_setting('fsync') || ', synchronous_commit '"
                    + " || current_setting('synchronous_commit')")) {
      row.next();
      return row.getString(1);
    }
  }

  static PGSimpleDataSource source(String url) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(url);
    return source;
  }

  private static void execute(String url, String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public void close() throws IOException {
    if (started.isPresent()) {
      started.get().close();
    }
  }
}
