package dev.warpwright.store.jdbc;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.StoreException;
import dev.warpwright.run.RunKey;
import dev.warpwright.store.jdbc.CommitHook.Boundary;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that writes.
 *
 * <p>It takes everything that is queued, without waiting for more, performs it in one transaction,
 * commits, makes the commit durable, and only then tells the callers. While it commits, the next
 * batch gathers by itself: the busier the store, the larger its commits.
 *
 * <p>Each operation is judged inside the transaction, under the lock of the worker's row; a refused
 * one has written nothing and its neighbours go on. When the database fails, the whole transaction
 * may be of unknown fate: its operations are then settled one by one, each looked up first and
 * performed again only if it is not there. So one that the database cannot take fails alone, and
 * none takes place twice.
 */
final class Journal {
  private static final Logger LOG = LoggerFactory.getLogger(Journal.class);

  /** How often a transaction is judged again that lost to other processes. */
  private static final int MAX_ROUNDS = 5;

  /** How long a release that failed waits to be repeated if no commit comes. */
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Dialect dialect;
  private final CommitHook hook;
  private final WriteQueue queue;
  private final Consumer<RunKey> onRelease;
  private final Lease lease;
  private final TimeSource time;
  private final CommitFence fence = new CommitFence();
  private final Thread thread;

  // Journal thread only:
  private @Nullable JournalSession session;
  private List<Operation<?>> batch = List.of();
  private final List<Operation<?>> owed = new ArrayList<>(); // releases that failed
  private boolean committing; // a failure now leaves the fate of the batch open

  private Journal(
      Dialect dialect,
      CommitHook hook,
      WriteQueue queue,
      Consumer<RunKey> onRelease,
      Lease lease,
      TimeSource time,
      Pending<@Nullable Void> opened,
      String name) {
    this.dialect = dialect;
    this.hook = hook;
    this.queue = queue;
    this.onRelease = onRelease;
    this.lease = lease;
    this.time = time;
    this.thread =
        Thread.ofPlatform()
            .name("warpwright-store-journal")
            .daemon()
            .unstarted(() -> run(opened, name));
  }

  /**
   * Opens the database on a new thread, begins the lease, and waits for that, not interruptibly.
   */
  static Journal open(
      Dialect dialect,
      CommitHook hook,
      WriteQueue queue,
      Consumer<RunKey> onRelease,
      Lease lease,
      TimeSource time,
      String name) {
    Pending<@Nullable Void> opened = new Pending<>();
    Journal journal = new Journal(dialect, hook, queue, onRelease, lease, time, opened, name);
    journal.thread.start();
    Verdict<@Nullable Void> never = new Verdict.Refused<>(IllegalStateException::new);
    Verdict<@Nullable Void> verdict =
        opened.await(new Patience(Deadline.never(), 0, time), never, never);
    if (verdict instanceof Verdict.Refused) {
      Threads.join(journal.thread);
      lease.close();
    }
    var _ = verdict.get();
    return journal;
  }

  Thread thread() {
    return thread;
  }

  CommitFence fence() {
    return fence;
  }

  private void run(Pending<@Nullable Void> opened, String name) {
    try {
      try {
        start(name);
      } catch (SQLException e) {
        disconnect();
        opened.settle(new Verdict.Refused<>(() -> dialect.cannotOpen(e)));
        return;
      } catch (RuntimeException e) {
        disconnect();
        opened.settle(new Verdict.Refused<>(() -> e));
        return;
      }
      opened.settle(new Verdict.Done<>(null));
      while (true) {
        List<Operation<?>> taken = owed.isEmpty() ? queue.take() : queue.take(RETRY_NANOS);
        if (taken.isEmpty() && (owed.isEmpty() || queue.isDrained())) {
          retire();
          return;
        }
        batch = taken;
        if (!owed.isEmpty()) {
          batch = Stream.concat(owed.stream(), taken.stream()).toList();
          owed.clear();
        }
        process(batch);
        batch = List.of();
      }
    } finally {
      disconnect();
      queue.abandon();
      batch.forEach(operation -> operation.fail(() -> unknown(operation, null)));
      fence.settle();
    }
  }

