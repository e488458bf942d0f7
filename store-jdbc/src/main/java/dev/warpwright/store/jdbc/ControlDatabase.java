package dev.warpwright.store.jdbc;

import dev.warpwright.model.StoreException;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a control that several processes share has of the database: threads that do its
 * transactions, and the lease by which the others know that it lives.
 *
 * <p>Each transaction is done again on a fresh connection if it fails, also if its commit got no
 * answer and may have taken place. So all of them are such that the second time changes nothing.
 */
final class ControlDatabase {
  private static final Logger LOG = LoggerFactory.getLogger(ControlDatabase.class);

  private final Dialect dialect;
  private final Duration timeout;
  private final TimeSource time;
  private final ControlLease lease;
  private final DatabaseThreads threads;
  private volatile @Nullable Runnable leaseTakenAnew;
  private volatile @Nullable Alarm nextBeat;
  private volatile boolean closed;

  /**
   * How a control is opened.
   *
   * @param name what its threads are named after
   * @param leases the table of its leases
   * @param connections how many threads and connections it has
   * @param lease how long it counts as alive without a sign
   * @param timeout how long a caller waits for an answer
   */
  record Settings(
      String name,
      String leases,
      int connections,
      Duration lease,
      Duration timeout,
      TimeSource time) {}

  /** Statements of one transaction; the commit is made for them. */
  @FunctionalInterface
  interface Work<T extends @Nullable Object> {
    T run(Connection connection) throws SQLException;
  }

  private ControlDatabase(
      Dialect dialect, Settings settings, ControlLease lease, Connection first) {
    this.dialect = dialect;
    this.timeout = settings.timeout();
    this.time = settings.time();
    this.lease = lease;
    this.threads =
        new DatabaseThreads(
            "warpwright-store-" + settings.name(),
            settings.connections(),
            this::connect,
            dialect.livesInItsConnections(),
            first);
  }

  /**
   * Checks the database, brings its schema to this version and takes the lease; on a thread of its
   * own, for which the caller waits, not interruptibly.
   */
  static ControlDatabase open(Dialect dialect, Settings settings) {
    ControlLease lease =
        new ControlLease(settings.leases(), settings.lease(), dialect, settings.time());
    AtomicReference<Verdict<Connection>> opened = new AtomicReference<>();
    Thread opener =
        Thread.ofPlatform()
            .name("warpwright-store-" + settings.name() + "-open")
            .daemon()
            .start(() -> opened.set(tryOpen(dialect, lease)));
    Threads.join(opener);
    return new ControlDatabase(dialect, settings, lease, opened.get().get());
  }

  private static Verdict<Connection> tryOpen(Dialect dialect, ControlLease lease) {
    try {
      dialect.prepare();
      Connection connection = dialect.connect();
      try {
        dialect.migrate();
        dialect.prepareControl(connection);
        lease.keep(connection);
        dialect.opened();
        return new Verdict.Done<>(connection);
      } catch (SQLException | RuntimeException e) {
        connection.close();
        throw e;
      }
    } catch (SQLException e) {
      return new Verdict.Refused<>(() -> dialect.cannotOpen(e));
    } catch (RuntimeException e) {
      return new Verdict.Refused<>(() -> e);
    }
  }

