package dev.warpwright.control;

import dev.warpwright.contract.BudgetStoreContract;
import dev.warpwright.model.Money;

/** The store of one process keeps the contract. */
final class LocalBudgetContractTest extends BudgetStoreContract {
  @Override
  protected BudgetStore open(Money limit) {
    return BudgetStore.local(limit);
  }
}
