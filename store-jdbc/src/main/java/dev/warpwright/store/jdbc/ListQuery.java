package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Lists runs by one index, whichever statuses are wanted: each status is a range of the index in
 * the wanted order, cut at the limit, and one statement merges the ranges, with the few runs that
 * the index leaves out. The order of a range names all columns of the index, though the first four
 * are constant in it, because H2 recognises the index only then. What is asked for by metadata, or
 * quarantined, is found first and sorted then, as it is not much.
 */
final class ListQuery {
  /** The columns that {@link #read(ResultSet, RunScope)} wants, in its order. */
  static final String COLUMNS =
      "run_id, agent_id, idempotency_key, status, due_nanos, sequence, created_nanos,"
          + " updated_nanos, claims, problem, signals";

  private static final String SCOPE =
      "SELECT " + COLUMNS + " FROM ww_run WHERE tenant = ? AND user_id = ? AND namespace = ?";
  private static final String AFTER = " AND %1$s <= ? AND (%1$s < ? OR run_id > ?)";
  private static final String NOTED =
      " AND id IN (SELECT run FROM ww_run_metadata WHERE name = ? AND note = ?)";
  private static final String END = " ORDER BY updated_nanos DESC, run_id FETCH FIRST ? ROWS ONLY";

  private static final String UPDATED = "updated_nanos";

  /**
   * The index: scope, status, a time descending, run id.
   *
   * @param time its column of the time of a run's last event
   * @param others what is true of the runs that it leaves out, in which that column is null
   */
  record Index(String time, Optional<String> others) {}

  private ListQuery() {}

  static List<RunSummary> read(Connection connection, RunQuery query, Index index)
      throws SQLException {
    if (!query.metadata().entrySet().stream()
        .allMatch(note -> JournalSession.isSearchable(note.getKey(), note.getValue()))) {
      return List.of();
    }
    try (PreparedStatement select = prepare(connection, "", query, index)) {
      return read(select, query.scope());
    }
  }

  /** Reads all rows of a statement. */
  static List<RunSummary> read(PreparedStatement select, RunScope scope) throws SQLException {
    List<RunSummary> runs = new ArrayList<>();
    try (ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        runs.add(read(rows, scope));
      }
    }
    return List.copyOf(runs);
  }

  /** How the database reads it; for tests. */
  static String plan(Connection connection, RunQuery query, Index index) throws SQLException {
    try (PreparedStatement explain = prepare(connection, "EXPLAIN ", query, index);
        ResultSet rows = explain.executeQuery()) {
      StringBuilder plan = new StringBuilder();
      while (rows.next()) {
        plan.append(rows.getString(1)).append('\n');
      }
      return plan.toString();
    }
  }

  private static PreparedStatement prepare(
      Connection connection, String verb, RunQuery query, Index index) throws SQLException {
    return query.metadata().isEmpty() && !query.quarantined()
        ? prepareRanges(connection, verb, query, index)
        : prepareSearch(connection, verb, query);
  }

  private static PreparedStatement prepareRanges(
      Connection connection, String verb, RunQuery query, Index index) throws SQLException {
    Set<RunStatus> statuses =
        query.statuses().isEmpty() ? Set.of(RunStatus.values()) : query.statuses();
    String range =
        part(
            " AND status = ?"
                + index.others().map(others -> " AND " + index.time() + " IS NOT NULL").orElse(""),
            query,
            index.time(),
            "tenant, user_id, namespace, status, ");
    List<String> parts = new ArrayList<>(Collections.nCopies(statuses.size(), range));
    index
        .others()
        .ifPresent(
            others ->
                parts.add(
                    part(
                        " AND " + others + " AND status IN " + names(statuses),
                        query,
                        UPDATED,
                        "")));
    boolean merged = parts.size() > 1; // H2 takes no order after a single range
    String sql = String.join(" UNION ALL ", parts) + (merged ? END : "");
    PreparedStatement select = connection.prepareStatement(verb + sql);
    int column = 0;
    for (RunStatus status : statuses) {
      column = JournalSession.setScope(select, column, query.scope());
      select.setString(++column, status.name());
      column = setPage(select, column, query);
    }
    if (index.others().isPresent()) {
      column = JournalSession.setScope(select, column, query.scope());
      column = setPage(select, column, query);
    }
    if (merged) {
      select.setInt(++column, query.limit());
    }
    return select;
  }

  /** A select of the runs of a scope of which something is true, cut at the limit. */
  private static String part(String which, RunQuery query, String time, String constants) {
    return "("
        + SCOPE
        + which
        + (query.after().isEmpty() ? "" : AFTER.formatted(time))
        + " ORDER BY "
        + constants
        + time
        + " DESC, run_id FETCH FIRST ? ROWS ONLY)";
  }

  private static int setPage(PreparedStatement select, int before, RunQuery query)
      throws SQLException {
    int column = setAfter(select, before, query);
    select.setInt(++column, query.limit());
    return column;
  }

  private static PreparedStatement prepareSearch(Connection connection, String verb, RunQuery query)
      throws SQLException {
    String sql =
        SCOPE
            + (query.quarantined() ? " AND claims >= " + RunStore.MAX_CLAIMS : "")
            + NOTED.repeat(query.metadata().size())
            + (query.statuses().isEmpty() ? "" : " AND status IN " + names(query.statuses()))
            + (query.after().isEmpty() ? "" : AFTER.formatted(UPDATED))
            + END;
    PreparedStatement select = connection.prepareStatement(verb + sql);
    int column = JournalSession.setScope(select, 0, query.scope());
    for (Map.Entry<String, String> note : query.metadata().entrySet()) {
      select.setString(++column, note.getKey());
      select.setString(++column, note.getValue());
    }
    column = setAfter(select, column, query);
    select.setInt(++column, query.limit());
    return select;
  }

  private static int setAfter(PreparedStatement select, int before, RunQuery query)
      throws SQLException {
    if (query.after().isEmpty()) {
      return before;
    }
    RunSummary after = query.after().get();
    select.setLong(before + 1, Times.nanos(after.updated()));
    select.setLong(before + 2, Times.nanos(after.updated()));
    select.setString(before + 3, after.run().runId());
    return before + 3;
  }

  /** A list of statuses as SQL has it; constants, so that a partial index can be used. */
  static String names(Set<RunStatus> statuses) {
    return statuses.stream()
        .map(status -> "'" + status.name() + "'")
        .sorted()
        .collect(Collectors.joining(", ", "(", ")"));
  }

  private static RunSummary read(ResultSet row, RunScope scope) throws SQLException {
    return new RunSummary(
        new RunKey(scope, row.getString(1)),
        row.getString(2),
        Optional.ofNullable(row.getString(3)),
        RunRow.standing(
            RunStatus.valueOf(row.getString(4)), row.getObject(5, Long.class), row.getString(11)),
        row.getLong(6),
        Times.instant(row.getLong(7)),
        Times.instant(row.getLong(8)),
        row.getInt(9),
        Optional.ofNullable(row.getString(10)));
  }

  /** Reads tenant, user, namespace and run id, the first of which is at a column. */
  static RunKey readKey(ResultSet row, int column) throws SQLException {
    RunScope scope =
        new RunScope(
            row.getString(column),
            present(row.getString(column + 1)),
            present(row.getString(column + 2)));
    return new RunKey(scope, row.getString(column + 3));
  }

  private static Optional<String> present(String text) {
    return text.isEmpty() ? Optional.empty() : Optional.of(text);
  }
}
