package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.Writer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The journal's connection with its prepared statements, one transaction after another. Journal
 * thread only.
 *
 * <p>A transaction begins with {@link #begin}, in which operations are then judged and written with
 * the methods below; {@link #send} tells whether all of it came to the tables. What is found here
 * takes into account what was written in the same transaction.
 */
abstract sealed class JournalSession implements AutoCloseable permits H2Session, PostgresSession {
  private static final String APPEND =
      "SELECT e.append_id FROM ww_run r JOIN ww_event e ON e.run = r.id"
          + " WHERE r.tenant = ? AND r.user_id = ? AND r.namespace = ? AND r.run_id = ?"
          + " AND e.sequence = ?";

  private static final String KEY =
      "SELECT run_id FROM ww_run"
          + " WHERE tenant = ? AND user_id = ? AND namespace = ? AND idempotency_key = ?";

  final Connection connection;
  private final PreparedStatement findAppend;

  JournalSession(Connection connection) throws SQLException {
    this.connection = connection;
    connection.setAutoCommit(false);
    this.findAppend = connection.prepareStatement(APPEND);
  }

  /**
   * Begins a transaction: takes the lock under which nobody can raise the worker's epoch until its
   * end, and reads what the operations need.
   *
   * @return the worker's epoch that stands, 0 if there is none
   */
  abstract long begin(List<Operation<?>> operations) throws SQLException;

  /** Waits until a transaction of an earlier connection, whose end is unknown, has ended. */
  abstract void awaitEarlier() throws SQLException;

  abstract Optional<RunRow> findRun(RunKey run) throws SQLException;

  abstract Optional<RunKey> findKey(RunScope scope, String idempotencyKey) throws SQLException;

  /** Writes the row of a new run; returns its internal id, valid in this transaction. */
  abstract long insertRun(
      RunKey run,
      String agentId,
      @Nullable String idempotencyKey,
      RunRow.Head head,
      @Nullable Writer owner)
      throws SQLException;

  /** Moves a run's row on. */
  abstract void advance(RunKey run, RunRow row, long sequence, RunStatus status, long timeNanos)
      throws SQLException;

  /** Makes a writer of this store a run's owner, or nobody. */
  abstract void setOwner(RunKey run, RunRow row, @Nullable Writer owner) throws SQLException;

  /** Adds an event; it is written by {@link #send}. */
  abstract void addEvent(long run, EventRow event, Writer writer, long appendId)
      throws SQLException;

  /**
   * Sends what is not sent yet.
   *
   * @return the runs of which not everything was written, because another process had written in
   *     its place; the transaction must be rolled back unless there is none
   */
  abstract Set<RunKey> send() throws SQLException;

  /** Forgets what was not sent. */
  abstract void clear() throws SQLException;

  /** Makes everything that was committed durable. */
  abstract void sync() throws SQLException;

  /** Ends the worker's epoch where other processes could have its runs now; commits. */
  abstract void retire() throws SQLException;

  /** Whether an event is in the log, and was written by this very append. */
  final boolean isWritten(RunKey run, long sequence, long appendId) throws SQLException {
    int column = setScope(findAppend, 0, run.scope());
    findAppend.setString(++column, run.runId());
    findAppend.setLong(++column, sequence);
    try (ResultSet row = findAppend.executeQuery()) {
      return row.next() && row.getLong(1) == appendId;
    }
  }

  final void commit() throws SQLException {
    connection.commit();
  }

  final void rollback() throws SQLException {
    clear();
    connection.rollback();
  }

  /** Finds a run by its key. */
  static Optional<RunKey> findKey(Connection connection, RunScope scope, String idempotencyKey)
      throws SQLException {
    try (PreparedStatement find = connection.prepareStatement(KEY)) {
      return findKey(find, scope, idempotencyKey);
    }
  }

  static PreparedStatement prepareFindKey(Connection connection) throws SQLException {
    return connection.prepareStatement(KEY);
  }

  static Optional<RunKey> findKey(PreparedStatement find, RunScope scope, String idempotencyKey)
      throws SQLException {
    find.setString(setScope(find, 0, scope) + 1, idempotencyKey);
    try (ResultSet row = find.executeQuery()) {
      return row.next() ? Optional.of(new RunKey(scope, row.getString(1))) : Optional.empty();
    }
  }

  /**
   * Sets the three parts of a scope. An absent one is the empty text, which a present one cannot
   * be.
   *
   * @return the index of the last parameter that was set
   */
  static int setScope(PreparedStatement statement, int before, RunScope scope) throws SQLException {
    statement.setString(before + 1, scope.tenant());
    statement.setString(before + 2, scope.user().orElse(""));
    statement.setString(before + 3, scope.namespace().orElse(""));
    return before + 3;
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
