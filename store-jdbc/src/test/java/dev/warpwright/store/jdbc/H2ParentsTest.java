package dev.warpwright.store.jdbc;

import dev.warpwright.store.jdbc.JdbcRunStore.Durability;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.configuration.FluentConfiguration;

/** Parents of runs on H2. */
final class H2ParentsTest extends ParentsContract {
  @Override
  String empty() {
    return Databases.inMemory();
  }

  @Override
  FluentConfiguration migrations(String url) {
    return Flyway.configure()
        .dataSource(url, "sa", "")
        .locations("classpath:META-INF/warpwright/h2");
  }

  @Override
  Dialect dialect(String url) {
    return new H2Dialect(url, Durability.POWER);
  }

  @Override
  String numbers(int count) {
    return "(SELECT x AS n FROM system_range(1, " + count + "))";
  }
}
