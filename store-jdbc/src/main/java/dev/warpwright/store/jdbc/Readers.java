package dev.warpwright.store.jdbc;

import dev.warpwright.model.StoreException;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads that read, each on a connection of its own. */
final class Readers {
  private static final Logger LOG = LoggerFactory.getLogger(Readers.class);
  private static final int THREADS = 2;

  private final Dialect dialect;
  private final CommitFence fence;
  private final TimeSource time;
  private final long graceNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition notEmpty = lock.newCondition();
  private final ArrayDeque<Job<?>> jobs = new ArrayDeque<>(); // guarded by lock
  private boolean closed; // guarded by lock
  private final List<Thread> threads;

  /** What is read, on a reader's thread. */
  @FunctionalInterface
  interface Query<T> {
    T read(Connection connection) throws SQLException;
  }

  private record Job<T>(Query<T> query, Pending<T> pending) {
    void run(Connection connection) throws SQLException {
      pending.settle(new Verdict.Done<>(query.read(connection)));
    }

    void fail(Throwable cause) {
      pending.settle(
          new Verdict.Refused<>(
              () -> new StoreException("The store failed to read: " + cause.getMessage(), cause)));
    }
  }

  Readers(Dialect dialect, CommitFence fence, TimeSource time, long graceNanos) {
    this.dialect = dialect;
    this.fence = fence;
    this.time = time;
    this.graceNanos = graceNanos;
    this.threads =
        IntStream.rangeClosed(1, THREADS)
            .mapToObj(
                n ->
                    Thread.ofPlatform()
                        .name("warpwright-store-reader-" + n)
                        .daemon()
                        .start(this::serve))
            .toList();
  }

  List<Thread> threads() {
    return threads;
  }

  /** Reads, and waits until what was seen is durable. */
  <T> T read(Query<T> query, Deadline deadline) {
    Job<T> job = new Job<>(query, new Pending<>());
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("The store is closed.");
      }
      jobs.add(job);
      notEmpty.signal();
    } finally {
      lock.unlock();
    }
    Verdict<T> late = new Verdict.Refused<>(Readers::late);
    Patience patience = new Patience(deadline, graceNanos, time);
    T value = job.pending().await(patience, late, late).get();
    if (!fence.await(patience)) {
      throw late();
    }
    return value;
  }

  private static StoreException late() {
    return new StoreException(
        "The store did not answer until the deadline; reading again does no harm.", null);
  }

  private void serve() {
    Connection connection = null;
    Job<?> job;
    while ((job = next()) != null) {
      try {
        connection = answer(job, connection);
      } catch (SQLException | RuntimeException | Error e) {
        close(connection);
        connection = null;
        job.fail(e);
      }
    }
    close(connection);
  }

  /** Answers a job; one that fails on a connection from before is tried again on a fresh one. */
  private Connection answer(Job<?> job, @Nullable Connection existing) throws SQLException {
    if (existing != null) {
      try {
        job.run(existing);
        return existing;
      } catch (SQLException e) {
        LOG.debug("A read failed; it is tried again on another connection.", e);
        close(existing);
      }
    }
    Connection fresh = dialect.connect();
    try {
      fresh.setAutoCommit(true);
      job.run(fresh);
      return fresh;
    } catch (SQLException | RuntimeException | Error e) {
      close(fresh);
      throw e;
    }
  }

  private @Nullable Job<?> next() {
    lock.lock();
    try {
      while (true) {
        Job<?> job = jobs.poll();
        if (job == null) {
          if (closed) {
            return null;
          }
          notEmpty.awaitUninterruptibly();
        } else if (job.pending().begin()) {
          return job;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Refuses new queries; those that are queued are answered, then the threads end. */
  void close() {
    lock.lock();
    try {
      closed = true;
      notEmpty.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private static void close(@Nullable Connection connection) {
    if (connection == null) {
      return;
    }
    try {
      connection.close();
    } catch (SQLException e) {
      LOG.debug("A connection of a reader did not close.", e);
    }
  }
}
