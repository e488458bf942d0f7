package dev.warpwright.store.jdbc;

import dev.warpwright.contract.RunStoreContract;
import dev.warpwright.run.RunStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** The store on H2 in memory keeps the contract. */
@Tag("A119")
final class JdbcRunStoreInMemoryTest extends RunStoreContract {
  @Override
  protected RunStore open() {
    return JdbcRunStore.open(Databases.inMemory());
  }

  @AfterAll
  static void nothingIsLeft() {
    Databases.assertNoThreadLeft();
  }
}
