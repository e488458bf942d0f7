package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Writer;
import dev.warpwright.store.jdbc.JdbcRunStore.Durability;
import dev.warpwright.store.jdbc.RunRow.Ownership;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The journal on H2, which runs in this process: one statement a row costs no round trip. */
final class H2Session extends JournalSession {
  /** The one worker of a database that belongs to one process. */
  private static final String WORKER = "embedded";

  private static final String COLUMNS =
      "id, sequence, status, due_nanos, updated_nanos, owner, owner_epoch, claims, problem,"
          + " signals";

  private static final String RUN =
      "SELECT "
          + COLUMNS
          + " FROM ww_run"
          + " WHERE tenant = ? AND user_id = ? AND namespace = ? AND run_id = ?";

  /** The order names all columns of the index, because H2 recognises it only then. */
  private static final String BY_DUE = " ORDER BY agent_id, ready_nanos, run_id";

  private static final String DUE =
      "SELECT "
          + COLUMNS
          + ", tenant, user_id, namespace, run_id, agent_id FROM ww_run"
          + " WHERE agent_id = ? AND ready_nanos <= ?"
          + BY_DUE
          + " FETCH FIRST ? ROWS ONLY";

  private static final String NEXT_DUE =
      "SELECT ready_nanos FROM ww_run WHERE agent_id = ? AND ready_nanos > ?"
          + BY_DUE
          + " FETCH FIRST ROW ONLY";

  private static final String STRANDED =
      "SELECT "
          + ListQuery.COLUMNS
          + " FROM ww_run WHERE tenant = ? AND user_id = ? AND namespace = ? AND owner IS NULL"
          + " AND due_nanos <= ? AND (claims >= "
          + RunStore.MAX_CLAIMS
          + " OR agent_id NOT IN (SELECT agent_id FROM ww_worker_agent))"
          + " ORDER BY due_nanos, run_id FETCH FIRST ? ROWS ONLY";

  private final Durability durability;
  private final Statement plain;
  private final PreparedStatement lockWorker;
  private final PreparedStatement findRun;
  private final PreparedStatement findKey;
  private final PreparedStatement insertRun;
  private final PreparedStatement update;
  private final PreparedStatement insertEvent;
  private final PreparedStatement insertMetadata;
  private int unsentEvents;

