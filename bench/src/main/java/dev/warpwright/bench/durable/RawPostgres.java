package dev.warpwright.bench.durable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import org.postgresql.PGConnection;

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
    }
    this.write = connection.prepareStatement(movesRuns ? FENCE + MOVED + EVENTS : FENCE + EVENTS);
  }

  @Override
  public void commit(List<Row> rows) throws SQLException {
    int count = rows.size();
    long[] runs = rows.stream().mapToLong(Row::run).toArray();
    long[] sequences = rows.stream().mapToLong(Row::sequence).toArray();
    long[] times = rows.stream().mapToLong(Row::timeNanos).toArray();
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
    column = set(column, "text", filled(count, TYPE));
    int[] versions = new int[count];
    Arrays.fill(versions, VERSION);
    column = set(column, "int4", versions);
    column = set(column, "text", filled(count, owner.name()));
    long[] epochs = new long[count];
    Arrays.fill(epochs, owner.epoch());
    column = set(column, "int8", epochs);
    column = set(column, "int8", times);
    short[] codecs = new short[count];
    Arrays.fill(codecs, (short) CODEC_JSON);
    column = set(column, "int2", codecs);
    byte[][] bodies = new byte[count][];
    Arrays.fill(bodies, BODY);
    set(column, "bytea", bodies);
    int written = write.executeUpdate();
    if (written != count) {
      throw new SQLException("Of " + count + " rows " + written + " were written.");
    }
  }

  private int set(int column, String type, Object array) throws SQLException {
    write.setArray(column, connection.unwrap(PGConnection.class).createArrayOf(type, array));
    return column + 1;
  }

  private static String[] filled(int count, String text) {
    String[] texts = new String[count];
    Arrays.fill(texts, text);
    return texts;
  }
}
