package dev.warpwright.store.jdbc;

/** Commits on PostgreSQL. */
@NeedsPostgres
final class PostgresCommitTest extends CommitContract {
  @Override
  String database() throws Exception {
    return PostgresServer.get().cleared();
  }
}