  H2Session(Connection connection, Worker worker, Durability durability) throws SQLException {
    super(connection, worker);
    this.durability = durability;
    this.plain = connection.createStatement();
    this.lockWorker =
        connection.prepareStatement("SELECT epoch FROM ww_worker WHERE id = ? FOR UPDATE");
    this.findRun = connection.prepareStatement(RUN);
    this.findKey = prepareFindKey(connection);
    this.insertRun =
        connection.prepareStatement(
            "INSERT INTO ww_run (tenant, user_id, namespace, run_id, agent_id, idempotency_key,"
                + " status, sequence, due_nanos, owner, owner_epoch, created_nanos, updated_nanos,"
                + " signals, parent_run_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            new String[] {"id"});
    this.update =
        connection.prepareStatement(
            "UPDATE ww_run SET sequence = ?, status = ?, due_nanos = ?, updated_nanos = ?,"
                + " owner = ?, owner_epoch = ?, claims = ?, problem = ?, signals = ?"
                + " WHERE id = ? AND sequence = ?");
    this.insertEvent =
        connection.prepareStatement(
            "INSERT INTO ww_event (run, sequence, append_id, type, version, writer, epoch,"
                + " time_nanos, codec, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.insertMetadata =
        connection.prepareStatement(
            "INSERT INTO ww_run_metadata (run, name, note) VALUES (?, ?, ?)");
  }

  /**
   * Makes this process the one worker, under an epoch that fences every earlier one, and frees what
   * those have left.
   */
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
            connection.prepareStatement("SELECT epoch FROM ww_worker WHERE id = ?");
        Statement free = connection.createStatement()) {
      free.executeUpdate("UPDATE ww_run SET owner = NULL, owner_epoch = 0 WHERE owner_epoch > 0");
      free.executeUpdate("DELETE FROM ww_worker_agent");
      if (writeWorker(raise, name, startedNanos) == 0) {
        writeWorker(first, name, startedNanos);
      }
      read.setString(1, WORKER);
      try (ResultSet row = read.executeQuery()) {
        row.next();
        long epoch = row.getLong(1);
        return new Worker(WORKER, epoch, epoch);
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
  Fence begin(List<Operation<?>> operations) throws SQLException {
    lockWorker.setString(1, WORKER);
    try (ResultSet row = lockWorker.executeQuery()) {
      long epoch = row.next() ? row.getLong(1) : 0;
      return new Fence(epoch, epoch == worker().epoch());
    }
  }

  /** Nothing would be faster. */
  @Override
  List<Operation.AppendEvents> advance(List<Operation.AppendEvents> appends) {
    return List.of();
  }

  /** Nor would that. */
  @Override
  boolean beginUnseen() {
    return false;
  }

  /** A transaction ends with its connection, in this process. */
  @Override
  void awaitEarlier() {}

  @Override
  Optional<RunRow> findRun(RunKey run) throws SQLException {
    return findRun(findRun, run, worker());
  }

  @Override
  boolean isOwnedBy(RunKey run, Writer owner) throws SQLException {
    return findRun(run).filter(row -> owner.equals(row.owner())).isPresent();
  }

  /** Finds a run on a reader's connection. */
  static Optional<RunRow> findRun(Connection connection, RunKey run, Worker worker)
      throws SQLException {
    try (PreparedStatement find = connection.prepareStatement(RUN)) {
      return findRun(find, run, worker);
    }
  }

  private static Optional<RunRow> findRun(PreparedStatement find, RunKey run, Worker worker)
      throws SQLException {
    find.setString(setScope(find, 0, run.scope()) + 1, run.runId());
    try (ResultSet row = find.executeQuery()) {
      return row.next() ? Optional.of(readRun(row, worker)) : Optional.empty();
    }
  }

  private static RunRow readRun(ResultSet row, Worker worker) throws SQLException {
    String name = row.getString(6);
    Writer owner = name == null ? null : new Writer(name, row.getLong(7));
    Ownership ownership =
        owner == null || owner.epoch() < worker.epoch() ? Ownership.NONE : Ownership.HERE;
    return new RunRow(
        row.getLong(1),
        row.getLong(2),
        RunStatus.valueOf(row.getString(3)),
        row.getObject(4, Long.class),
        row.getString(10),
        row.getLong(5),
        owner,
        ownership,
        row.getInt(8),
        row.getString(9));
  }

  @Override
  Optional<RunKey> findKey(RunScope scope, String idempotencyKey) throws SQLException {
    return findKey(findKey, scope, idempotencyKey);
  }

  @Override
  List<Due> findDue(Set<String> agentIds, int limit, long nowNanos) throws SQLException {
    List<Due> due = new ArrayList<>();
    try (PreparedStatement find = connection.prepareStatement(DUE)) {
      for (String agentId : agentIds) {
        find.setString(1, agentId);
        find.setLong(2, nowNanos);
        find.setInt(3, limit);
        try (ResultSet row = find.executeQuery()) {
          while (row.next()) {
            due.add(new Due(ListQuery.readKey(row, 11), row.getString(15), readRun(row, worker())));
          }
        }
      }
    }
    due.sort(
        Comparator.<Due>comparingLong(found -> Objects.requireNonNull(found.row().dueNanos()))
            .thenComparing(found -> found.run().runId()));
    return due.subList(0, Math.min(limit, due.size()));
  }

  /** How the database finds them; for tests. */
  static String duePlan(Connection connection) throws SQLException {
    try (PreparedStatement explain = connection.prepareStatement("EXPLAIN " + DUE)) {
      explain.setString(1, "agent");
      explain.setLong(2, 0);
      explain.setInt(3, 10);
      try (ResultSet row = explain.executeQuery()) {
        return row.next() ? row.getString(1) : "";
      }
    }
  }

  @Override
  Optional<Duration> nextDue(Set<String> agentIds, long nowNanos) throws SQLException {
    Optional<Duration> next = Optional.empty();
    try (PreparedStatement find = connection.prepareStatement(NEXT_DUE)) {
      for (String agentId : agentIds) {
        find.setString(1, agentId);
        find.setLong(2, nowNanos);
        try (ResultSet row = find.executeQuery()) {
          if (row.next()) {
            Duration in = Duration.ofNanos(row.getLong(1) - nowNanos);
            next = next.filter(other -> other.compareTo(in) <= 0).or(() -> Optional.of(in));
          }
        }
      }
    }
    return next;
  }

  /** Lists on a reader's connection what nobody drives. */
  static List<RunSummary> stranded(Connection connection, RunScope scope, int limit, long nowNanos)
      throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(STRANDED)) {
      int column = setScope(select, 0, scope);
      select.setLong(++column, nowNanos);
      select.setInt(++column, limit);
      return ListQuery.read(select, scope);
    }
  }

  @Override
  long insertRun(RunKey run, RunRow.Origin origin, RunRow row) throws SQLException {
    int column = setScope(insertRun, 0, run.scope());
    insertRun.setString(++column, run.runId());
    insertRun.setString(++column, origin.agentId());
    insertRun.setString(++column, origin.idempotencyKey());
    insertRun.setString(++column, row.status().name());
    insertRun.setLong(++column, row.sequence());
    insertRun.setObject(++column, row.dueNanos());
    column = setOwner(insertRun, column, row.owner());
    insertRun.setLong(++column, origin.createdNanos());
    insertRun.setLong(++column, row.updatedNanos());
    insertRun.setString(++column, row.signals());
    insertRun.setString(++column, origin.parent());
    insertRun.executeUpdate();
    long id;
    try (ResultSet keys = insertRun.getGeneratedKeys()) {
      keys.next();
      id = keys.getLong(1);
    }
    for (Map.Entry<String, String> note : origin.metadata().entrySet()) {
      if (isSearchable(note.getKey(), note.getValue())) {
        insertMetadata.setLong(1, id);
        insertMetadata.setString(2, note.getKey());
        insertMetadata.setString(3, note.getValue());
        insertMetadata.executeUpdate();
      }
    }
    return id;
  }

  private static int setOwner(PreparedStatement statement, int before, @Nullable Writer owner)
      throws SQLException {
    statement.setString(before + 1, owner == null ? null : owner.name());
    statement.setLong(before + 2, owner == null ? 0 : owner.epoch());
    return before + 2;
  }

  /** The condition is the last line against a lost race. */
  @Override
  void update(RunKey run, RunRow before, RunRow after) throws SQLException {
    update.setLong(1, after.sequence());
    update.setString(2, after.status().name());
    update.setObject(3, after.dueNanos());
    update.setLong(4, after.updatedNanos());
    int column = setOwner(update, 4, after.owner());
    update.setInt(++column, after.claims());
    update.setString(++column, after.problem());
    update.setString(++column, after.signals());
    update.setLong(++column, before.id());
    update.setLong(++column, before.sequence());
    if (update.executeUpdate() != 1) {
      throw new SQLException("The row of a run changed under the lock of the worker.");
    }
  }

  @Override
  long nowNanos(long atCaller) {
    return atCaller;
  }

  /** What is not sent yet is of other runs, or comes to be deleted too. */
  @Override
  void delete(RunKey run, RunRow row) throws SQLException {
    var _ = send();
    for (String sql :
        List.of(
            "DELETE FROM ww_event WHERE run = ?",
            "DELETE FROM ww_run_metadata WHERE run = ?",
            "DELETE FROM ww_signal WHERE run = ?",
            "DELETE FROM ww_run WHERE id = ?")) {
      try (PreparedStatement delete = connection.prepareStatement(sql)) {
        delete.setLong(1, row.id());
        delete.executeUpdate();
      }
    }
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
  void retire(Worker worker) {}
}