  private void start(String name) throws SQLException {
    dialect.prepare();
    Connection connection = dialect.connect();
    try {
      dialect.migrate();
      long start = time.nanoTime();
      long now = Times.nanos(time.now());
      Worker worker = dialect.register(connection, name, now, lease.ttlMillis());
      lease.begin(worker, start);
      JournalSession opened = dialect.session(connection, worker, lease.ttlMillis());
      opened.sync();
      session = opened;
      dialect.opened();
    } catch (SQLException | RuntimeException e) {
      close(connection, e);
      throw e;
    }
  }

  private void process(List<Operation<?>> operations) {
    try {
      commit(operations);
    } catch (SQLException | RuntimeException e) {
      LOG.warn(
          "A commit of {} operations failed, they are settled one by one: {}",
          operations.size(),
          e.toString());
      LOG.debug("The failure of the commit", e);
      boolean maybeWritten = committing;
      recover(e);
      for (Operation<?> operation : operations) {
        settle(operation, maybeWritten, e);
      }
    }
    fence.settle();
    operations.forEach(this::acknowledge);
    try {
      hook.at(Boundary.AFTER_ACKNOWLEDGEMENT);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Tells the caller. One that has gone cannot hand back what it gained, so that is done next.
   * Nobody asks for a failed release again, so the journal repeats it, with the next commit or
   * after a while.
   */
  private void acknowledge(Operation<?> operation) {
    if (!operation.acknowledge()) {
      operation.handBack().forEach(queue::putFirst);
    }
    if (operation.isDone()) {
      operation.frees().ifPresent(onRelease);
    } else if (operation instanceof Operation.Release) {
      owed.add(operation);
    }
  }

  /** Performs operations in one durable transaction; each has its verdict when this returns. */
  private void commit(List<Operation<?>> operations) throws SQLException {
    committing = false;
    JournalSession open = connected();
    hook.at(Boundary.BEFORE_STATEMENT);
    List<Operation<?>> rest = new ArrayList<>(operations.size());
    List<Operation<?>> claims = new ArrayList<>();
    for (Operation<?> operation : operations) {
      (operation instanceof Operation.AcquireDue ? claims : rest).add(operation);
    }
    if (!rest.isEmpty()) {
      write(open, rest);
    }
    if (!claims.isEmpty()) {
      claim(open, claims);
    }
    hook.at(Boundary.BEFORE_COMMIT);
    fence.begin();
    committing = true;
    open.commit();
    hook.at(Boundary.AFTER_COMMIT);
    if (operations.stream().anyMatch(Operation::wrote)) {
      open.sync();
    }
    hook.at(Boundary.BEFORE_ACKNOWLEDGEMENT);
  }

  /**
   * Judges the operations and writes what they are to write, all of it; first what is expected to
   * be allowed, without a look at it. What did not come to the tables whole has lost to another
   * process: then nothing of the transaction stands, and all are judged once more, after that
   * process. A run that loses again cannot be written, and is left out: the events of its log and
   * its row do not fit.
   */
  private void write(JournalSession open, List<Operation<?>> operations) throws SQLException {
    List<Operation<?>> left = advance(open, operations);
    if (left.isEmpty()) {
      return;
    }
    if (left.stream().allMatch(Operation.Create.class::isInstance)
        && lease.mayBegin(lease.worker())
        && open.beginUnseen(lease.worker())) {
      if (create(open, left)) {
        return;
      }
      open.rollback();
      left = operations;
    }
    Set<RunKey> refused = new HashSet<>();
    Set<RunKey> lostBefore = Set.of();
    for (int round = 1; ; round++) {
      judge(open, left, refused);
      Set<RunKey> lost = open.send();
      if (lost.isEmpty()) {
        return;
      }
      if (round > MAX_ROUNDS) {
        throw new SQLException("Other processes write to the runs " + lost + " all the time.");
      }
      open.rollback();
      left = operations;
      Set<RunKey> again = new HashSet<>(lostBefore);
      again.retainAll(lost);
      refused.addAll(again);
      lostBefore = lost;
    }
  }

  /**
   * Writes the appends of owners, which are nearly everything, without judging them one by one: of
   * each run the first thing in the batch, so that their order stays. Whatever does not go through
   * is judged like the rest, which finds out why.
   *
   * <p>The rows of runs are locked in another order here than there. Two stores could wait for each
   * other if each went on to a run of the other one, so such batches are judged as a whole.
   *
   * @return what is left to be judged, in its order
   */
  private List<Operation<?>> advance(JournalSession open, List<Operation<?>> operations)
      throws SQLException {
    Worker worker = lease.worker();
    List<Operation.AppendEvents> appends = new ArrayList<>();
    Set<RunKey> runs = new HashSet<>();
    for (Operation<?> operation : operations) {
      if (operation.mayMeetOthers()) {
        return operations;
      }
      if (runs.addAll(operation.runs)
          && operation instanceof Operation.AppendEvents append
          && append.isPlain()
          && append.append.writer().epoch() == worker.epoch()) {
        appends.add(append);
      }
    }
    List<Operation.AppendEvents> advanced =
        appends.isEmpty() ? List.of() : open.advance(appends, worker);
    if (advanced.isEmpty()) {
      return operations;
    }
    if (!lease.mayBegin(worker)) {
      open.rollback();
      return operations;
    }
    for (Operation.AppendEvents append : advanced) {
      append.decide(new Verdict.Done<>(null));
    }
    if (advanced.size() == operations.size()) {
      return List.of();
    }
    Set<Operation<?>> done = new HashSet<>(advanced); // each is equal to itself alone
    return operations.stream().filter(each -> !done.contains(each)).toList();
  }

  /**
   * Takes up what is due. That is looked for in the tables, so the rest of the transaction is
   * written there before; it is locked when it is found, and cannot be lost to others.
   */
  private void claim(JournalSession open, List<Operation<?>> claims) throws SQLException {
    judge(open, claims, Set.of());
    if (!open.send().isEmpty()) {
      throw new SQLException("Runs that were locked were written to by somebody else.");
    }
  }

  /**
   * Creates runs that are expected to be new, as nearly all are; false if one of them is not, or
   * the store may not create any, and nothing of the transaction must stand.
   */
  private boolean create(JournalSession open, List<Operation<?>> creations) throws SQLException {
    for (Operation<?> creation : creations) {
      creation.judge(open);
    }
    return open.send().isEmpty() && lease.mayBegin(open.worker());
  }

  private void judge(JournalSession open, List<Operation<?>> operations, Set<RunKey> refused)
      throws SQLException {
    Worker worker = lease.worker();
    JournalSession.Fence found = open.begin(operations, worker);
    if (found.epoch() != worker.epoch()) {
      if (found.isOurs()) {
        lease.lose(worker);
      } else {
        lease.end();
      }
    }
    boolean over = lease.isOver();
    boolean held = lease.isHeldBy(worker) && found.epoch() == worker.epoch();
    boolean mayBegin = held && lease.mayBegin(worker);
    for (Operation<?> operation : operations) {
      if (over && !(operation instanceof Operation.Release)) {
        operation.refuse(() -> conflict(dialect.fencedBy(worker)));
      } else if (!held && operation.needs() != Operation.Needs.NOTHING) {
        operation.refuse(() -> withoutLease(operation));
      } else if (!mayBegin && operation.needs() == Operation.Needs.TIME) {
        operation.refuse(() -> late(operation));
      } else if (operation.runs.stream().anyMatch(refused::contains)) {
        operation.refuse(() -> torn(operation));
      } else {
        operation.judge(open);
      }
    }
  }

  private static RuntimeException withoutLease(Operation<?> operation) {
    return operation.needs() == Operation.Needs.LEASE
        ? new StoreException(
            "The store has no lease at the moment, and can own no run; it takes another one within"
                + " about a second. Nothing was written.",
            null)
        : conflict(
            "The store lost its lease, and with it "
                + operation.subject()
                + "; nothing was written.");
  }

  private static ConflictException late(Operation<?> operation) {
    return conflict(
        "The store is about to lose its lease, which it could not renew in time, and with it "
            + operation.subject()
            + ": nothing may begin there any more; nothing was written.");
  }

  private static ConflictException torn(Operation<?> operation) {
    return conflict(
        "The log of "
            + operation.subject()
            + " has events that its row does not know of; nothing was written. Something else than"
            + " a store has changed the tables.");
  }

  private static ConflictException conflict(String message) {
    return new ConflictException(message, null, OperationTrace.NONE);
  }

  /**
   * Finds out what became of an operation whose commit failed, and performs it again, alone, if it
   * is known not to be there. Without a connection it is given up at once: one vain attempt to
   * connect, which may take long, is enough for a batch.
   */
  private <T extends @Nullable Object> void settle(
      Operation<T> operation, boolean maybeWritten, Exception failure) {
    if (session == null) {
      giveUp(operation, maybeWritten, failure);
      return;
    }
    boolean open = maybeWritten;
    Exception cause = failure;
    try {
      if (open && lookUp(operation)) {
        return;
      }
      open = false;
      try {
        commit(List.of(operation));
      } catch (SQLException | RuntimeException e) {
        cause = e;
        open = committing;
        reconnect();
        if (!open || !lookUp(operation)) {
          operation.refuse(() -> notWritten(operation, e));
        }
      }
    } catch (SQLException | RuntimeException e) {
      addSuppressed(cause, e);
      giveUp(operation, open, cause);
      recover(cause);
    }
  }

  private void giveUp(Operation<?> operation, boolean unknown, Exception cause) {
    if (unknown) {
      operation.handBack().forEach(queue::putFirst); // the caller does not learn its owner
    }
    operation.refuse(() -> unknown ? unknown(operation, cause) : notWritten(operation, cause));
  }

  /** Takes a fresh connection in place of one that failed; there is none if that fails. */
  private void recover(Exception failure) {
    if (session == null) {
      return;
    }
    try {
      reconnect();
    } catch (SQLException | RuntimeException e) {
      addSuppressed(failure, e);
    }
  }

  @SuppressWarnings("ReferenceEquality") // a database may throw the same failure twice
  private static void addSuppressed(Exception first, Exception later) {
    if (later != first) {
      first.addSuppressed(later);
    }
  }

  /** Whether an operation is there; if so, makes it durable and gives it its verdict. */
  private <T extends @Nullable Object> boolean lookUp(Operation<T> operation) throws SQLException {
    JournalSession fresh = connected();
    fresh.awaitEarlier();
    var _ = fresh.begin(List.of(operation), lease.worker());
    Optional<Verdict<T>> found = operation.lookUp(fresh);
    fresh.rollback();
    if (found.isPresent()) {
      fresh.sync();
      operation.decide(found.get());
    }
    return found.isPresent();
  }

  private static StoreException notWritten(Operation<?> operation, Exception cause) {
    return new StoreException(
        "The store failed to write to " + operation.subject() + "; nothing was written.", cause);
  }

  private static StoreException unknown(Operation<?> operation, @Nullable Exception cause) {
    return new StoreException(
        "The store failed while it wrote to "
            + operation.subject()
            + "; whether that was written is unknown. The run can be resumed: its log tells.",
        cause);
  }

  private JournalSession connected() throws SQLException {
    JournalSession open = session;
    if (open == null) {
      Connection connection = dialect.connect();
      try {
        open = dialect.session(connection, lease.worker(), lease.ttlMillis());
      } catch (SQLException | RuntimeException e) {
        close(connection, e);
        throw e;
      }
      session = open;
    }
    return open;
  }

  /** Takes a fresh connection; the old one, with what it had not committed, is given up. */
  private void reconnect() throws SQLException {
    JournalSession old = session;
    session = null;
    if (!dialect.livesInItsConnections()) {
      close(old); // first: it may be the last one that a pool has
      connected();
      return;
    }
    try {
      connected();
    } finally {
      close(old);
    }
  }

  /** Lets other processes have the runs of this store now. */
  private void retire() {
    try {
      try {
        connected().retire(lease.worker());
      } catch (SQLException e) {
        LOG.debug("The last connection was broken.", e);
        reconnect();
        connected().retire(lease.worker());
      }
    } catch (SQLException e) {
      LOG.warn(
          "The store could not give up its runs; they are free when one opens under its name: {}",
          e.toString());
    }
  }

  private void disconnect() {
    close(session);
    session = null;
  }

  private static void close(Connection connection, Exception failure) {
    try {
      connection.close();
    } catch (SQLException e) {
      addSuppressed(failure, e);
    }
  }

  private static void close(@Nullable JournalSession session) {
    if (session == null) {
      return;
    }
    try {
      session.close();
    } catch (SQLException e) {
      LOG.debug("A connection of the journal did not close.", e);
    }
  }
}
