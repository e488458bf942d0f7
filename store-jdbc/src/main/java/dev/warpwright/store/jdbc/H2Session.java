package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.Writer;
import dev.warpwright.store.jdbc.JdbcRunStore.Durability;
import dev.warpwright.store.jdbc.RunRow.Ownership;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The journal on H2, which runs in this process: one statement a row costs no round trip. */
final class H2Session extends JournalSession {
  /** The one worker of a database that belongs to one process. */
  private static final String WORKER = "embedded";

  private static final String RUN =
      "SELECT id, sequence, owner, owner_epoch, updated_nanos FROM ww_run"
          + " WHERE tenant = ? AND user_id = ? AND namespace = ? AND run_id = ?";

  private final long epoch;
  private final Durability durability;
  private final Statement plain;
  private final PreparedStatement lockWorker;
  private final PreparedStatement findRun;
  private final PreparedStatement findKey;
  private final PreparedStatement insertRun;
  private final PreparedStatement advance;
  private final PreparedStatement setOwner;
  private final PreparedStatement insertEvent;
  private int unsentEvents;

  H2Session(Connection connection, Worker worker, Durability durability) throws SQLException {
    super(connection);
    this.epoch = worker.epoch();
    this.durability = durability;
    this.plain = connection.createStatement();
    this.lockWorker =
        connection.prepareStatement("SELECT epoch FROM ww_worker WHERE id = ? FOR UPDATE");
    this.findRun = connection.prepareStatement(RUN);
    this.findKey = prepareFindKey(connection);
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
  }

  /** Makes this process the one worker, under an epoch that fences every earlier one. */
  static Worker raiseEpoch(Connection connection, String name, long startedNanos)
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
        return new Worker(WORKER, row.getLong(1));
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

  @Override
  long begin(List<Operation<?>> operations) throws SQLException {
    lockWorker.setString(1, WORKER);
    try (ResultSet row = lockWorker.executeQuery()) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  /** A transaction ends with its connection, in this process. */
  @Override
  void awaitEarlier() {}

  @Override
  Optional<RunRow> findRun(RunKey run) throws SQLException {
    return findRun(findRun, run, epoch);
  }

  /** Finds a run on a reader's connection. */
  static Optional<RunRow> findRun(Connection connection, RunKey run, long epoch)
      throws SQLException {
    try (PreparedStatement find = connection.prepareStatement(RUN)) {
      return findRun(find, run, epoch);
    }
  }

  private static Optional<RunRow> findRun(PreparedStatement find, RunKey run, long epoch)
      throws SQLException {
    setScope(find, 0, run.scope());
    find.setString(4, run.runId());
    try (ResultSet row = find.executeQuery()) {
      return row.next() ? Optional.of(readRun(row, epoch)) : Optional.empty();
    }
  }

  private static RunRow readRun(ResultSet row, long epoch) throws SQLException {
    String name = row.getString(3);
    Writer owner = name == null ? null : new Writer(name, row.getLong(4));
    Ownership ownership = owner == null || owner.epoch() < epoch ? Ownership.NONE : Ownership.HERE;
    return new RunRow(row.getLong(1), row.getLong(2), owner, ownership, row.getLong(5));
  }

  @Override
  Optional<RunKey> findKey(RunScope scope, String idempotencyKey) throws SQLException {
    return findKey(findKey, scope, idempotencyKey);
  }

  @Override
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

  /** The condition is the last line against a lost race. */
  @Override
  void advance(RunKey run, RunRow row, long sequence, RunStatus status, long timeNanos)
      throws SQLException {
    advance.setLong(1, sequence);
    advance.setString(2, status.name());
    advance.setLong(3, timeNanos);
    advance.setLong(4, row.id());
    advance.setLong(5, row.sequence());
    if (advance.executeUpdate() != 1) {
      throw new SQLException("The row of a run changed under the lock of the worker.");
    }
  }

  @Override
  void setOwner(RunKey run, RunRow row, @Nullable Writer owner) throws SQLException {
    if (owner == null) {
      setOwner.setNull(1, Types.VARCHAR);
      setOwner.setLong(2, 0);
    } else {
      setOwner.setString(1, owner.name());
      setOwner.setLong(2, owner.epoch());
    }
    setOwner.setLong(3, row.id());
    setOwner.executeUpdate();
  }

  @Override
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

  /** Nobody else writes, so that a row which cannot be written is a failure of the database. */
  @Override
  Set<RunKey> send() throws SQLException {
    if (unsentEvents > 0) {
      unsentEvents = 0;
      insertEvent.executeBatch();
    }
    return Set.of();
  }

  @Override
  void clear() throws SQLException {
    unsentEvents = 0;
    insertEvent.clearBatch();
  }

  @Override
  void sync() throws SQLException {
    sync(plain, durability);
  }

  /** Makes everything that was committed as durable as is asked. */
  static void sync(Statement statement, Durability durability) throws SQLException {
    switch (durability) {
      case POWER -> statement.execute("CHECKPOINT SYNC");
      case PROCESS -> statement.execute("CHECKPOINT");
      case RELAXED -> {}
    }
  }

  /** The next opener of the file raises the epoch. */
  @Override
  void retire() {}
}
