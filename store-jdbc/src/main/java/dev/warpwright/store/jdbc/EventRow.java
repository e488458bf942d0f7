package dev.warpwright.store.jdbc;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.Writer;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An event as the table has it; made and read on callers' threads, which have the time for it. */
final class EventRow {
  private static final int CODEC_JSON = 1;

  /** The columns that {@link #read} wants, in its order. */
  static final String COLUMNS = "sequence, type, version, writer, epoch, time_nanos, codec, body";

  /** What a row takes beside its body, roughly. */
  private static final int OVERHEAD_BYTES = 200;

  final long sequence;
  final String type;
  final int version;
  final int codec;
  final byte[] body;
  final @Nullable Writer writer; // null: not known before the commit
  final long timeNanos;

  private EventRow(
      long sequence,
      String type,
      int version,
      int codec,
      byte[] body,
      @Nullable Writer writer,
      long timeNanos) {
    this.sequence = sequence;
    this.type = type;
    this.version = version;
    this.codec = codec;
    this.body = body;
    this.writer = writer;
    this.timeNanos = timeNanos;
  }

  static EventRow of(long sequence, RunEvent event, long timeNanos) {
    return new EventRow(
        sequence,
        RunEventCodec.type(event),
        RunEventCodec.version(event),
        CODEC_JSON,
        RunEventCodec.encode(event),
        null,
        timeNanos);
  }

  /** An event as another store or a result gave it. */
  static EventRow of(LoggedEvent logged) {
    return new EventRow(
        logged.sequence(),
        RunEventCodec.type(logged.event()),
        RunEventCodec.version(logged),
        CODEC_JSON,
        RunEventCodec.encode(logged),
        logged.writer(),
        Times.nanos(logged.time()));
  }

  static EventRow read(ResultSet row) throws SQLException {
    return new EventRow(
        row.getLong(1),
        row.getString(2),
        row.getInt(3),
        row.getInt(7),
        row.getBytes(8),
        new Writer(row.getString(4), row.getLong(5)),
        row.getLong(6));
  }

  LoggedEvent decode(RunKey run) {
    if (codec != CODEC_JSON) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The event %d of the run %s is written in codec %d; this version of Warpwright knows %d."
              .formatted(sequence, run, codec, CODEC_JSON));
    }
    return RunEventCodec.decode(
        run,
        sequence,
        Objects.requireNonNull(writer),
        Times.instant(timeNanos),
        type,
        version,
        body);
  }

  long bytes() {
    return body.length + (long) OVERHEAD_BYTES;
  }
}
