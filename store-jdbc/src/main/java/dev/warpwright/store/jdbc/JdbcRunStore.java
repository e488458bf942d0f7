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
import org.jspecify.annotations.Nullable;

/**
 * Runs in a database: H2 in a file, inside the process, without set-up.
 *
 * <pre>{@code
 * try (RunStore store = JdbcRunStore.open("jdbc:h2:async:./data/runs")) {
 *   ...
 * }
 * }</pre>
 *
 * <p>The file belongs to one process at a time; a second one that opens it is refused. Opening
 * makes the folder, the file and the tables where they are missing, brings the tables to this
 * version, and ends the ownership of all runs that another process, or this one earlier, had left:
 * they can be acquired at once.
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
  private static final Duration GRACE = Duration.ofSeconds(2);

  /** How often a caller that awaits a release looks again, should a notice not reach it. */
  private static final long RELEASE_CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final TimeSource time;
  private final long graceNanos;
  private final String name;
  private final long epoch;
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
    /** The death of the process and the loss of power: every commit is forced to the disk. */
    POWER,
    /** The death of the process, but not the loss of power. */
    PROCESS,
    /** Nothing; what was committed is written within about half a second. For development. */
    RELAXED
  }

  private JdbcRunStore(Builder builder) {
    H2Dialect dialect = new H2Dialect(builder.url);
    this.time = builder.time;
    this.graceNanos = builder.grace.toNanos();
    this.name = builder.owner;
    this.queue = new WriteQueue(builder.maxQueuedEvents, builder.maxQueuedBytes);
    Journal.Opened opened =
        Journal.open(dialect, builder.durability, builder.hook, queue, releases::tell, time, name);
    this.journal = opened.journal();
    this.epoch = opened.epoch();
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
   * Begins a store with other settings.
   *
   * @param jdbcUrl see {@link #open(String)}
   * @return a builder
   */
  public static Builder builder(String jdbcUrl) {
    return new Builder(jdbcUrl);
  }

  /** Collects the settings of a store; not thread-safe. */
  public static final class Builder {
    private final String url;
    private Durability durability = Durability.POWER;
    private int maxQueuedEvents = 10_000;
    private long maxQueuedBytes = 64L * 1024 * 1024;
    private String owner = "warpwright-" + ProcessHandle.current().pid();
    private TimeSource time = TimeSource.system();
    private CommitHook hook = CommitHook.NONE;
    private Duration grace = GRACE;

    private Builder(String url) {
      this.url = Objects.requireNonNull(url, "url");
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
     * Names this process in the log, as the first part of the name of each {@link Writer} that owns
     * a run.
     *
     * @param name not blank, at most 128 characters; {@code warpwright-} and the process id unless
     *     set
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
     * @throws InvalidRequestException if the URL would not keep the store's promises
     * @throws StoreException if the file is open in another process, or cannot be opened
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
    return new Writer(name + "#" + owners.incrementAndGet(), epoch);
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
    Optional<RunRow> row =
        readers.read(connection -> JournalSession.findRun(connection, run), deadline);
    return row.isEmpty() || row.get().isFree(epoch);
  }

  @Override
  public List<LoggedEvent> load(RunKey run, long fromSequence, Deadline deadline) {
    List<EventRow> rows =
        readers.read(connection -> readEvents(connection, run, fromSequence), deadline);
    return rows.stream().map(row -> row.decode(run)).toList();
  }

  private static List<EventRow> readEvents(Connection connection, RunKey run, long fromSequence)
      throws SQLException {
    Optional<RunRow> found = JournalSession.findRun(connection, run);
    if (found.isEmpty()) {
      return List.of();
    }
    List<EventRow> events = new ArrayList<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT "
                + EventRow.COLUMNS
                + " FROM ww_event WHERE run = ? AND sequence >= ? ORDER BY run, sequence")) {
      select.setLong(1, found.get().id());
      select.setLong(2, fromSequence);
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
    return readers.read(
        connection -> JournalSession.findKey(connection, scope, idempotencyKey), deadline);
  }

  @Override
  public List<RunSummary> list(RunQuery query, Deadline deadline) {
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
   * <p>Waits until that is done, not interruptibly. Whoever awaits a release is woken.
   */
  @Override
  public void close() {
    queue.close();
    readers.close();
    List<Thread> threads = new ArrayList<>(readers.threads());
    threads.add(journal.thread());
    threads.forEach(Threads::join);
    releases.tellAll();
  }
}
