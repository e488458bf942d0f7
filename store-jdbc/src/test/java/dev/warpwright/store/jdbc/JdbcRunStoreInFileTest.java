package dev.warpwright.store.jdbc;

import dev.warpwright.contract.RunStoreContract;
import dev.warpwright.run.RunStore;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** The store on H2 in a file keeps the contract. */
@Tag("A119")
final class JdbcRunStoreInFileTest extends RunStoreContract {
  @TempDir private Path folder;

  @Override
  protected RunStore open() {
    return JdbcRunStore.open(Databases.inFile(folder));
  }

  @AfterAll
  static void nothingIsLeft() {
    Databases.assertNoThreadLeft();
  }
}