  private Connection connect() throws SQLException {
    Connection connection = dialect.connect();
    try {
      dialect.prepareControl(connection);
      return connection;
    } catch (SQLException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  ControlLease lease() {
    return lease;
  }

  /**
   * Begins to renew the lease from time to time.
   *
   * @param sweep what is done each time
   * @param takenAnew called on a thread of the store when the lease had been lost, and with it what
   *     refers to it
   */
  void startBeating(Work<?> sweep, Runnable takenAnew) {
    leaseTakenAnew = takenAnew;
    armBeat(sweep);
  }

  private void armBeat(Work<?> sweep) {
    nextBeat = time.alarm(time.nanoTime() + lease.renewalNanos(), () -> submit(new Beat(sweep)));
    if (closed) {
      cancelBeat();
    }
  }

  private void cancelBeat() {
    Alarm alarm = nextBeat;
    if (alarm != null) {
      alarm.cancel();
    }
  }

  /** Submits a job; false if the control is closed. */
  boolean submit(DatabaseThreads.Job job) {
    try {
      threads.submit(job);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  private final class Beat implements DatabaseThreads.Job {
    private final Work<?> sweep;

    Beat(Work<?> sweep) {
      this.sweep = sweep;
    }

    @Override
    public void run(Connection connection) throws SQLException {
      lease.lost(); // so that it is renewed now
      transaction(connection, sweep);
      armBeat(sweep);
    }

    @Override
    public void fail(Throwable cause) {
      LOG.warn("A control could not renew its lease, and tries again: {}", cause.toString());
      LOG.debug("The failure", cause);
      armBeat(sweep);
    }
  }

  private void keepLease(Connection connection) throws SQLException {
    Runnable takenAnew = leaseTakenAnew;
    if (lease.keep(connection) && takenAnew != null) {
      takenAnew.run();
    }
  }

  /** Something that is done on the connection and rolled back if it fails. */
  @FunctionalInterface
  private interface Step<T extends @Nullable Object> {
    T run() throws SQLException;
  }

  private static <T extends @Nullable Object> T transact(Connection connection, Step<T> step)
      throws SQLException {
    try {
      T value = step.run();
      connection.commit();
      return value;
    } catch (SQLException | RuntimeException | Error e) {
      try {
        connection.rollback();
      } catch (SQLException later) {
        e.addSuppressed(later);
      }
      throw e;
    }
  }

  /** Does a transaction on one of the threads, under a lease that is not about to end. */
  <T extends @Nullable Object> T transaction(Connection connection, Work<T> work)
      throws SQLException {
    try {
      return attempt(connection, work);
    } catch (SQLException e) {
      if (!isWithoutLease(e)) {
        throw e;
      }
      lease.lost();
      return attempt(connection, work);
    }
  }

  private <T extends @Nullable Object> T attempt(Connection connection, Work<T> work)
      throws SQLException {
    T value =
        transact(
            connection,
            () -> {
              keepLease(connection);
              dialect.beginControl(connection);
              return work.run(connection);
            });
    dialect.syncControl(connection);
    connection.commit();
    return value;
  }

  /** Takes back what a transaction has done so far, and begins it again. */
  void restart(Connection connection) throws SQLException {
    connection.rollback();
    dialect.beginControl(connection);
  }

  /** Whether a row was refused because the row of the lease that it refers to is not there. */
  private static boolean isWithoutLease(SQLException e) {
    return "23503".equals(e.getSQLState()) || "23506".equals(e.getSQLState());
  }

  /** Whether a row was refused because there is one with its key. */
  static boolean isDuplicate(SQLException e) {
    return "23505".equals(e.getSQLState());
  }

  /** Does a transaction and waits for it, not interruptibly, at most for the timeout. */
  <T> T call(String what, Work<T> work) {
    Call<T> call = new Call<>(work, what);
    threads.submit(call);
    return call.pending.await(patience(), withdrawn(what), unknown(what, null)).get();
  }

  /**
   * Does a transaction and waits for it, at most for the timeout or until the thread is
   * interrupted.
   *
   * @param takeBack called on a thread of the store if the transaction has taken place, or may
   *     have, and the caller does not learn it
   */
  <T> T callInterruptibly(String what, Work<T> work, Runnable takeBack)
      throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    Call<T> call =
        new Call<>(work, what) {
          @Override
          void undelivered() {
            takeBack.run();
          }
        };
    threads.submit(call);
    return call.pending.awaitInterruptibly(patience(), withdrawn(what), unknown(what, null)).get();
  }

  private Patience patience() {
    return new Patience(Deadline.after(time, timeout), 0, time);
  }

  private <T> Verdict<T> withdrawn(String what) {
    return new Verdict.Refused<>(
        () ->
            new StoreException(
                "The database did not begin within "
                    + timeout
                    + " (timeout) "
                    + what
                    + "; nothing was changed.",
                null));
  }

  private static <T> Verdict<T> unknown(String what, @Nullable Throwable cause) {
    return new Verdict.Refused<>(
        () ->
            new StoreException(
                "The database failed or did not answer in time "
                    + what
                    + "; whether that was done is unknown, and it can be tried again.",
                cause));
  }

  /** A transaction for which a caller waits. */
  private class Call<T> implements DatabaseThreads.Job {
    final Pending<T> pending = new Pending<>();
    private final Work<T> work;
    private final String what;

    Call(Work<T> work, String what) {
      this.work = work;
      this.what = what;
    }

    @Override
    public boolean begin() {
      return pending.begin();
    }

    @Override
    public void run(Connection connection) throws SQLException {
      T value = transaction(connection, work);
      if (!pending.settle(new Verdict.Done<>(value))) {
        undelivered();
      }
    }

    @Override
    public void fail(Throwable cause) {
      pending.settle(unknown(what, cause));
      undelivered();
    }

    /** It has taken place, or may have, and the caller does not learn it. */
    void undelivered() {}
  }

  /**
   * Does what is queued and, when nothing is under way any more, one more transaction; then the
   * connections are closed. Waits for that, not interruptibly.
   */
  void close(Work<?> last) {
    closed = true;
    cancelBeat();
    threads.closeAfter(
        new DatabaseThreads.Job() {
          @Override
          public void run(Connection connection) throws SQLException {
            transact(connection, () -> last.run(connection));
            dialect.syncControl(connection);
          }

          @Override
          public void fail(Throwable cause) {
            LOG.warn(
                "A control could not give up its lease, which ends by itself: {}",
                cause.toString());
          }
        });
  }
}
