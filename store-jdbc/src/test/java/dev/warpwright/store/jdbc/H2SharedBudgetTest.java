package dev.warpwright.store.jdbc;

/** Several budgets over one H2 in memory. */
final class H2SharedBudgetTest extends SharedBudgetContract {
  @Override
  String database() {
    return Databases.inMemory();
  }
}
