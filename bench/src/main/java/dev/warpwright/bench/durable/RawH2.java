package dev.warpwright.bench.durable;

import dev.warpwright.store.jdbc.JdbcRunStore.Durability;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** A batch of inserts in the process, then what the setting does for a commit. */
final class RawH2 extends RawLog {
  private final Durability durability;
  private final boolean movesRuns;
  private final PreparedStatement fence;
  private final PreparedStatement insert;
  private final PreparedStatement move;
  private final Statement plain;

  RawH2(Connection connection, Rows rows, Durability durability) throws SQLException {
    super(connection);
    connection.setAutoCommit(false);
    this.durability = durability;
    this.movesRuns = rows == Rows.EVENTS_AND_RUN;
    this.fence = connection.prepareStatement("SELECT epoch FROM ww_worker WHERE id = ? FOR UPDATE");
    this.insert =
        connection.prepareStatement(
            "INSERT INTO ww_event (run, sequence, append_id, type, version, writer, epoch,"
                + " time_nanos, codec, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.move =
        connection.prepareStatement(
            "UPDATE ww_run SET sequence = ?, updated_nanos = ? WHERE id = ?");
    this.plain = connection.createStatement();
  }

  @Override
  public void commit(List<Row> rows) throws SQLException {
    fence.setString(1, workerId);
    fence.executeQuery().close();
    for (Row row : rows) {
      insert.setLong(1, row.run());
      insert.setLong(2, row.sequence());
      insert.setLong(3, row.sequence()); // as the append id
      insert.setString(4, TYPE);
      insert.setInt(5, VERSION);
      insert.setString(6, owner.name());
      insert.setLong(7, owner.epoch());
      insert.setLong(8, row.timeNanos());
      insert.setInt(9, CODEC_JSON);
      insert.setBytes(10, BODY);
      insert.addBatch();
      if (movesRuns) {
        move.setLong(1, row.sequence());
        move.setLong(2, row.timeNanos());
        move.setLong(3, row.run());
        move.addBatch();
      }
    }
    insert.executeBatch();
    if (movesRuns) {
      move.executeBatch();
    }
    connection.commit();
    switch (durability) {
      case POWER -> plain.execute("CHECKPOINT SYNC");
      case PROCESS -> plain.execute("CHECKPOINT");
      case RELAXED -> {}
    }
  }
}
