package dev.warpwright.bench.durable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;

/** One statement and one round trip a batch, which commits itself. */
final class RawPostgres extends RawLog {
  private static final String FENCE =
      "WITH fence AS MATERIALIZED"
          + " (SELECT 1 FROM ww_worker WHERE id = ? AND epoch = ? FOR KEY SHARE)";

  private static final String MOVED =
      ", moved AS (UPDATE ww_run r SET sequence = x.sequence, updated_nanos = x.time_nanos"
          + " FROM fence, unnest(?::bigint[], ?::bigint[], ?::bigint[])"
          + " AS x (id, sequence, time_nanos) WHERE r.id = x.id)";

  private static final String EVENTS =
      " INSERT INTO ww_event (run, sequence, append_id, type, version, writer, epoch, time_nanos,"
          + " codec, body) SELECT x.* FROM fence, unnest(?::bigint[], ?::bigint[], ?::bigint[],"
          + " ?::text[], ?::int[], ?::text[], ?::bigint[], ?::bigint[], ?::smallint[], ?::bytea[])"
          + " AS x ON CONFLICT DO NOTHING";

  private final PreparedStatement write;
  private final boolean movesRuns;

  RawPostgres(Connection connection, Rows rows) throws SQLException {
    super(connection);
    this.movesRuns = rows == Rows.EVENTS_AND_RUN;
    try (Statement settings = connection.createStatement()) {
      // What a plan of an empty table would take; the table is not analysed in time.
      settings.execute("SET enable_seqscan = off");
      settings.execute("SET enable_hashjoin = off");
      settings.execute("SET enable_mergejoin = off");
      settings.execute("SET plan_cache_mode = force_generic_plan");
    }
    this.write = connection.prepareStatement(movesRuns ? FENCE + MOVED + EVENTS : FENCE + EVENTS);
  }

  @Override
  public void commit(List<Row> rows) throws SQLException {
    int count = rows.size();
    Long[] runs = numbers(rows, Row::run);
    Long[] sequences = numbers(rows, Row::sequence);
    Long[] times = numbers(rows, Row::timeNanos);
    write.setString(1, workerId);
    write.setLong(2, workerEpoch);
    int column = 3;
    if (movesRuns) {
      column = set(column, "int8", runs);
      column = set(column, "int8", sequences);
      column = set(column, "int8", times);
    }
    column = set(column, "int8", runs);
    column = set(column, "int8", sequences);
    column = set(column, "int8", sequences); // as append ids
    column = set(column, "text", filled(new String[count], TYPE));
    column = set(column, "int4", filled(new Integer[count], VERSION));
    column = set(column, "text", filled(new String[count], owner.name()));
    column = set(column, "int8", filled(new Long[count], owner.epoch()));
    column = set(column, "int8", times);
    column = set(column, "int2", filled(new Short[count], (short) CODEC_JSON));
    set(column, "bytea", filled(new byte[count][], BODY));
    int written = write.executeUpdate();
    if (written != count) {
      throw new SQLException("Of " + count + " rows " + written + " were written.");
    }
  }

  private static Long[] numbers(List<Row> rows, ToLongFunction<Row> column) {
    return rows.stream().mapToLong(column).boxed().toArray(Long[]::new);
  }

  /** An array of a type that the driver knows is sent in binary. */
  private int set(int column, String type, Object[] array) throws SQLException {
    write.setArray(column, connection.createArrayOf(type, array));
    return column + 1;
  }

  private static <T> T[] filled(T[] array, T value) {
    Arrays.fill(array, value);
    return array;
  }
}
