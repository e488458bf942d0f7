package dev.warpwright.examples;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * A database on PostgreSQL for one test: on the server that {@code -Dwarpwright.postgres.url}
 * names, as an administrator, or else on one that is started here. The test is skipped where there
 * is neither.
 */
final class Postgres implements AutoCloseable {
  private static final String NAME = "ww_examples_" + ProcessHandle.current().pid();

  private final @Nullable EmbeddedPostgres embedded;
  private final String admin;

  private Postgres(@Nullable EmbeddedPostgres embedded, String admin) {
    this.embedded = embedded;
    this.admin = admin;
  }

  static Postgres start() throws SQLException, IOException {
    String named = System.getProperty("warpwright.postgres.url", "");
    Postgres found;
    if (!named.isEmpty()) {
      found = new Postgres(null, named);
    } else {
      EmbeddedPostgres started;
      try {
        started =
            EmbeddedPostgres.builder()
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .start();
      } catch (IOException | RuntimeException e) {
        Assumptions.abort("No PostgreSQL could be started here: " + e.getMessage());
        throw e;
      }
      found = new Postgres(started, started.getJdbcUrl("postgres", "postgres"));
    }
    found.execute("CREATE DATABASE " + NAME + " TEMPLATE template0 ENCODING 'UTF8'");
    return found;
  }

  String url() {
    return admin.replaceFirst("(jdbc:postgresql://[^/]*/)[^?]*", "$1" + NAME);
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(admin);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public void close() throws SQLException, IOException {
    execute("DROP DATABASE " + NAME + " WITH (FORCE)");
    if (embedded != null) {
      embedded.close();
    }
  }
}
