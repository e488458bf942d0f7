package dev.warpwright.store.jdbc;

import java.sql.SQLException;
import org.junit.jupiter.api.BeforeEach;

/** Crashes of the process on PostgreSQL; the one that comes after it has its name. */
@NeedsPostgres
final class PostgresCrashTest extends CrashContract {
  private String url;

  @BeforeEach
  void clear() throws SQLException {
    url = PostgresServer.get().cleared();
  }

  @Override
  String url() {
    return url;
  }
}
