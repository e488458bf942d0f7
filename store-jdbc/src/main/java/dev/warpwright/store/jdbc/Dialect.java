package dev.warpwright.store.jdbc;

import dev.warpwright.model.StoreException;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunSummary;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * In what the databases differ: how one is reached, checked and brought to this version, who its
 * workers are, and the statements of the journal. Called on the store's own threads, unless it says
 * otherwise.
 */
sealed interface Dialect permits H2Dialect, PostgresDialect {
  /** Refuses texts of identities that the database would not keep apart; on callers' threads. */
  void requireDistinct(RunScope scope, Optional<String> idempotencyKey);

  /** Refuses a name that the database would not keep apart from others; on callers' threads. */
  void requireDistinct(String name);

  /** Refuses a database that cannot keep the store's promises, and makes what it lacks. */
  void prepare() throws SQLException;

  /** Takes a connection, as it comes. */
  Connection connect() throws SQLException;

  /** Brings the schema to this version. */
  void migrate();

  /** Whether a new connection must be there before the old one closes. */
  boolean livesInItsConnections();

  /** Whether other processes can have the database too, so that ownership needs a lease. */
  boolean isShared();

  /**
   * Makes the store a worker, under an epoch that fences every earlier one of its name; commits.
   *
   * @param name the store's owner name
   * @param leaseMillis for how long, where there are leases
   */
  Worker register(Connection connection, String name, long startedNanos, long leaseMillis)
      throws SQLException;

  /** Prepares a connection for the journal; whoever opened it closes it if that fails. */
  JournalSession session(Connection connection, Worker worker, long leaseMillis)
      throws SQLException;

  /** Finds a run on a reader's connection, and whether its owner lives. */
  Optional<RunRow> findRun(Connection connection, RunKey run, Worker worker) throws SQLException;

  /** Lists on a reader's connection runs that are due and that no process drives. */
  List<RunSummary> stranded(Connection connection, RunScope scope, int limit, long nowNanos)
      throws SQLException;

  /**
   * What is true of a run in the table that has ended, that nobody owns and whose last event is
   * older than a parameter, in a way that an index serves; and the order of that index.
   */
  String isExpired();

  /** The index in whose order runs are listed. */
  ListQuery.Index listIndex();

  /** The database is in use, with its tables. */
  void opened();

  /** What a failure to open means. */
  StoreException cannotOpen(SQLException e);

  /** An expression of SQL: the database's clock now, in milliseconds since 1970. */
  String clockMillis();

  /** Prepares a connection for the transactions of a control. */
  void prepareControl(Connection connection) throws SQLException;

  /**
   * Begins a transaction of a control, with what holds until its end: that a process which is
   * frozen in it does not keep its locks, and whether the commit is durable.
   */
  void beginControl(Connection connection) throws SQLException;

  /** Makes what a control has committed durable, where the commit alone is not. */
  void syncControl(Connection connection) throws SQLException;

  /** How a worker's epoch was ended under its hands, and what to do. */
  String fencedBy(Worker worker);
}
