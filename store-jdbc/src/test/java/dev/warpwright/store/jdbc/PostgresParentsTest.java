package dev.warpwright.store.jdbc;

import dev.warpwright.store.jdbc.JdbcRunStore.Durability;
import java.sql.SQLException;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.configuration.FluentConfiguration;

/** Parents of runs on PostgreSQL. */
@NeedsPostgres
final class PostgresParentsTest extends ParentsContract {
  @Override
  String empty() throws SQLException {
    return PostgresServer.get().empty();
  }

  @Override
  FluentConfiguration migrations(String url) {
    return Flyway.configure()
        .dataSource(PostgresServer.source(url))
        .locations("classpath:META-INF/warpwright/postgresql");
  }

  @Override
  Dialect dialect(String url) {
    return new PostgresDialect(PostgresServer.source(url), Durability.POWER);
  }

  @Override
  String numbers(int count) {
    return "generate_series(1, " + count + ") AS n";
  }
}
