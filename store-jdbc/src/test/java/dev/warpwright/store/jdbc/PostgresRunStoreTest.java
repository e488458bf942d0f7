package dev.warpwright.store.jdbc;

import dev.warpwright.contract.RunStoreContract;
import dev.warpwright.run.RunStore;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** The store on PostgreSQL keeps the contract. */
@NeedsPostgres
@Tag("A119")
final class PostgresRunStoreTest extends RunStoreContract {
  @Override
  protected RunStore open() {
    try {
      return JdbcRunStore.builder(PostgresServer.source(PostgresServer.get().cleared())).open();
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @AfterAll
  static void nothingIsLeft() {
    Databases.assertNoThreadLeft();
  }
}
