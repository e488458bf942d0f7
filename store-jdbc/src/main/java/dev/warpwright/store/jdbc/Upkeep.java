package dev.warpwright.store.jdbc;

import dev.warpwright.model.StoreException;
import dev.warpwright.run.RunKey;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that keeps the store's lease where other processes have the database too, on a
 * connection of its own: it renews the lease, or takes another one after it was lost, ends the
 * leases of others that have run out, frees the runs that they left, and looks for requests to
 * cancel runs of this store.
 *
 * <p>It looks about once a second, and sooner when a lease is to be renewed or ends. What fails is
 * tried again; until when the store may count on its lease, {@link Lease} knows without it.
 */
final class Upkeep {
  private static final Logger LOG = LoggerFactory.getLogger(Upkeep.class);
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** What one transaction frees; a renewal comes between. */
  private static final int FREE_BATCH = 200;

  private final Dialect dialect;
  private final Lease lease;
  private final long heartbeatNanos;
  private final TimeSource time;
  private final Consumer<RunKey> onCancelRequest;
  private final Runnable hook;
  private final Thread thread;
  private volatile boolean closed;

  // The thread only:
  private @Nullable Connection connection;
  private int networkMillisBefore; // of the connection, which is the program's
  private Set<RunKey> told = Set.of(); // of a request to cancel
  private long renewAtNanos;
  private long nextNanos;

  private Upkeep(
      Dialect dialect,
      Lease lease,
      TimeSource time,
      Consumer<RunKey> onCancelRequest,
      Runnable hook,
      Pending<@Nullable Void> opened) {
    this.dialect = dialect;
    this.lease = lease;
    this.heartbeatNanos = TimeUnit.MILLISECONDS.toNanos(lease.ttlMillis() / 3);
    this.time = time;
    this.onCancelRequest = onCancelRequest;
    this.hook = hook;
    this.renewAtNanos = time.nanoTime() + heartbeatNanos;
    this.thread =
        Thread.ofPlatform().name("warpwright-store-lease").daemon().unstarted(() -> run(opened));
  }

  /**
   * Starts it, for a lease that has begun, and waits until it has its connection, not
   * interruptibly: a store that could not renew should not open.
   *
   * @param hook is called before each look; for tests
   */
  static Upkeep start(
      Dialect dialect,
      Lease lease,
      TimeSource time,
      Consumer<RunKey> onCancelRequest,
      Runnable hook) {
    Pending<@Nullable Void> opened = new Pending<>();
    Upkeep upkeep = new Upkeep(dialect, lease, time, onCancelRequest, hook, opened);
    upkeep.thread.start();
    Verdict<@Nullable Void> never = new Verdict.Refused<>(IllegalStateException::new);
    var _ = opened.await(new Patience(Deadline.never(), 0, time), never, never).get();
    return upkeep;
  }

  /** Lets the lease run out by itself, and waits for the end of the thread. */
  void close() {
    closed = true;
    LockSupport.unpark(thread);
    Threads.join(thread);
  }

  private void run(Pending<@Nullable Void> opened) {
    try {
      var _ = connected();
      opened.settle(new Verdict.Done<>(null));
    } catch (SQLException e) {
      disconnect();
      opened.settle(new Verdict.Refused<>(() -> dialect.cannotOpen(e)));
      return;
    } catch (RuntimeException e) {
      disconnect();
      opened.settle(new Verdict.Refused<>(() -> e));
      return;
    }
    while (!closed && !lease.isOver()) {
      hook.run();
      nextNanos = time.nanoTime() + LOOK_NANOS;
      boolean failed = true;
      try {
        look(connected());
        failed = false;
      } catch (SQLException | StoreException e) {
        LOG.warn(
            "The lease of the store could not be kept up; it is tried again: {}", e.toString());
        LOG.debug("The failure of the lease", e);
        disconnect();
      } catch (RuntimeException e) {
        LOG.error("The upkeep of the lease failed; it is tried again.", e);
        disconnect();
      }
      long retryNanos = time.nanoTime() + Math.min(LOOK_NANOS, heartbeatNanos / 4);
      sleep(failed ? retryNanos : Math.min(nextNanos, renewAtNanos));
    }
    disconnect();
  }

  private void look(Connection open) throws SQLException {
    renew(open);
    List<String> ended = LeaseTable.reap(open, lease.worker().id());
    open.commit();
    if (!ended.isEmpty()) {
      LOG.info("The leases of {} have run out; their runs are free.", ended);
    }
    free(open);
    OptionalLong firstEnd = LeaseTable.firstEnd(open, lease.worker().id());
    if (firstEnd.isPresent()) {
      long millis =
          Math.max(firstEnd.getAsLong() + 1, 20); // one that is passed over is not spun on
      nextNanos = Math.min(nextNanos, time.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis));
    }
    tellCancelRequests(LeaseTable.cancelRequests(open, lease.worker()));
    open.commit();
  }

  /** Renews the lease if it is time to, or takes another one if it was lost. */
  private void renew(Connection open) throws SQLException {
    Worker worker = lease.worker();
    long start = time.nanoTime();
    if (lease.isHeldBy(worker)) {
      if (renewAtNanos - start > 0) {
        return;
      }
      boolean renewed = LeaseTable.renew(open, worker, lease.ttlMillis());
      open.commit();
      if (renewed && lease.renew(start)) {
        renewAtNanos = start + heartbeatNanos;
        return;
      }
      lease.lose(worker);
    }
    Optional<Worker> again = LeaseTable.regain(open, worker, lease.ttlMillis());
    open.commit();
    if (again.isEmpty()) {
      lease.end();
      return;
    }
    LOG.warn("The store {} had lost its lease, and has another one.", worker.id());
    lease.begin(again.get(), start);
    renewAtNanos = start + heartbeatNanos;
  }

  private void free(Connection open) throws SQLException {
    for (Worker worker : LeaseTable.unfreed(open)) {
      int freed;
      do {
        freed = LeaseTable.free(open, worker, FREE_BATCH);
        if (freed == 0) {
          LeaseTable.noteFreed(open, worker);
        }
        open.commit();
        renew(open);
      } while (freed > 0 && !closed);
    }
  }

  private void tellCancelRequests(List<RunKey> runs) {
    Set<RunKey> asked = new HashSet<>(runs);
    asked.stream().filter(run -> !told.contains(run)).forEach(onCancelRequest);
    told = asked;
  }

  private void sleep(long untilNanos) {
    Alarm alarm = time.alarm(untilNanos, () -> LockSupport.unpark(thread));
    while (!closed && untilNanos - time.nanoTime() > 0) {
      LockSupport.park(this);
      var _ = Thread.interrupted();
    }
    alarm.cancel();
  }

  private Connection connected() throws SQLException {
    Connection open = connection;
    if (open == null) {
      open = dialect.connect();
      connection = open;
      open.setAutoCommit(false);
      // A server that does not answer must not keep the thread when another one would.
      networkMillisBefore = open.getNetworkTimeout();
      open.setNetworkTimeout(Runnable::run, Math.toIntExact(lease.ttlMillis()));
    }
    return open;
  }

  private void disconnect() {
    Connection open = connection;
    connection = null;
    if (open == null) {
      return;
    }
    try (open) {
      open.rollback();
      open.setNetworkTimeout(Runnable::run, networkMillisBefore);
    } catch (SQLException e) {
      LOG.debug("The connection of the lease did not close well.", e);
    }
  }
}
