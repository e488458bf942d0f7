package dev.warpwright.run;

import dev.warpwright.contract.RunStoreContract;
import org.junit.jupiter.api.Tag;

/** The store in memory keeps the contract. */
@Tag("A119")
final class InMemoryRunStoreTest extends RunStoreContract {
  @Override
  protected RunStore open() {
    return RunStore.inMemory();
  }
}
