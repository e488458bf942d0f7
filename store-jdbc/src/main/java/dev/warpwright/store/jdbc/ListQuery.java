package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunSummary;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Lists runs by one index, whichever statuses are wanted: each status is a range of the index in
 * the wanted order, cut at the limit, and one statement merges the ranges. The order of a range
 * names all columns of the index, though the first four are constant in it, because H2 recognises
 * the index only then.
 */
final class ListQuery {
  private static final String RANGE =
      "(SELECT run_id, agent_id, idempotency_key, status, sequence, created_nanos, updated_nanos"
          + " FROM ww_run WHERE tenant = ? AND user_id = ? AND namespace = ? AND status = ?";
  private static final String AFTER =
      " AND updated_nanos <= ? AND (updated_nanos < ? OR run_id > ?)";
  private static final String RANGE_END =
      " ORDER BY tenant, user_id, namespace, status, updated_nanos DESC, run_id"
          + " FETCH FIRST ? ROWS ONLY)";
  private static final String END = " ORDER BY updated_nanos DESC, run_id FETCH FIRST ? ROWS ONLY";

  private ListQuery() {}

  static List<RunSummary> read(Connection connection, RunQuery query) throws SQLException {
    List<RunSummary> runs = new ArrayList<>();
    try (PreparedStatement select = prepare(connection, "", query);
        ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        runs.add(read(rows, query.scope()));
      }
    }
    return List.copyOf(runs);
  }

  /** How the database reads it; for tests. */
  static String plan(Connection connection, RunQuery query) throws SQLException {
    try (PreparedStatement explain = prepare(connection, "EXPLAIN ", query);
        ResultSet rows = explain.executeQuery()) {
      return rows.next() ? rows.getString(1) : "";
    }
  }

  private static PreparedStatement prepare(Connection connection, String verb, RunQuery query)
      throws SQLException {
    Set<RunStatus> statuses =
        query.statuses().isEmpty() ? Set.of(RunStatus.values()) : query.statuses();
    RunSummary after = query.after().orElse(null);
    String range = RANGE + (after == null ? "" : AFTER) + RANGE_END;
    boolean merged = statuses.size() > 1; // H2 takes no order after a single range
    String sql =
        String.join(" UNION ALL ", Collections.nCopies(statuses.size(), range))
            + (merged ? END : "");
    PreparedStatement select = connection.prepareStatement(verb + sql);
    int column = 0;
    for (RunStatus status : statuses) {
      column = JournalSession.setScope(select, column, query.scope());
      select.setString(++column, status.name());
      if (after != null) {
        select.setLong(++column, Times.nanos(after.updated()));
        select.setLong(++column, Times.nanos(after.updated()));
        select.setString(++column, after.run().runId());
      }
      select.setInt(++column, query.limit());
    }
    if (merged) {
      select.setInt(++column, query.limit());
    }
    return select;
  }

  private static RunSummary read(ResultSet row, RunScope scope) throws SQLException {
    return new RunSummary(
        new RunKey(scope, row.getString(1)),
        row.getString(2),
        Optional.ofNullable(row.getString(3)),
        RunStatus.valueOf(row.getString(4)),
        row.getLong(5),
        Times.instant(row.getLong(6)),
        Times.instant(row.getLong(7)));
  }
}
