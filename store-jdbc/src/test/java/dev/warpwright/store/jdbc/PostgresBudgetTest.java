package dev.warpwright.store.jdbc;

import dev.warpwright.contract.BudgetStoreContract;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.model.Money;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/** The budget on PostgreSQL keeps the contract. */
@NeedsPostgres
@Tag("R332")
final class PostgresBudgetTest extends BudgetStoreContract {
  private final List<JdbcBudgetStore> stores = new ArrayList<>();

  @Override
  protected BudgetStore open(Money limit) {
    close();
    try {
      String url = PostgresServer.get().cleared();
      stores.add(JdbcBudgetStore.builder(PostgresServer.source(url), limit).open());
      return stores.getLast();
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void close() {
    stores.forEach(JdbcBudgetStore::close);
    stores.clear();
    Databases.assertNoThreadLeft();
  }
}
