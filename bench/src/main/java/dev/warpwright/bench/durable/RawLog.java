package dev.warpwright.bench.durable;

import dev.warpwright.bench.load.Load;
import dev.warpwright.bench.load.Meter;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The limit that a store is compared with: the same rows in the same tables, under the same fence,
 * by one connection with natural group commit, and nothing else. It judges nothing, encodes
 * nothing, and could not go on after a failure.
 */
abstract sealed class RawLog implements GroupCommit.Sink<RawLog.Row>, AutoCloseable
    permits RawPostgres, RawH2 {
  static final byte[] BODY = RunEventCodec.encode(Appends.EVENT);
  static final String TYPE = RunEventCodec.type(Appends.EVENT);
  static final int VERSION = RunEventCodec.version(Appends.EVENT);
  static final int CODEC_JSON = 1;

  /**
   * An event to be written.
   *
   * @param run the run's internal id
   * @param sequence the event's place in the log
   * @param timeNanos when it happened
   */
  record Row(long run, long sequence, long timeNanos) {}

  /** What is written for an event. */
  enum Rows {
    /** The event alone. */
    EVENTS,
    /** The event, and the row of its run is moved on. */
    EVENTS_AND_RUN
  }

  final Connection connection;
  final String workerId;
  final long workerEpoch;
  final Writer owner;

  RawLog(Connection connection) throws SQLException {
    this.connection = connection;
    try (PreparedStatement worker = connection.prepareStatement("SELECT id, epoch FROM ww_worker");
        ResultSet row = worker.executeQuery()) {
      row.next();
      this.workerId = row.getString(1);
      this.workerEpoch = row.getLong(2);
    }
    this.owner = new Writer("bench#1", workerEpoch);
  }

  /** Makes a run for each caller, in tables that the store makes, and gives their internal ids. */
  static List<Long> createRuns(Database database, int callers) throws SQLException {
    try (RunStore store = database.open()) {
      for (int n = 0; n < callers; n++) {
        Appends.create(store, new RunKey(RunScope.DEFAULT, "append-" + n));
      }
    }
    List<Long> ids = new ArrayList<>();
    try (Connection connection = database.connect();
        PreparedStatement runs = connection.prepareStatement("SELECT id FROM ww_run ORDER BY id");
        ResultSet row = runs.executeQuery()) {
      while (row.next()) {
        ids.add(row.getLong(1));
      }
    }
    return ids;
  }

  static RawLog open(Database database, Rows rows) throws SQLException {
    Connection connection = database.connect();
    return database.kind().isH2()
        ? new RawH2(connection, rows, database.kind().durability().orElseThrow())
        : new RawPostgres(connection, rows);
  }

  /** A caller that waits for each of its rows. */
  static Load.Call caller(GroupCommit<Row> log, long run, Meter meter) {
    return new Load.Call() {
      private long sequence = 1;

      @Override
      public void once() {
        log.append(new Row(run, ++sequence, System.currentTimeMillis() * 1_000_000));
        meter.unit();
      }
    };
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
