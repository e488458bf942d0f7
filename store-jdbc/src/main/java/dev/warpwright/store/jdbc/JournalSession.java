package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.Writer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The journal's connection with its prepared statements. Journal thread only. */
final class JournalSession implements AutoCloseable {
  /** The one worker of a database that belongs to one process. */
  private static final String WORKER = "embedded";

  private static final String RUN =
      "SELECT id, sequence, owner, owner_epoch, updated_nanos FROM ww_run"
          + " WHERE tenant = ? AND user_id = ? AND namespace = ? AND run_id = ?";

  private static final String KEY =
      "SELECT run_id FROM ww_run"
          + " WHERE tenant = ? AND user_id = ? AND namespace = ? AND idempotency_key = ?";

  private final Connection connection;
  private final Statement plain;
  private final PreparedStatement lockWorker;
  private final PreparedStatement findRun;
  private final PreparedStatement findKey;
  private final PreparedStatement insertRun;
  private final PreparedStatement advance;
  private final PreparedStatement setOwner;
  private final PreparedStatement insertEvent;
  private final PreparedStatement findAppend;
  private int unsentEvents;

  JournalSession(Connection connection) throws SQLException {
    this.connection = connection;
    this.plain = connection.createStatement();
    this.lockWorker =
        connection.prepareStatement("SELECT epoch FROM ww_worker WHERE id = ? FOR UPDATE");
    this.findRun = connection.prepareStatement(RUN);
    this.findKey = connection.prepareStatement(KEY);
    this.insertRun =
        connection.prepareStatement(
            "INSERT INTO ww_run (tenant, user_id, namespace, run_id, agent_id, idempotency_key,"
                + " status, sequence, owner, owner_epoch, created_nanos, updated_nanos)"
                + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            new String[] {"id"});
    this.advance =
        connection.prepareStatement(
            "UPDATE ww_run SET sequence = ?, status = ?, updated_nanos = ?"
                + " WHERE id = ? AND sequence = ?");
    this.setOwner =
        connection.prepareStatement("UPDATE ww_run SET owner = ?, owner_epoch = ? WHERE id = ?");
    this.insertEvent =
        connection.prepareStatement(
            "INSERT INTO ww_event (run, sequence, append_id, type, version, writer, epoch,"
                + " time_nanos, codec, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.findAppend =
        connection.prepareStatement(
            "SELECT append_id FROM ww_event WHERE run = ? AND sequence = ?");
  }

  /** Makes this process the one worker, under an epoch that fences every earlier one. */
  static long raiseEpoch(Connection connection, String name, long startedNanos)
      throws SQLException {
    try (PreparedStatement raise =
            connection.prepareStatement(
                "UPDATE ww_worker SET epoch = epoch + 1, name = ?, pid = ?, started_nanos = ?"
                    + " WHERE id = ?");
        PreparedStatement first =
            connection.prepareStatement(
                "INSERT INTO ww_worker (epoch, name, pid, started_nanos, id)"
                    + " VALUES (1, ?, ?, ?, ?)");
        PreparedStatement read =
            connection.prepareStatement("SELECT epoch FROM ww_worker WHERE id = ?")) {
      if (writeWorker(raise, name, startedNanos) == 0) {
        writeWorker(first, name, startedNanos);
      }
      read.setString(1, WORKER);
      try (ResultSet row = read.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  private static int writeWorker(PreparedStatement statement, String name, long startedNanos)
      throws SQLException {
    statement.setString(1, name);
    statement.setLong(2, ProcessHandle.current().pid());
    statement.setLong(3, startedNanos);
    statement.setString(4, WORKER);
    return statement.executeUpdate();
  }

  /**
   * Locks the worker's row until the end of the transaction: nobody can open the store and raise
   * the epoch between the judgement of an append and its commit.
   *
   * @return the epoch that stands
   */
  long lockWorker() throws SQLException {
    lockWorker.setString(1, WORKER);
    try (ResultSet row = lockWorker.executeQuery()) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  Optional<RunRow> findRun(RunKey run) throws SQLException {
    return findRun(findRun, run);
  }

  /** Finds a run on a reader's connection. */
  static Optional<RunRow> findRun(Connection connection, RunKey run) throws SQLException {
    try (PreparedStatement find = connection.prepareStatement(RUN)) {
      return findRun(find, run);
    }
  }

  private static Optional<RunRow> findRun(PreparedStatement find, RunKey run) throws SQLException {
    setScope(find, 0, run.scope());
    find.setString(4, run.runId());
    try (ResultSet row = find.executeQuery()) {
      return row.next() ? Optional.of(readRun(row)) : Optional.empty();
    }
  }

  private static RunRow readRun(ResultSet row) throws SQLException {
    String owner = row.getString(3);
    return new RunRow(
        row.getLong(1),
        row.getLong(2),
        owner == null ? null : new Writer(owner, row.getLong(4)),
        row.getLong(5));
  }

  Optional<RunKey> findKey(RunScope scope, String idempotencyKey) throws SQLException {
    return findKey(findKey, scope, idempotencyKey);
  }

  /** Finds the run of a key on a reader's connection. */
  static Optional<RunKey> findKey(Connection connection, RunScope scope, String idempotencyKey)
      throws SQLException {
    try (PreparedStatement find = connection.prepareStatement(KEY)) {
      return findKey(find, scope, idempotencyKey);
    }
  }

  private static Optional<RunKey> findKey(
      PreparedStatement find, RunScope scope, String idempotencyKey) throws SQLException {
    setScope(find, 0, scope);
    find.setString(4, idempotencyKey);
    try (ResultSet row = find.executeQuery()) {
      return row.next() ? Optional.of(new RunKey(scope, row.getString(1))) : Optional.empty();
    }
  }

  /** Writes the row of a new run; returns its internal id. */
  long insertRun(
      RunKey run,
      String agentId,
      @Nullable String idempotencyKey,
      RunRow.Head head,
      @Nullable Writer owner)
      throws SQLException {
    setScope(insertRun, 0, run.scope());
    insertRun.setString(4, run.runId());
    insertRun.setString(5, agentId);
    insertRun.setString(6, idempotencyKey);
    insertRun.setString(7, head.status().name());
    insertRun.setLong(8, head.sequence());
    insertRun.setString(9, owner == null ? null : owner.name());
    insertRun.setLong(10, owner == null ? 0 : owner.epoch());
    insertRun.setLong(11, head.createdNanos());
    insertRun.setLong(12, head.updatedNanos());
    insertRun.executeUpdate();
    try (ResultSet keys = insertRun.getGeneratedKeys()) {
      keys.next();
      return keys.getLong(1);
    }
  }

  /** Moves a run's row on; the condition is the last line against a lost race. */
  void advance(RunRow run, long sequence, RunStatus status, long timeNanos) throws SQLException {
    advance.setLong(1, sequence);
    advance.setString(2, status.name());
    advance.setLong(3, timeNanos);
    advance.setLong(4, run.id());
    advance.setLong(5, run.sequence());
    if (advance.executeUpdate() != 1) {
      throw new SQLException("The row of a run changed under the lock of the worker.");
    }
  }

  void setOwner(long run, @Nullable Writer owner) throws SQLException {
    if (owner == null) {
      setOwner.setNull(1, Types.VARCHAR);
      setOwner.setLong(2, 0);
    } else {
      setOwner.setString(1, owner.name());
      setOwner.setLong(2, owner.epoch());
    }
    setOwner.setLong(3, run);
    setOwner.executeUpdate();
  }

  /** Adds an event to the batch that {@link #sendEvents} sends. */
  void addEvent(long run, EventRow event, Writer writer, long appendId) throws SQLException {
    insertEvent.setLong(1, run);
    insertEvent.setLong(2, event.sequence);
    insertEvent.setLong(3, appendId);
    insertEvent.setString(4, event.type);
    insertEvent.setInt(5, event.version);
    insertEvent.setString(6, writer.name());
    insertEvent.setLong(7, writer.epoch());
    insertEvent.setLong(8, event.timeNanos);
    insertEvent.setInt(9, event.codec);
    insertEvent.setBytes(10, event.body);
    insertEvent.addBatch();
    unsentEvents++;
  }

  void sendEvents() throws SQLException {
    if (unsentEvents > 0) {
      unsentEvents = 0;
      insertEvent.executeBatch();
    }
  }

  /** Whether an event is in the log, and was written by this very append. */
  boolean isWritten(long run, long sequence, long appendId) throws SQLException {
    findAppend.setLong(1, run);
    findAppend.setLong(2, sequence);
    try (ResultSet row = findAppend.executeQuery()) {
      return row.next() && row.getLong(1) == appendId;
    }
  }

  void commit() throws SQLException {
    connection.commit();
  }

  void rollback() throws SQLException {
    unsentEvents = 0;
    insertEvent.clearBatch();
    connection.rollback();
  }

  void sync(H2Dialect dialect, JdbcRunStore.Durability durability) throws SQLException {
    dialect.sync(plain, durability);
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
