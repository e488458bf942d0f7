package dev.warpwright.store.jdbc;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.StoreException;
import dev.warpwright.run.Append;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.RunWatches;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
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
 * at once. On PostgreSQL a store has its runs until it is closed, or until one is opened under the
 * same {@link Builder#owner owner} name.
 *
 * <p>Appends of many runs share one commit, and a caller goes on only when that commit is durable
 * as {@link Durability} says; what is read is durable too. A call waits at most until its deadline
 * and two seconds. It is not cut short by an interrupt, which is pending again when the call
 * returns. At the bound of its queue the store makes new calls wait.
 *
 * <p>Only threads of the store touch the database: one that writes and two that read, all daemons.
 * Instances are thread-safe.
 */
public final class JdbcRunStore implements RunStore {
  private static final String EVENTS =
      "SELECT "
          + EventRow.COLUMNS
          + " FROM ww_event WHERE run = (SELECT id FROM ww_run WHERE tenant = ? AND user_id = ?"
          + " AND namespace = ? AND run_id = ?) AND sequence >= ? ORDER BY run, sequence";

  private static final Duration GRACE = Duration.ofSeconds(2);

  /** How often a caller that awaits a release looks again, should a notice not reach it. */
  private static final long RELEASE_CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Dialect dialect;
  private final TimeSource time;
  private final long graceNanos;
  private final String name;
  private final Worker worker;
  private final WriteQueue queue;
  private final Journal journal;
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
    Journal.Opened opened = Journal.open(dialect, builder.hook, queue, releases::tell, time, name);
    this.journal = opened.journal();
    this.worker = opened.worker();
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
   * <p>The store takes three connections and keeps them until it is closed; a pool needs to have
   * that many for it at any time. It sets their auto-commit and, if it is not READ COMMITTED, their
   * isolation; no other setting outlives a transaction. The program closes the {@code DataSource},
   * after the store.
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
    private CommitHook hook = CommitHook.NONE;
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
  public void adopt(List<LoggedEvent> log, RunStatus status, Deadline deadline) {
    write(new Operation.Adopt(log, status, nextAppendId()), deadline);
  }

  @Override
  public void append(Append append, Deadline deadline) {
    write(new Operation.AppendEvents(append, nextAppendId()), deadline);
    watches.wrote(append);
  }

  @Override
  public Watch watch(RunKey run, Consumer<? super List<RunEvent>> listener) {
    return watches.add(run, listener);
  }

  @Override
  public Optional<Writer> acquire(RunKey run, Deadline deadline) {
    return write(new Operation.Acquire(run, nextOwner()), deadline);
  }

  @Override
  public void release(RunKey run, Writer owner) {
    queue.putAtOnce(new Operation.Release(run, owner));
  }

  private <T extends @Nullable Object> T write(Operation<T> operation, Deadline deadline) {
    dialect.requireDistinct(operation.run.scope(), operation.key());
    queue.put(operation, new Patience(deadline, 0, time));
    Verdict<T> withdrawn =
        new Verdict.Refused<>(
            () ->
                late(
                    "The store did not begin to write to the run "
                        + operation.run
                        + " until the deadline; nothing was written."));
    Verdict<T> unknown =
        new Verdict.Refused<>(
            () ->
                late(
                    "The store did not answer until the deadline; whether what it was to write to"
                        + " the run "
                        + operation.run
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
  private Writer nextOwner() {
    return new Writer(name + "#" + owners.incrementAndGet(), worker.epoch());
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
        readers.read(connection -> dialect.findRun(connection, run, worker), deadline);
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
    return readers.read(connection -> ListQuery.read(connection, query), deadline);
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
    Threads.join(journal.thread());
    releases.tellAll();
  }
}
