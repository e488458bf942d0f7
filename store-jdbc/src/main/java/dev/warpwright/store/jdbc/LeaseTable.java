package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The leases of stores in the tables of PostgreSQL, judged by the server's clock.
 *
 * <p>Whoever raises an epoch locks the worker's row {@code FOR UPDATE} and so meets the
 * transactions of that worker, which hold it {@code FOR KEY SHARE} until their end: of others'
 * workers, those that are under way are passed over and looked at again later; a frozen one is
 * ended by the server.
 */
final class LeaseTable {
  /** The server's clock; of one statement, so that an index can be asked for it. */
  static final String NOW_MILLIS = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

  static final String NOW_NANOS =
      "(extract(epoch FROM statement_timestamp()) * 1000000000)::bigint";

  private static final String LOCK =
      "SELECT epoch, incarnation FROM ww_worker WHERE id = ? FOR UPDATE";

  private static final String REAP =
      "UPDATE ww_worker SET epoch = epoch + 1, lease_until = NULL, freed = FALSE WHERE id IN"
          + " (SELECT id FROM ww_worker WHERE lease_until < "
          + NOW_MILLIS
          + " AND id <> ? FOR UPDATE SKIP LOCKED) RETURNING id";

  /** Of those that are named, and only so; in the transaction of who wants their runs. */
  private static final String REAP_NAMED =
      "UPDATE ww_worker SET epoch = epoch + 1, lease_until = NULL, freed = FALSE WHERE id IN"
          + " (SELECT id FROM ww_worker WHERE id = ANY (?) AND lease_until < "
          + NOW_MILLIS
          + " FOR UPDATE SKIP LOCKED) RETURNING id";

  private static final String RENEW =
      "UPDATE ww_worker SET lease_until = "
          + NOW_MILLIS
          + " + ? WHERE id = ? AND epoch = ? AND incarnation = ? AND lease_until >= "
          + NOW_MILLIS;

  private static final String FREE =
      "UPDATE ww_run SET worker = NULL, owner = NULL, owner_epoch = 0 WHERE id IN"
          + " (SELECT id FROM ww_run WHERE worker = ? AND owner_epoch < ? LIMIT ?"
          + " FOR NO KEY UPDATE SKIP LOCKED)";

  private LeaseTable() {}

  /**
   * Makes a store a worker. Waits for transactions of an earlier one of that name that are not
   * committed yet: what it wrote under its epoch is there when this returns.
   */
  static Worker register(
      Connection connection, String name, long startedNanos, long incarnation, long ttlMillis)
      throws SQLException {
    try (PreparedStatement first =
            connection.prepareStatement(
                "INSERT INTO ww_worker (id, epoch, pid, started_nanos) VALUES (?, 0, 0, 0)"
                    + " ON CONFLICT DO NOTHING");
        PreparedStatement raise =
            connection.prepareStatement(
                "UPDATE ww_worker SET epoch = epoch + 1, pid = ?, started_nanos = ?,"
                    + " incarnation = ?, freed = FALSE, lease_until = "
                    + NOW_MILLIS
                    + " + ? WHERE id = ? RETURNING epoch");
        PreparedStatement forget =
            connection.prepareStatement("DELETE FROM ww_worker_agent WHERE worker = ?")) {
      first.setString(1, name);
      first.executeUpdate();
      lock(connection, name);
      forget.setString(1, name);
      forget.executeUpdate();
      raise.setLong(1, ProcessHandle.current().pid());
      raise.setLong(2, startedNanos);
      raise.setLong(3, incarnation);
      raise.setLong(4, ttlMillis);
      raise.setString(5, name);
      try (ResultSet row = raise.executeQuery()) {
        row.next();
        return new Worker(name, row.getLong(1), incarnation);
      }
    }
  }

  /** Waits for the transactions of a worker; what stands of it, epoch and incarnation. */
  static Optional<Worker> lock(Connection connection, String id) throws SQLException {
    try (PreparedStatement lock = connection.prepareStatement(LOCK)) {
      lock.setString(1, id);
      try (ResultSet row = lock.executeQuery()) {
        return row.next()
            ? Optional.of(new Worker(id, row.getLong(1), row.getLong(2)))
            : Optional.empty();
      }
    }
  }

  /** Goes on with a lease that has not ended; false if it has, or somebody has raised the epoch. */
  static boolean renew(Connection connection, Worker worker, long ttlMillis) throws SQLException {
    try (PreparedStatement renew = connection.prepareStatement(RENEW)) {
      renew.setLong(1, ttlMillis);
      renew.setString(2, worker.id());
      renew.setLong(3, worker.epoch());
      renew.setLong(4, worker.incarnation());
      return renew.executeUpdate() == 1;
    }
  }

