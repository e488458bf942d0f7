package dev.warpwright.store.jdbc;

import dev.warpwright.contract.BudgetStoreContract;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.model.Money;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/** The budget on H2 in memory keeps the contract. */
@Tag("R332")
final class JdbcBudgetInMemoryTest extends BudgetStoreContract {
  private final List<JdbcBudgetStore> stores = new ArrayList<>();

  @Override
  protected BudgetStore open(Money limit) {
    JdbcBudgetStore store = JdbcBudgetStore.builder(Databases.inMemory(), limit).open();
    stores.add(store);
    return store;
  }

  @AfterEach
  void close() {
    stores.forEach(JdbcBudgetStore::close);
    Databases.assertNoThreadLeft();
  }
}
