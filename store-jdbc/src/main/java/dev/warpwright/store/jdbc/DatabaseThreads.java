package dev.warpwright.store.jdbc;

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

/**
 * A few threads that do jobs in the order in which they come, each on a connection of its own, so
 * that no thread of a caller, which may be interrupted, ever touches one.
 *
 * <p>A job that fails on a connection from before is tried once more on a fresh one: it must be
 * right to do it twice, also if the first time has taken place.
 */
final class DatabaseThreads {
  private static final Logger LOG = LoggerFactory.getLogger(DatabaseThreads.class);

  private final Connector connector;
  private final boolean freshFirst;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition notEmpty = lock.newCondition();
  private final ArrayDeque<Job> jobs = new ArrayDeque<>(); // guarded by lock
  private boolean closed; // guarded by lock
  private int serving; // guarded by lock: threads that have not ended
  private @Nullable Job last; // guarded by lock
  private final List<Thread> threads;

  /** Where connections come from, ready for the jobs. */
  @FunctionalInterface
  interface Connector {
    Connection connect() throws SQLException;
  }

  /** What is done on one of the threads. */
  interface Job {
    /** Whether anybody still wants it. */
    default boolean begin() {
      return true;
    }

    /** Does it; called a second time if the first fails on a connection from before. */
    void run(Connection connection) throws SQLException;

    /** It failed for good. */
    void fail(Throwable cause);
  }

  /**
   * Starts the threads.
   *
   * @param names what their names begin with
   * @param count how many there are
   * @param freshFirst whether a new connection must be there before the old one closes
   * @param first the connection of the first thread, if there is one already; others are taken when
   *     there is something to do
   */
  DatabaseThreads(
      String names,
      int count,
      Connector connector,
      boolean freshFirst,
      @Nullable Connection first) {
    this.connector = connector;
    this.freshFirst = freshFirst;
    this.serving = count;
    this.threads =
        IntStream.rangeClosed(1, count)
            .mapToObj(
                n ->
                    Thread.ofPlatform()
                        .name(names + "-" + n)
                        .daemon()
                        .start(() -> serve(n == 1 ? first : null)))
            .toList();
  }

  /**
   * Adds a job.
   *
   * @throws IllegalStateException if the store is closed
   */
  void submit(Job job) {
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
  }

  private void serve(@Nullable Connection first) {
    Connection connection = first;
    Job job;
    while ((job = next()) != null) {
      connection = serve(job, connection);
    }
    Job atTheEnd = leave();
    if (atTheEnd != null) {
      connection = serve(atTheEnd, connection);
    }
    close(connection);
  }

  private @Nullable Connection serve(Job job, @Nullable Connection connection) {
    try {
      return answer(job, connection);
    } catch (SQLException | RuntimeException | Error e) {
      job.fail(e);
      return null;
    }
  }

  /** The thread has nothing more to do; the last one does what is to be done at the end. */
  private @Nullable Job leave() {
    lock.lock();
    try {
      serving--;
      return serving == 0 ? last : null;
    } finally {
      lock.unlock();
    }
  }

  /** Does a job, and returns the connection for the next one; there is none if it fails. */
  private Connection answer(Job job, @Nullable Connection existing) throws SQLException {
    if (existing != null) {
      try {
        job.run(existing);
        return existing;
      } catch (SQLException e) {
        LOG.debug("A job failed; it is tried again on another connection.", e);
      } catch (RuntimeException | Error e) {
        close(existing);
        throw e;
      }
    }
    Connection fresh = replace(existing);
    try {
      job.run(fresh);
      return fresh;
    } catch (SQLException | RuntimeException | Error e) {
      close(fresh);
      throw e;
    }
  }

  private Connection replace(@Nullable Connection existing) throws SQLException {
    if (!freshFirst) {
      close(existing); // it may be the last one that a pool has
      return connector.connect();
    }
    try {
      return connector.connect();
    } finally {
      close(existing);
    }
  }

  private @Nullable Job next() {
    lock.lock();
    try {
      while (true) {
        Job job = jobs.poll();
        if (job == null) {
          if (closed) {
            return null;
          }
          notEmpty.awaitUninterruptibly();
        } else if (job.begin()) {
          return job;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Refuses new jobs; see {@link #closeAfter}. */
  void close() {
    closeAfter(null);
  }

  /**
   * Refuses new jobs; those that are queued are done, then the threads end. Waits for that, not
   * interruptibly.
   *
   * @param atTheEnd what is done when nothing else is under way any more
   */
  void closeAfter(@Nullable Job atTheEnd) {
    lock.lock();
    try {
      if (!closed) {
        last = atTheEnd;
      }
      closed = true;
      notEmpty.signalAll();
    } finally {
      lock.unlock();
    }
    threads.forEach(Threads::join);
  }

  private static void close(@Nullable Connection connection) {
    if (connection == null) {
      return;
    }
    try {
      connection.close();
    } catch (SQLException e) {
      LOG.debug("A connection did not close.", e);
    }
  }
}
