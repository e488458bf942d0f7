package dev.warpwright.store.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.Signal;
import dev.warpwright.run.Writer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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
  private Worker worker; // of the open transaction

  JournalSession(Connection connection, Worker worker) throws SQLException {
    this.connection = connection;
    this.worker = worker;
    connection.setAutoCommit(false);
    this.findAppend = connection.prepareStatement(APPEND);
  }

  /**
   * What the table says of the store's worker.
   *
   * @param epoch its epoch that stands, 0 if there is none
   * @param isOurs whether it is still the one that this store registered
   */
  record Fence(long epoch, boolean isOurs) {}

  /** A run that can be taken up. */
  record Due(RunKey run, String agentId, RunRow row) {}

  /**
   * Begins a transaction of a worker: takes the lock under which nobody can raise its epoch until
   * its end, and reads what the operations need.
   */
  final Fence begin(List<Operation<?>> operations, Worker of) throws SQLException {
    worker = of;
    return begin(operations);
  }

  abstract Fence begin(List<Operation<?>> operations) throws SQLException;

  /**
   * Begins a transaction of a worker with what can be judged and written at once, where that is
   * faster than {@link #begin}, which may then follow for what is left. Each append is plain, of
   * another run and of this worker's epoch.
   *
   * @return the appends that were written, as {@link #begin} and a judgement of each would have
   *     done; of the others nothing was
   */
  final List<Operation.AppendEvents> advance(List<Operation.AppendEvents> appends, Worker of)
      throws SQLException {
    worker = of;
    return advance(appends);
  }

  abstract List<Operation.AppendEvents> advance(List<Operation.AppendEvents> appends)
      throws SQLException;

  /**
   * Goes on with runs that are taken for new ones, under keys that nobody has, where that is faster
   * than to look for them: {@link #findRun} and {@link #findKey} find what this transaction has
   * created, and {@link #send} returns all runs that are not new, or that the fence refuses.
   *
   * @return false where it would not be faster, and nothing was begun
   */
  final boolean beginUnseen(Worker of) throws SQLException {
    worker = of;
    return beginUnseen();
  }

  abstract boolean beginUnseen() throws SQLException;

  /** Who writes in the open transaction. */
  final Worker worker() {
    return worker;
  }

  /** An owner of this store. */
  final Writer writer(String name) {
    return new Writer(name, worker.epoch());
  }

  /** Waits until a transaction of an earlier connection, whose end is unknown, has ended. */
  abstract void awaitEarlier() throws SQLException;

  abstract Optional<RunRow> findRun(RunKey run) throws SQLException;

  /** Whether a writer that was made for it owns a run; reads the table. */
  abstract boolean isOwnedBy(RunKey run, Writer owner) throws SQLException;

  abstract Optional<RunKey> findKey(RunScope scope, String idempotencyKey) throws SQLException;

  /**
   * Finds runs that are due and that nobody owns, longest due first; nobody else gets them before
   * the end of the transaction.
   */
  abstract List<Due> findDue(Set<String> agentIds, int limit, long nowNanos) throws SQLException;

  /** In how long the next run becomes due. */
  abstract Optional<Duration> nextDue(Set<String> agentIds, long nowNanos) throws SQLException;

  /** Writes the row of a new run; returns its internal id, valid in this transaction. */
  abstract long insertRun(RunKey run, RunRow.Origin origin, RunRow row) throws SQLException;

  /** Writes what became of a run's row, of which {@link #findRun} gave the one before. */
  abstract void update(RunKey run, RunRow before, RunRow after) throws SQLException;

  /** Deletes a run with all that belongs to it. */
  abstract void delete(RunKey run, RunRow row) throws SQLException;

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

  /** What time it is by the clock that runs are due by. */
  abstract long nowNanos(long atCaller) throws SQLException;

  /** The signals of a run that were not consumed: their names by id. */
  final Map<String, String> unreadSignals(long run) throws SQLException {
    Map<String, String> names = new HashMap<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT signal_id, name FROM ww_signal WHERE run = ? AND NOT consumed")) {
      select.setLong(1, run);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          names.put(row.getString(1), row.getString(2));
        }
      }
    }
    return names;
  }

  final void consumeSignal(long run, String signalId) throws SQLException {
    try (PreparedStatement consume =
        connection.prepareStatement(
            "UPDATE ww_signal SET consumed = TRUE WHERE run = ? AND signal_id = ?")) {
      consume.setLong(1, run);
      consume.setString(2, signalId);
      consume.executeUpdate();
    }
  }

  /** Gives a signal to another run; it has arrived there when it arrived. */
  final void moveSignal(long from, long to, String signalId) throws SQLException {
    try (PreparedStatement move =
        connection.prepareStatement(
            "UPDATE ww_signal SET run = ? WHERE run = ? AND signal_id = ?")) {
      move.setLong(1, to);
      move.setLong(2, from);
      move.setString(3, signalId);
      move.executeUpdate();
    }
  }

  /** Whether a run has or had a signal. */
  final boolean hasSignal(long run, String signalId) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("SELECT 1 FROM ww_signal WHERE run = ? AND signal_id = ?")) {
      select.setLong(1, run);
      select.setString(2, signalId);
      try (ResultSet row = select.executeQuery()) {
        return row.next();
      }
    }
  }

  final void addSignal(long run, Signal signal) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO ww_signal (run, signal_id, name, body, sent_nanos)"
                + " VALUES (?, ?, ?, ?, ?)")) {
      insert.setLong(1, run);
      insert.setString(2, signal.id());
      insert.setString(3, signal.name());
      insert.setBytes(4, signal.value().text().getBytes(UTF_8));
      insert.setLong(5, Times.nanos(signal.sent()));
      insert.executeUpdate();
    }
  }

  /** Replaces what the worker says that it drives. */
  final void announce(Set<String> agentIds) throws SQLException {
    try (PreparedStatement forget =
            connection.prepareStatement("DELETE FROM ww_worker_agent WHERE worker = ?");
        PreparedStatement note =
            connection.prepareStatement(
                "INSERT INTO ww_worker_agent (worker, agent_id) VALUES (?, ?)")) {
      forget.setString(1, worker.id());
      forget.executeUpdate();
      for (String agentId : agentIds) {
        note.setString(1, worker.id());
        note.setString(2, agentId);
        note.addBatch();
      }
      note.executeBatch();
    }
  }

  /** What of a run's metadata it can be found by. */
  static boolean isSearchable(String name, String value) {
    return isSearchable(name) && isSearchable(value);
  }

  private static boolean isSearchable(String text) {
    return text.length() <= RunQuery.MAX_SEARCHED
        && text.indexOf('\0') < 0
        && UTF_8.newEncoder().canEncode(text);
  }

  /** Ends the worker's epoch where other processes could have its runs now; commits. */
  abstract void retire(Worker worker) throws SQLException;

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
