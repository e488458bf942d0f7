package dev.warpwright.store.jdbc;

/** Several controllers over one H2 in memory. */
final class H2SharedAdmissionTest extends SharedAdmissionContract {
  @Override
  String database() {
    return Databases.inMemory();
  }
}
