package dev.warpwright.store.jdbc;

import dev.warpwright.model.StoreException;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;

/** The threads that read, each on a connection of its own. */
final class Readers {
  private static final int THREADS = 2;

  private final CommitFence fence;
  private final TimeSource time;
  private final long graceNanos;
  private final DatabaseThreads threads;

  /** What is read, on a reader's thread. */
  @FunctionalInterface
  interface Query<T> {
    T read(Connection connection) throws SQLException;
  }

  private record Reading<T>(Query<T> query, Pending<T> pending) implements DatabaseThreads.Job {
    @Override
    public boolean begin() {
      return pending.begin();
    }

    @Override
    public void run(Connection connection) throws SQLException {
      pending.settle(new Verdict.Done<>(query.read(connection)));
    }

    @Override
    public void fail(Throwable cause) {
      pending.settle(
          new Verdict.Refused<>(
              () -> new StoreException("The store failed to read: " + cause.getMessage(), cause)));
    }
  }

  Readers(Dialect dialect, CommitFence fence, TimeSource time, long graceNanos) {
    this.fence = fence;
    this.time = time;
    this.graceNanos = graceNanos;
    this.threads =
        new DatabaseThreads(
            "warpwright-store-reader", THREADS, () -> connect(dialect), false, null);
  }

  private static Connection connect(Dialect dialect) throws SQLException {
    Connection connection = dialect.connect();
    try {
      connection.setAutoCommit(true);
      return connection;
    } catch (SQLException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  /** Reads, and waits until what was seen is durable. */
  <T> T read(Query<T> query, Deadline deadline) {
    Reading<T> reading = new Reading<>(query, new Pending<>());
    threads.submit(reading);
    Verdict<T> late = new Verdict.Refused<>(Readers::late);
    Patience patience = new Patience(deadline, graceNanos, time);
    T value = reading.pending().await(patience, late, late).get();
    if (!fence.await(patience)) {
      throw late();
    }
    return value;
  }

  private static StoreException late() {
    return new StoreException(
        "The store did not answer until the deadline; reading again does no harm.", null);
  }

  /** Refuses new queries, and waits until those that are queued are answered. */
  void close() {
    threads.close();
  }
}
