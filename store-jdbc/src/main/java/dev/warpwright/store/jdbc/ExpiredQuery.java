package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStatus;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Finds runs that have ended long ago, oldest first, in the order of an index. A child run whose
 * parent is in the table is left out; the parent is looked up by its key, for child runs only. That
 * is written as a value, not as EXISTS, for which PostgreSQL may read the whole table beforehand.
 *
 * @param isExpired see {@link Dialect#isExpired}
 */
record ExpiredQuery(String isExpired, Set<RunStatus> statuses, long beforeNanos) {
  private static final String RUNS =
      "SELECT r.tenant, r.user_id, r.namespace, r.run_id, r.sequence FROM ww_run r"
          + " WHERE (r.parent_run_id IS NULL OR (SELECT p.id FROM ww_run p"
          + " WHERE p.tenant = r.tenant AND p.user_id = r.user_id AND p.namespace = r.namespace"
          + " AND p.run_id = r.parent_run_id) IS NULL) AND ";

  /** How many events one commit deletes, so that writers do not wait long for it. */
  private static final int MAX_DELETED_EVENTS = 5_000;

  /** Reads so many of them, in parts of which each goes into one commit. */
  List<List<RunKey>> read(Connection connection, int limit) throws SQLException {
    List<List<RunKey>> parts = new ArrayList<>();
    long events = 0;
    try (PreparedStatement select = prepare(connection, "", limit);
        ResultSet row = select.executeQuery()) {
      while (row.next()) {
        events += row.getLong(5);
        if (parts.isEmpty() || events > MAX_DELETED_EVENTS) {
          parts.add(new ArrayList<>());
          events = row.getLong(5);
        }
        parts.getLast().add(ListQuery.readKey(row, 1));
      }
    }
    return parts;
  }

  private PreparedStatement prepare(Connection connection, String verb, int limit)
      throws SQLException {
    PreparedStatement select =
        connection.prepareStatement(
            verb
                + RUNS
                + isExpired.formatted(ListQuery.names(statuses))
                + " FETCH FIRST ? ROWS ONLY");
    select.setLong(1, beforeNanos);
    select.setInt(2, limit);
    return select;
  }

  /** How the database reads them; for tests. */
  String plan(Connection connection, int limit) throws SQLException {
    try (PreparedStatement explain = prepare(connection, "EXPLAIN ", limit);
        ResultSet row = explain.executeQuery()) {
      StringBuilder plan = new StringBuilder();
      while (row.next()) {
        plan.append(row.getString(1)).append('\n');
      }
      return plan.toString();
    }
  }
}