  /**
   * Takes a lease anew after one was lost, under an epoch that the lost one did not have.
   *
   * @return empty if a store was opened under the same name since
   */
  static Optional<Worker> regain(Connection connection, Worker lost, long ttlMillis)
      throws SQLException {
    Optional<Worker> stands = lock(connection, lost.id());
    if (stands.isEmpty() || stands.get().incarnation() != lost.incarnation()) {
      return Optional.empty();
    }
    long epoch = Math.max(stands.get().epoch(), lost.epoch() + 1);
    try (PreparedStatement regain =
        connection.prepareStatement(
            "UPDATE ww_worker SET epoch = ?, freed = FALSE, lease_until = "
                + NOW_MILLIS
                + " + ? WHERE id = ?")) {
      regain.setLong(1, epoch);
      regain.setLong(2, ttlMillis);
      regain.setString(3, lost.id());
      regain.executeUpdate();
    }
    return Optional.of(new Worker(lost.id(), epoch, lost.incarnation()));
  }

  /** Ends the leases of others that have run out; returns whose. */
  static List<String> reap(Connection connection, String own) throws SQLException {
    try (PreparedStatement reap = connection.prepareStatement(REAP)) {
      reap.setString(1, own);
      return texts(reap);
    }
  }

  /** Ends those of some workers' leases that have run out; returns whose. */
  static List<String> reap(Connection connection, List<String> ids) throws SQLException {
    try (PreparedStatement reap = connection.prepareStatement(REAP_NAMED)) {
      reap.setArray(1, connection.createArrayOf("text", ids.toArray()));
      return texts(reap);
    }
  }

  private static List<String> texts(PreparedStatement select) throws SQLException {
    List<String> texts = new ArrayList<>();
    try (ResultSet row = select.executeQuery()) {
      while (row.next()) {
        texts.add(row.getString(1));
      }
    }
    return texts;
  }

  /** In how many milliseconds the first lease of another store ends that is held. */
  static OptionalLong firstEnd(Connection connection, String own) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT MIN(lease_until) - " + NOW_MILLIS + " FROM ww_worker WHERE id <> ?")) {
      select.setString(1, own);
      try (ResultSet row = select.executeQuery()) {
        row.next();
        long millis = row.getLong(1);
        return row.wasNull() ? OptionalLong.empty() : OptionalLong.of(millis);
      }
    }
  }

  /** Workers that have runs left of an epoch that has ended. */
  static List<Worker> unfreed(Connection connection) throws SQLException {
    List<Worker> workers = new ArrayList<>();
    try (PreparedStatement select =
            connection.prepareStatement(
                "SELECT id, epoch, incarnation FROM ww_worker WHERE NOT freed");
        ResultSet row = select.executeQuery()) {
      while (row.next()) {
        workers.add(new Worker(row.getString(1), row.getLong(2), row.getLong(3)));
      }
    }
    return workers;
  }

  /**
   * Frees runs of a worker that are of an earlier epoch, so many at most; those that somebody
   * writes to just now are passed over.
   *
   * @return how many were freed
   */
  static int free(Connection connection, Worker worker, int limit) throws SQLException {
    try (PreparedStatement free = connection.prepareStatement(FREE)) {
      free.setString(1, worker.id());
      free.setLong(2, worker.epoch());
      free.setInt(3, limit);
      return free.executeUpdate();
    }
  }

  /** Notes that nothing is left to be freed, unless something is, or the epoch was raised again. */
  static void noteFreed(Connection connection, Worker worker) throws SQLException {
    try (PreparedStatement note =
        connection.prepareStatement(
            "UPDATE ww_worker SET freed = TRUE WHERE id = ? AND epoch = ? AND NOT EXISTS"
                + " (SELECT 1 FROM ww_run WHERE worker = ? AND owner_epoch < ?)")) {
      note.setString(1, worker.id());
      note.setLong(2, worker.epoch());
      note.setString(3, worker.id());
      note.setLong(4, worker.epoch());
      note.executeUpdate();
    }
  }

  /** The runs of a worker that somebody asked to cancel. */
  static List<RunKey> cancelRequests(Connection connection, Worker worker) throws SQLException {
    List<RunKey> runs = new ArrayList<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT tenant, user_id, namespace, run_id FROM ww_run"
                + " WHERE worker = ? AND status = 'CANCEL_REQUESTED' AND owner_epoch = ?")) {
      select.setString(1, worker.id());
      select.setLong(2, worker.epoch());
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          runs.add(ListQuery.readKey(row, 1));
        }
      }
    }
    return runs;
  }

  /** Gives everything up that a worker has, unless its epoch was raised before. */
  static void retire(Connection connection, Worker worker) throws SQLException {
    lock(connection, worker.id());
    try (PreparedStatement raise =
        connection.prepareStatement(
            "UPDATE ww_worker SET epoch = epoch + 1, lease_until = NULL, freed = FALSE"
                + " WHERE id = ? AND epoch = ? AND incarnation = ?")) {
      raise.setString(1, worker.id());
      raise.setLong(2, worker.epoch());
      raise.setLong(3, worker.incarnation());
      raise.executeUpdate();
    }
  }
}
