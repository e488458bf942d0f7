package dev.warpwright.store.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.StoreException;
import dev.warpwright.run.Append;
import dev.warpwright.run.DueRuns;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunListener;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.RunWatches;
import dev.warpwright.run.Signal;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs in a database: H2 in a file, inside the process, without set-up, or PostgreSQL, which
 * several processes share.
 *
 * <pre>{@code
 * try (RunStore store = JdbcRunStore.open("jdbc:h2:async:./data/runs")) {
 *   ...
 * }
 * try (RunStore store = JdbcRunStore.builder(dataSource).owner("worker-1").open()) {
 *   ...
 * }
 * }</pre>
 *
 * <p>Opening makes the tables where they are missing and brings them to this version. An H2 file
 * belongs to one process at a time; a second one that opens it is refused. Opening it ends the
 * ownership of all runs that another process, or this one earlier, had left: they can be acquired
 * at once. On PostgreSQL a store has its runs as long as it renews its {@link Builder#lease lease},
 * until it is closed, or until one is opened under the same {@link Builder#owner owner} name.
 *
 * <p>Appends of many runs share one commit, and a caller goes on only when that commit is durable
 * as {@link Durability} says; what is read is durable too. A call waits at most until its deadline
 * and two seconds. It is not cut short by an interrupt, which is pending again when the call
 * returns. At the bound of its queue the store makes new calls wait.
 *
 * <p>Only threads of the store touch the database: one that writes, two that read and, on
 * PostgreSQL, one that renews the lease, all daemons. Instances are thread-safe.
 */
public final class JdbcRunStore implements RunStore {
  private static final String EVENTS =
      "SELECT "
          + EventRow.COLUMNS
          + " FROM ww_event WHERE run = (SELECT id FROM ww_run WHERE tenant = ? AND user_id = ?"
          + " AND namespace = ? AND run_id = ?) AND sequence >= ? ORDER BY run, sequence";

  private static final String SIGNALS =
      "SELECT signal_id, name, body, sent_nanos FROM ww_signal WHERE run ="
          + " (SELECT id FROM ww_run WHERE tenant = ? AND user_id = ? AND namespace = ?"
          + " AND run_id = ?) AND NOT consumed ORDER BY arrival";

  private static final Duration GRACE = Duration.ofSeconds(2);
  private static final Duration DEFAULT_LEASE = Duration.ofSeconds(15);
  private static final Duration MIN_LEASE = Duration.ofMillis(750);
  private static final Duration MAX_LEASE = Duration.ofHours(1);

  /** How often a caller that awaits a release looks again, should a notice not reach it. */
  private static final long RELEASE_CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Dialect dialect;
  private final TimeSource time;
  private final long graceNanos;
  private final String name;
  private final Lease lease;
  private final WriteQueue queue;
  private final Journal journal;
  private final @Nullable Upkeep upkeep; // null: no other process can have the database
  private final Readers readers;
  private final Releases releases = new Releases();
  private final RunWatches watches = new RunWatches();
  private final AtomicLong owners = new AtomicLong();

  /** Begins anywhere, so that a store opened later does not take an append for its own. */
  private final AtomicLong appendIds = new AtomicLong(new SecureRandom().nextLong());

  /** What a commit survives. */
  public enum Durability {
    /**
     * The death of the process and the loss of power: every commit is forced to the disk, on
     * PostgreSQL also where {@code synchronous_commit} is off.
     */
    POWER,
    /**
     * The death of the process, but not the loss of power or, on PostgreSQL, a crash of the server.
     */
    PROCESS,
    /**
     * On H2 nothing; what was committed is written within about half a second. On PostgreSQL the
     * same as {@link #PROCESS}. For development.
     */
    RELAXED
  }

  private JdbcRunStore(Builder builder) {
    this.dialect = builder.dialect.apply(builder.durability);
    this.time = builder.time;
    this.graceNanos = builder.grace.toNanos();
    this.name = builder.owner;
    this.queue = new WriteQueue(builder.maxQueuedEvents, builder.maxQueuedBytes);
    this.lease =
        dialect.isShared()
            ? Lease.of(builder.lease, time, watches::lost)
            : Lease.unlimited(time, watches::lost);
    this.journal = Journal.open(dialect, builder.hook, queue, releases::tell, lease, time, name);
    try {
      this.upkeep =
          dialect.isShared()
              ? Upkeep.start(dialect, lease, time, watches::cancelRequested, builder.leaseHook)
              : null;
    } catch (RuntimeException e) {
      closeJournal();
      throw e;
    }
    this.readers = new Readers(dialect, journal.fence(), time, graceNanos);
  }

  /**
   * Opens a store that survives a power cut.
   *
   * @param jdbcUrl {@code jdbc:h2:async:} and a path that is absolute or begins with {@code ./} or
   *     {@code ~/}; H2 adds {@code .mv.db} to it. For tests, {@code jdbc:h2:mem:} and a name
   * @return the store
   * @throws InvalidRequestException if the URL would not keep the store's promises; the message
   *     gives one that does
   * @throws StoreException if the file is open in another process, or cannot be opened
   */
  public static JdbcRunStore open(String jdbcUrl) {
    return builder(jdbcUrl).open();
  }

  /**
   * Begins a store on H2 with other settings.
   *
   * @param jdbcUrl see {@link #open(String)}
   * @return a builder
   */
  public static Builder builder(String jdbcUrl) {
    Objects.requireNonNull(jdbcUrl, "jdbcUrl");
    return new Builder(durability -> new H2Dialect(jdbcUrl, durability), Builder.processName());
  }

  /**
   * Begins a store on PostgreSQL 14 or newer, in the schema that its connections are in. The
   * program brings the driver and {@code org.flywaydb:flyway-database-postgresql}.
   *
   * <p>The store takes four connections and keeps them until it is closed; a pool needs to have
   * that many for it at any time. What it sets on them it sets back when it gives them back, but
   * for their auto-commit and, if it is not READ COMMITTED, their isolation. The program closes the
   * {@code DataSource}, after the store.
   *
   * @param dataSource leads to a server that takes writes, directly or by a pool of sessions
   * @return a builder
   */
  public static Builder builder(DataSource dataSource) {
    Objects.requireNonNull(dataSource, "dataSource");
    return new Builder(
        durability -> new PostgresDialect(dataSource, durability), PostgresDialect.defaultOwner());
  }

  /** Collects the settings of a store; not thread-safe. */
  public static final class Builder {
    private final Function<Durability, Dialect> dialect;
    private String owner;
    private Durability durability = Durability.POWER;
    private int maxQueuedEvents = 10_000;
    private long maxQueuedBytes = 64L * 1024 * 1024;
    private TimeSource time = TimeSource.system();
    private Duration lease = DEFAULT_LEASE;
    private CommitHook hook = CommitHook.NONE;
    private Runnable leaseHook = () -> {};
    private Duration grace = GRACE;

    private Builder(Function<Durability, Dialect> dialect, String defaultOwner) {
      this.dialect = dialect;
      this.owner = defaultOwner;
    }

    private static String processName() {
      return "warpwright-" + ProcessHandle.current().pid();
    }

    /**
     * Sets what a commit survives.
     *
     * @param durability {@link Durability#POWER} unless set
     * @return this builder
     */
    public Builder durability(Durability durability) {
      this.durability = Objects.requireNonNull(durability, "durability");
      return this;
    }

    /**
     * Sets how much may wait to be written before new calls have to wait themselves. A single
     * append that is larger is let in when nothing else waits.
     *
     * @param maxEvents at most so many events, 1 or more; 10 000 unless set
     * @param maxBytes at most so many bytes of events, 1 or more; 64 MiB unless set
     * @return this builder
     */
    public Builder queueBounds(int maxEvents, long maxBytes) {
      if (maxEvents < 1 || maxBytes < 1) {
        throw invalid(
            "The queueBounds must be 1 or more, but are "
                + maxEvents
                + " events and "
                + maxBytes
                + " bytes.");
      }
      this.maxQueuedEvents = maxEvents;
      this.maxQueuedBytes = maxBytes;
      return this;
    }

    /**
     * Names this store in the log, as the first part of the name of each {@link Writer} that owns a
     * run.
     *
     * <p>On PostgreSQL the name is also what the store's runs are held under. Each store that is
     * open at the same time needs one of its own: opening a second one under it ends the first,
     * whose writes are refused from then on. One that stays the same when its process starts again,
     * such as that of a pod or a service instance, gives a process that died its runs back as soon
     * as it is there again.
     *
     * @param name not blank, at most 128 characters; unless set, {@code warpwright-}, on PostgreSQL
     *     the host's name, and the process id
     * @return this builder
     */
    public Builder owner(String name) {
      if (name.isBlank() || name.length() > 128) {
        throw invalid(
            "The name of an owner must have 1 to 128 characters and not be blank, but has "
                + name.length()
                + ".");
      }
      this.owner = name;
      return this;
    }

    /**
     * Sets for how long the store holds its runs after it was last heard of; it renews that three
     * times as often. When the process dies or is cut off from the database, other processes have
     * its runs about a second after that time. Where it cannot renew, it lets nothing begin from a
     * fifth of the time before its end on. On H2, whose file belongs to one process, there is no
     * lease.
     *
     * @param ttl 750 milliseconds to one hour; 15 seconds unless set. A shorter one is lost to
     *     pauses of the process
     * @return this builder
     */
    public Builder lease(Duration ttl) {
      if (ttl.compareTo(MIN_LEASE) < 0 || ttl.compareTo(MAX_LEASE) > 0) {
        throw invalid(
            "The lease must be between "
                + MIN_LEASE
                + " and "
                + MAX_LEASE
                + ", but is "
                + ttl
                + ".");
      }
      this.lease = ttl;
      return this;
    }

    /**
     * Sets the clocks by which the store waits.
     *
     * @param time {@link TimeSource#system()} unless set
     * @return this builder
     */
    public Builder timeSource(TimeSource time) {
      this.time = Objects.requireNonNull(time, "time");
      return this;
    }

    /** Sets what is called at the boundaries of each commit; for tests. */
    Builder commitHook(CommitHook hook) {
      this.hook = hook;
      return this;
    }

    /** Sets what is called before each look of the thread that keeps the lease; for tests. */
    Builder leaseHook(Runnable hook) {
      this.leaseHook = hook;
      return this;
    }

    /** Sets how long after the deadline an answer is awaited; for tests. */
    Builder grace(Duration grace) {
      this.grace = grace;
      return this;
    }

    /**
     * Opens the store.
     *
     * @return the store
     * @throws InvalidRequestException if the URL, or the server with these connections, would not
     *     keep the store's promises; the message says what to change
     * @throws StoreException if the file is open in another process, or the database cannot be
     *     reached or opened
     */
    public JdbcRunStore open() {
      return new JdbcRunStore(this);
    }

    private static InvalidRequestException invalid(String message) {
      return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
    }
  }

  @Override
  public Claim create(NewRun run, Deadline deadline) {
    return write(new Operation.Create(run, nextOwner(), nextAppendId()), deadline);
  }

  @Override
  public void adopt(List<LoggedEvent> log, Standing standing, Deadline deadline) {
    write(new Operation.Adopt(log, standing, nextAppendId()), deadline);
  }

  @Override
  public void append(Append append, Deadline deadline) {
    write(new Operation.AppendEvents(append, nextAppendId()), deadline);
    watches.wrote(append);
  }

  @Override
  public Watch watch(RunKey run, RunListener listener) {
    return watches.add(run, listener);
  }

  @Override
  public Optional<Writer> acquire(RunKey run, Deadline deadline) {
    return write(new Operation.Acquire(run, nextOwner(), true), deadline);
  }

  @Override
  public Optional<Writer> borrow(RunKey run, Deadline deadline) {
    return write(new Operation.Acquire(run, nextOwner(), false), deadline);
  }

  @Override
  public DueRuns acquireDue(Set<String> agentIds, int limit, Deadline deadline) {
    if (limit < 1) {
      throw Builder.invalid("The limit of due runs must be 1 or more, but is " + limit + ".");
    }
    long nowNanos = Times.nanos(time.now());
    return write(
        new Operation.AcquireDue(Set.copyOf(agentIds), limit, nowNanos, this::nextOwner), deadline);
  }

  @Override
  public void announce(Set<String> agentIds, Deadline deadline) {
    write(new Operation.Announce(Set.copyOf(agentIds)), deadline);
  }

  @Override
  public void release(RunKey run, Writer owner, Optional<String> problem) {
    queue.putAtOnce(new Operation.Release(run, owner, problem));
  }

  @Override
  public boolean signal(RunKey run, Signal signal, Deadline deadline) {
    dialect.requireDistinct(run.scope(), Optional.of(signal.id()));
    dialect.requireDistinct(run.scope(), Optional.of(signal.name()));
    return write(new Operation.SendSignal(run, signal, Times.nanos(time.now())), deadline);
  }

  @Override
  public List<Signal> signals(RunKey run, Deadline deadline) {
    dialect.requireDistinct(run.scope(), Optional.empty());
    return readers.read(connection -> readSignals(connection, run), deadline);
  }

  private static List<Signal> readSignals(Connection connection, RunKey run) throws SQLException {
    List<Signal> signals = new ArrayList<>();
    try (PreparedStatement select = connection.prepareStatement(SIGNALS)) {
      select.setString(JournalSession.setScope(select, 0, run.scope()) + 1, run.runId());
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          signals.add(
              new Signal(
                  row.getString(1),
                  row.getString(2),
                  Json.parse(new String(row.getBytes(3), UTF_8)),
                  Times.instant(row.getLong(4))));
        }
      }
    }
    return List.copyOf(signals);
  }

  @Override
  public void readmit(RunKey run, Deadline deadline) {
    write(new Operation.Readmit(run), deadline);
  }

  @Override
  public boolean delete(RunKey run, Deadline deadline) {
    return write(new Operation.Delete(run), deadline);
  }

  @Override
  public int deleteExpired(Instant before, Set<RunStatus> statuses, int limit, Deadline deadline) {
    if (statuses.isEmpty()) {
      return 0;
    }
    long beforeNanos = Times.nanos(before);
    ExpiredQuery query = new ExpiredQuery(dialect.isExpired(), statuses, beforeNanos);
    int deleted = 0;
    int last;
    do { // without their parents, child runs can be deleted too
      int left = limit - deleted;
      List<List<RunKey>> expired =
          readers.read(connection -> query.read(connection, left), deadline);
      last = 0;
      for (List<RunKey> some : expired) {
        last += write(new Operation.DeleteExpired(some, beforeNanos, statuses), deadline);
      }
      deleted += last;
    } while (last > 0 && deleted < limit);
    return deleted;
  }

  private <T extends @Nullable Object> T write(Operation<T> operation, Deadline deadline) {
    for (RunKey run : operation.runs) {
      dialect.requireDistinct(run.scope(), operation.key());
    }
    queue.put(operation, new Patience(deadline, 0, time));
    Verdict<T> withdrawn =
        new Verdict.Refused<>(
            () ->
                late(
                    "The store did not begin to write to "
                        + operation.subject()
                        + " until the deadline; nothing was written."));
    Verdict<T> unknown =
        new Verdict.Refused<>(
            () ->
                late(
                    "The store did not answer until the deadline; whether what it was to write to "
                        + operation.subject()
                        + " was written is unknown. The run can be resumed: its log tells."));
    return operation
        .pending
        .await(new Patience(deadline, graceNanos, time), withdrawn, unknown)
        .get();
  }

  private static StoreException late(String message) {
    return new StoreException(message, null);
  }

  /** Another one for each ownership, so that it fences a driver of this process too. */
  private String nextOwner() {
    return name + "#" + owners.incrementAndGet();
  }

  private long nextAppendId() {
    return appendIds.incrementAndGet();
  }

  @Override
  public boolean awaitRelease(RunKey run, Deadline deadline) throws InterruptedException {
    while (true) {
      CountDownLatch notice = releases.next(run);
      if (isFree(run, deadline)) {
        releases.tell(run);
        return true;
      }
      if (deadline.hasPassed()) {
        return false;
      }
      var _ =
          notice.await(
              Math.min(deadline.remainingNanos(), RELEASE_CHECK_NANOS), TimeUnit.NANOSECONDS);
    }
  }

  private boolean isFree(RunKey run, Deadline deadline) {
    dialect.requireDistinct(run.scope(), Optional.empty());
    Optional<RunRow> row =
        readers.read(connection -> dialect.findRun(connection, run, lease.worker()), deadline);
    return row.isEmpty() || row.get().isFree();
  }

  @Override
  public List<LoggedEvent> load(RunKey run, long fromSequence, Deadline deadline) {
    dialect.requireDistinct(run.scope(), Optional.empty());
    List<EventRow> rows =
        readers.read(connection -> readEvents(connection, run, fromSequence), deadline);
    return rows.stream().map(row -> row.decode(run)).toList();
  }

  private static List<EventRow> readEvents(Connection connection, RunKey run, long fromSequence)
      throws SQLException {
    List<EventRow> events = new ArrayList<>();
    try (PreparedStatement select = connection.prepareStatement(EVENTS)) {
      int column = JournalSession.setScope(select, 0, run.scope());
      select.setString(++column, run.runId());
      select.setLong(++column, fromSequence);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          events.add(EventRow.read(rows));
        }
      }
    }
    return events;
  }

  @Override
  public Optional<RunKey> find(RunScope scope, String idempotencyKey, Deadline deadline) {
    dialect.requireDistinct(scope, Optional.of(idempotencyKey));
    return readers.read(
        connection -> JournalSession.findKey(connection, scope, idempotencyKey), deadline);
  }

  @Override
  public List<RunSummary> list(RunQuery query, Deadline deadline) {
    dialect.requireDistinct(query.scope(), Optional.empty());
    return readers.read(
        connection -> ListQuery.read(connection, query, dialect.listIndex()), deadline);
  }

  @Override
  public List<RunSummary> stranded(RunScope scope, int limit, Deadline deadline) {
    dialect.requireDistinct(scope, Optional.empty());
    long nowNanos = Times.nanos(time.now());
    return readers.read(
        connection -> dialect.stranded(connection, scope, limit, nowNanos), deadline);
  }

  /** How many operations wait to be written; for tests. */
  int queued() {
    return queue.size();
  }

  /** Whether new calls are refused; for tests. */
  boolean isClosing() {
    return queue.isClosed();
  }

  /**
   * {@inheritDoc}
   *
   * <p>On PostgreSQL other stores can have its runs from now on. Waits until that is done, not
   * interruptibly. Whoever awaits a release is woken.
   */
  @Override
  public void close() {
    readers.close(); // before the journal gives the runs up
    queue.close();
    if (upkeep != null) {
      upkeep.close(); // the lease goes on until its end, and the journal gives it up
    }
    closeJournal();
    releases.tellAll();
  }

  private void closeJournal() {
    queue.close();
    Threads.join(journal.thread());
    lease.close();
  }
}
