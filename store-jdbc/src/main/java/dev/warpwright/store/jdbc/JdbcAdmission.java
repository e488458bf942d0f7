package dev.warpwright.store.jdbc;

import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionLimit;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.StoreException;
import dev.warpwright.model.Target;
import dev.warpwright.store.jdbc.AdmissionLine.Intake;
import dev.warpwright.store.jdbc.AdmissionLine.Plan;
import dev.warpwright.store.jdbc.AdmissionLine.Waiter;
import dev.warpwright.store.jdbc.AdmissionWindow.Correction;
import dev.warpwright.store.jdbc.JdbcRunStore.Durability;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Admission in a database: the controllers of any number of processes on one PostgreSQL share each
 * target's limits of concurrent calls, requests and tokens.
 *
 * <pre>{@code
 * AdmissionPolicy policy = AdmissionPolicy.builder(8).requestsPerMinute(500).maxQueue(100).build();
 * try (JdbcAdmission admission = JdbcAdmission.builder(dataSource, policy).open()) {
 *   ...
 * }
 * }</pre>
 *
 * <p>Opening makes the tables where they are missing; they may be in the database of a {@link
 * JdbcRunStore}. Each controller judges by its own policy: all of them should have the same. Minute
 * windows are those of the database's clock.
 *
 * <p>The queue is this process's: {@code maxQueue} is its bound, and its requests for a target are
 * served in the order in which they came. Between processes there is no order; who waits looks
 * again, without a connection meanwhile, when something changes in this process, when a window
 * ends, and at growing intervals up to the {@linkplain Builder#poll poll} interval. {@code
 * maxTargets} bounds the targets of all processes; several that add one at the same moment may
 * exceed it by as many.
 *
 * <p>A controller renews a {@linkplain Builder#lease lease} as long as it lives. When that has
 * ended by the database's clock, the calls that its process had in flight do not count any more.
 * Nothing here is forced to the disk: after a crash of the database a few calls of the last moments
 * may not be counted.
 *
 * <p>A request that the database does not answer within the {@linkplain Builder#timeout timeout}
 * fails with a {@link StoreException}. Permits are given back in the background, as soon as the
 * database takes it.
 *
 * <p>Only threads of the controller touch the database, all daemons. Instances are thread-safe. A
 * controller that is closed refuses every request with an {@link IllegalStateException}.
 */
public final class JdbcAdmission implements AdmissionController, AutoCloseable {

  /*
   * Each target has a line. What happens in this process joins the line under the lock; one round at
   * a time takes it to the database: a transaction that locks the target's row, tells what has ended
   * and admits from the front of the line as many as have room. While it runs, the next round
   * gathers. So a burst of requests, or of releases, costs one transaction, and a target has at most
   * one connection of a process.
   *
   * The number in flight is what this process knows, and each round writes all of it, so that it is
   * right again after whatever failed. A round whose commit got no answer finds its number in the
   * share when it is done again, and keeps to what it had decided.
   */

  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final Duration POLL = Duration.ofMillis(250);

  private final AdmissionPolicy policy;
  private final TimeSource time;
  private final long pollNanos;
  private final Duration timeout;
  private final Dialect dialect;
  private final ControlDatabase database;
  private final AdmissionTables tables;
  private final AtomicLong rounds = new AtomicLong();
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Target, AdmissionLine> lines = new HashMap<>(); // guarded by lock
  private int waiting; // guarded by lock; over all lines
  private boolean closed; // guarded by lock

  private JdbcAdmission(Builder builder) {
    this.policy = builder.policy;
    this.time = builder.time;
    this.pollNanos = builder.poll.toNanos();
    this.timeout = builder.timeout;
    this.dialect = builder.dialect.get();
    this.database =
        ControlDatabase.open(
            dialect,
            new ControlDatabase.Settings(
                "admission",
                AdmissionTables.LEASES,
                builder.connections,
                builder.lease,
                builder.timeout,
                builder.time));
    this.tables = new AdmissionTables(database, dialect);
    database.startBeating(tables::sweep, this::writeSharesAnew);
  }

  /**
   * Begins a controller on H2, whose file belongs to one process.
   *
   * @param jdbcUrl as that of {@link JdbcRunStore#open(String)}
   * @param policy the limits, of each target separately
   * @return a builder
   */
  public static Builder builder(String jdbcUrl, AdmissionPolicy policy) {
    Objects.requireNonNull(jdbcUrl, "jdbcUrl");
    return new Builder(() -> new H2Dialect(jdbcUrl, Durability.RELAXED), 1, policy);
  }

  /**
   * Begins a controller on PostgreSQL 14 or newer, with what {@link
   * JdbcRunStore#builder(DataSource)} asks of it.
   *
   * @param dataSource leads to a server that takes writes; to be closed after the controller
   * @param policy the limits, of each target separately
   * @return a builder
   */
  public static Builder builder(DataSource dataSource, AdmissionPolicy policy) {
    Objects.requireNonNull(dataSource, "dataSource");
    return new Builder(() -> new PostgresDialect(dataSource, Durability.RELAXED), 2, policy);
  }

  /** Collects the settings of a controller; not thread-safe. */
  public static final class Builder {
    private final Supplier<Dialect> dialect;
    private final AdmissionPolicy policy;
    private int connections;
    private Duration lease = ControlSettings.LEASE;
    private Duration timeout = ControlSettings.TIMEOUT;
    private Duration poll = POLL;
    private TimeSource time = TimeSource.system();

    private Builder(Supplier<Dialect> dialect, int connections, AdmissionPolicy policy) {
      this.dialect = dialect;
      this.connections = connections;
      this.policy = Objects.requireNonNull(policy, "policy");
    }

    /**
     * Sets how long after its last sign of life the controller counts as alive; it gives one three
     * times as often.
     *
     * @param lease 1 s to 1 h; 30 s unless set. A process that is frozen for longer is taken for
     *     dead
     * @return this builder
     */
    public Builder lease(Duration lease) {
      this.lease = ControlSettings.lease(lease);
      return this;
    }

    /**
     * Sets how long a request waits for the database's first answer, beyond {@code queueTimeout}.
     *
     * @param timeout 1 ms to 1 h; 5 s unless set
     * @return this builder
     */
    public Builder timeout(Duration timeout) {
      this.timeout = ControlSettings.timeout(timeout);
      return this;
    }

    /**
     * Sets how often, at least, the first request of a queue looks whether another process has made
     * room.
     *
     * @param poll 1 ms to 1 h; 250 ms unless set
     * @return this builder
     */
    public Builder poll(Duration poll) {
      this.poll = ControlSettings.poll(poll);
      return this;
    }

    /**
     * Sets how many connections the controller takes and keeps, each with a thread.
     *
     * @param connections 1 to 32; unless set, 1 on H2 and 2 on PostgreSQL
     * @return this builder
     */
    public Builder connections(int connections) {
      this.connections = ControlSettings.connections(connections);
      return this;
    }

    /**
     * Sets the clocks by which requests wait and the lease is renewed.
     *
     * @param time {@link TimeSource#system()} unless set
     * @return this builder
     */
    public Builder timeSource(TimeSource time) {
      this.time = Objects.requireNonNull(time, "time");
      return this;
    }

    /**
     * Opens the controller.
     *
     * @return the controller
     * @throws InvalidRequestException if the URL, or the server with these connections, would not
     *     do; the message says what to change
     * @throws StoreException if the file is open in another process, or the database cannot be
     *     reached or opened
     */
    public JdbcAdmission open() {
      return new JdbcAdmission(this);
    }
  }

  @Override
  public Admission.Decision acquire(AdmissionRequest request) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    Optional<AdmissionLimit> never = neverAdmitted(request);
    if (never.isPresent()) {
      return denied(request.target(), never.get());
    }
    dialect.requireDistinct(request.target().modelId());
    Wait wait = new Wait(request);
    if (wait.remainingNanos == 0) {
      return wait.tooLate();
    }
    Waiter waiter = join(request);
    boolean ended = false;
    try {
      wait.await(waiter);
      ended = true;
    } finally {
      if (!ended) {
        leave(waiter).ifPresent(this::takeBack);
      }
    }
    return leave(waiter).map(Verdict::get).orElseGet(wait::tooLate);
  }

  /** What keeps a request out whatever else goes on. */
  private Optional<AdmissionLimit> neverAdmitted(AdmissionRequest request) {
    if (policy.tokensPerMinute().isEmpty()) {
      return Optional.empty();
    }
    if (request.estimatedTokens().isEmpty()) {
      return Optional.of(AdmissionLimit.MAX_TOKENS_MISSING);
    }
    boolean fits = request.estimatedTokens().getAsLong() <= policy.tokensPerMinute().getAsLong();
    return fits ? Optional.empty() : Optional.of(AdmissionLimit.REQUEST_TOO_LARGE);
  }

  private Admission.Denied denied(Target target, AdmissionLimit limit) {
    Object configured =
        switch (limit) {
          case MAX_CONCURRENT -> policy.maxConcurrent();
          case REQUESTS_PER_MINUTE -> policy.requestsPerMinute().orElseThrow();
          case TOKENS_PER_MINUTE, REQUEST_TOO_LARGE, MAX_TOKENS_MISSING ->
              policy.tokensPerMinute().orElseThrow();
          case QUEUE_FULL -> policy.maxQueue();
          case TARGET_TABLE -> policy.maxTargets();
          case QUEUE_TIMEOUT, DEADLINE -> throw new IllegalArgumentException(limit.toString());
        };
    return new Admission.Denied(target, limit, configured.toString(), Duration.ZERO);
  }

  /** How long one request waits. */
  private final class Wait {
    private final Target target;
    private final long startNanos = time.nanoTime();
    private final long remainingNanos;
    private final long queueNanos = policy.queueTimeout().toNanos();

    Wait(AdmissionRequest request) {
      this.target = request.target();
      this.remainingNanos = request.deadline().remainingNanos();
    }

    /** Waits for an answer, or until the patience is over. */
    void await(Waiter waiter) throws InterruptedException {
      while (true) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        waiter.willLook();
        if (waiter.answer != null) {
          return;
        }
        boolean judged = waiter.judged;
        long untilJudged = queueNanos + timeout.toNanos();
        long mostNanos = Math.min(remainingNanos, judged ? queueNanos : untilJudged);
        long now = time.nanoTime();
        if (now - startNanos >= mostNanos) {
          if (!judged && mostNanos == untilJudged) {
            throw new StoreException(
                "The database did not answer within "
                    + timeout
                    + " (timeout) whether a request is admitted; it is not.",
                null);
          }
          return;
        }
        Alarm alarm = time.alarm(startNanos + mostNanos, waiter::wake);
        waiter.park();
        alarm.cancel();
      }
    }

    Admission.Denied tooLate() {
      long waitedNanos = time.nanoTime() - startNanos;
      boolean deadline = waitedNanos >= remainingNanos;
      return new Admission.Denied(
          target,
          deadline ? AdmissionLimit.DEADLINE : AdmissionLimit.QUEUE_TIMEOUT,
          (deadline ? Duration.ofNanos(remainingNanos) : policy.queueTimeout()).toString(),
          Duration.ofNanos(remainingNanos == 0 ? 0 : waitedNanos));
    }
  }

  private Waiter join(AdmissionRequest request) {
    long tokens =
        policy.tokensPerMinute().isPresent() ? request.estimatedTokens().orElseThrow() : 0;
    Waiter waiter;
    Round round;
    lock.lock();
    try {
      if (closed) {
        throw isClosed();
      }
      AdmissionLine line = lines.computeIfAbsent(request.target(), AdmissionLine::new);
      waiter = new Waiter(line, tokens, waiting < policy.maxQueue());
      line.waiters.add(waiter);
      waiting++;
      round = begin(line);
    } finally {
      lock.unlock();
    }
    submit(round);
    return waiter;
  }

  private static IllegalStateException isClosed() {
    return new IllegalStateException("The store is closed.");
  }

  /** Takes a request out of its line, if it is still there; its answer, if it has one. */
  private Optional<Verdict<Admission.Decision>> leave(Waiter waiter) {
    Round round = null;
    lock.lock();
    try {
      AdmissionLine line = waiter.line;
      boolean first = !line.waiters.isEmpty() && line.waiters.getFirst().equals(waiter);
      if (remove(waiter)) {
        round = first && !line.waiters.isEmpty() ? begin(line) : null;
        forget(line);
      }
    } finally {
      lock.unlock();
    }
    submit(round);
    return Optional.ofNullable(waiter.answer);
  }

  private boolean remove(Waiter waiter) {
    boolean removed = waiter.line.waiters.remove(waiter);
    if (removed) {
      waiting--;
    }
    return removed;
  }

  /** Nobody got the permit: it does not count as a request either. */
  private void takeBack(Verdict<Admission.Decision> answer) {
    if (answer
        instanceof Verdict.Done<Admission.Decision>(Admission.Admitted(AdmissionPermit permit))) {
      ((Permit) permit).takeBack();
    }
  }

  /** Begins a round, unless one is under way. Under the lock. */
  private @Nullable Round begin(AdmissionLine line) {
    if (line.running || closed) {
      return null;
    }
    line.running = true;
    if (line.nextRound != null) {
      line.nextRound.cancel();
      line.nextRound = null;
    }
    return new Round(line);
  }

  private void submit(@Nullable Round round) {
    if (round != null) {
      database.submit(round);
    }
  }

  /** Forgets a line that has nothing to do. Under the lock. */
  private void forget(AdmissionLine line) {
    if (line.isIdle()) {
      lines.remove(line.target);
      if (line.nextRound != null) {
        line.nextRound.cancel();
        line.nextRound = null;
      }
    }
  }

  /** Begins the next round at once if there is something to tell, or plans it. Under the lock. */
  private @Nullable Round goOn(AdmissionLine line, long pauseNanos, boolean atOnce) {
    line.running = false;
    if (closed) {
      return null;
    }
    if (atOnce && line.isDue()) {
      return begin(line);
    }
    if (line.isDue() || !line.waiters.isEmpty()) {
      line.nextRound = time.alarm(time.nanoTime() + pauseNanos, () -> lookAgain(line));
    }
    forget(line);
    return null;
  }

  private void lookAgain(AdmissionLine line) {
    Round round;
    lock.lock();
    try {
      round = begin(line);
    } finally {
      lock.unlock();
    }
    submit(round);
  }

  /** The lease was lost, and the shares with it. */
  private void writeSharesAnew() {
    List<Round> begun = new ArrayList<>();
    lock.lock();
    try {
      for (AdmissionLine line : lines.values()) {
        line.shareChanged |= line.inFlight > 0;
        Round round = line.shareChanged ? begin(line) : null;
        if (round != null) {
          begun.add(round);
        }
      }
    } finally {
      lock.unlock();
    }
    begun.forEach(this::submit);
  }

  /** One transaction for a line. Each method but the lock's on a database thread. */
  private final class Round implements DatabaseThreads.Job {
    private final AdmissionLine line;
    private final long number = rounds.incrementAndGet();
    private @Nullable Intake intake;
    private @Nullable Plan plan;

    Round(AdmissionLine line) {
      this.line = line;
    }

    @Override
    public void run(Connection connection) throws SQLException {
      Intake taken = intake == null ? take() : intake;
      Plan decided = database.transaction(connection, c -> judge(c, taken));
      submit(finish(decided));
    }

    private Intake take() {
      lock.lock();
      try {
        Intake taken = line.take();
        intake = taken;
        return taken;
      } finally {
        lock.unlock();
      }
    }

    private Plan judge(Connection connection, Intake taken) throws SQLException {
      if (!taken.needsTarget()) {
        tables.writeShare(connection, line.target, taken.inFlight(), number);
        return Plan.NOTHING;
      }
      Optional<AdmissionTables.Locked> found =
          tables.lock(connection, line.target, policy.maxTargets());
      if (found.isEmpty()) {
        return taken.denyAll();
      }
      AdmissionTables.Locked locked = found.get();
      AdmissionTables.Shares shares = tables.shares(connection, line.target, locked.nowMillis());
      Plan before = plan;
      if (before != null && shares.ownRound() == number) {
        return before; // it was committed: the answer to the commit got lost
      }
      Plan decided = taken.judge(policy, locked.window(), shares.others(), locked.nowMillis());
      plan = decided;
      if (!decided.window().equals(locked.window())) {
        tables.writeWindow(connection, line.target, decided.window());
      }
      tables.writeShare(
          connection, line.target, taken.inFlight() + decided.admitted().size(), number);
      return decided;
    }

    private @Nullable Round finish(Plan decided) {
      List<Waiter> toWake = new ArrayList<>();
      Round next;
      lock.lock();
      try {
        decided.admitted().forEach((waiter, window) -> admit(waiter, window, toWake));
        decided
            .denied()
            .forEach(
                (waiter, limit) -> {
                  answer(waiter, new Verdict.Done<>(denied(line.target, limit)), toWake);
                });
        for (Waiter waiter : Objects.requireNonNull(intake, "intake").waiters()) {
          if (!waiter.judged) {
            waiter.judged = true;
            toWake.add(waiter);
          }
        }
        next = goOn(line, pause(decided), true);
      } finally {
        lock.unlock();
      }
      toWake.forEach(Waiter::wake);
      return next;
    }

    private void admit(Waiter waiter, long window, List<Waiter> toWake) {
      Permit permit = new Permit(line, waiter.tokens, window);
      if (answer(waiter, new Verdict.Done<>(new Admission.Admitted(permit)), toWake)) {
        line.inFlight++;
      } else { // it has gone meanwhile
        line.corrections.add(new Correction(window, waiter.tokens, 0, false));
        line.shareChanged = true;
      }
    }

    /** Gives a request its answer, if it still waits for one. */
    private boolean answer(Waiter waiter, Verdict<Admission.Decision> answer, List<Waiter> toWake) {
      boolean waits = remove(waiter);
      if (waits) {
        waiter.answer = answer;
        toWake.add(waiter);
      }
      return waits;
    }

    private long pause(Plan decided) {
      long pause = decided.admitted().isEmpty() ? line.pauseNanos * 2 : FIRST_PAUSE_NANOS;
      line.pauseNanos = Math.clamp(pause, Math.min(FIRST_PAUSE_NANOS, pollNanos), pollNanos);
      long jittered = time.random().nextLong(line.pauseNanos / 2, line.pauseNanos) + 1;
      return decided.leftMillis() == Long.MAX_VALUE
          ? jittered
          : Math.clamp(TimeUnit.MILLISECONDS.toNanos(decided.leftMillis()), 1, pollNanos);
    }

    @Override
    public void fail(Throwable cause) {
      List<Waiter> toWake = new ArrayList<>();
      Intake taken = intake == null ? take() : intake;
      Round next;
      lock.lock();
      try {
        for (Waiter waiter : taken.waiters()) {
          answer(waiter, new Verdict.Refused<>(() -> failed(cause)), toWake);
        }
        line.shareChanged = true; // what was admitted, or is not in flight any more
        next = goOn(line, RETRY_NANOS, false);
      } finally {
        lock.unlock();
      }
      toWake.forEach(Waiter::wake);
      submit(next);
    }

    private static StoreException failed(Throwable cause) {
      return new StoreException(
          "The database failed to say whether a request is admitted; it is not.", cause);
    }
  }

  /** A call in flight. */
  private final class Permit implements AdmissionPermit {
    private final AdmissionLine line;
    private final long tokens;
    private final long window;
    private boolean reconciled; // guarded by lock
    private boolean ended; // guarded by lock

    Permit(AdmissionLine line, long tokens, long window) {
      this.line = line;
      this.tokens = tokens;
      this.window = window;
    }

    @Override
    public void reconcile(long totalTokens) {
      if (totalTokens < 0) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "totalTokens must be 0 or more, but is " + totalTokens + ".");
      }
      Round round = null;
      lock.lock();
      try {
        if (!ended && !reconciled && policy.tokensPerMinute().isPresent()) {
          line.corrections.add(new Correction(window, tokens, totalTokens, true));
          round = begin(line);
        }
        reconciled = true;
      } finally {
        lock.unlock();
      }
      submit(round);
    }

    @Override
    public void close() {
      end(false);
    }

    void takeBack() {
      end(true);
    }

    private void end(boolean undo) {
      Round round = null;
      lock.lock();
      try {
        if (!ended) {
          ended = true;
          line.inFlight--;
          line.shareChanged = true;
          if (undo) {
            line.corrections.add(new Correction(window, tokens, 0, false));
          }
          round = begin(line);
        }
      } finally {
        lock.unlock();
      }
      submit(round);
    }

    @Override
    public String toString() {
      return "admission permit";
    }
  }

  /**
   * Refuses new requests and those that wait, and lets go of the lease, and with it of all calls
   * that are still in flight. Waits for that, not interruptibly.
   */
  @Override
  public void close() {
    List<Waiter> toWake = new ArrayList<>();
    lock.lock();
    try {
      closed = true;
      for (AdmissionLine line : lines.values()) {
        if (line.nextRound != null) {
          line.nextRound.cancel();
        }
        for (Waiter waiter : line.waiters) {
          waiter.answer = new Verdict.Refused<>(JdbcAdmission::isClosed);
          toWake.add(waiter);
        }
        line.waiters.clear();
      }
      waiting = 0;
    } finally {
      lock.unlock();
    }
    toWake.forEach(Waiter::wake);
    database.close(
        connection -> {
          database.lease().delete(connection, database.lease().holder());
          return true;
        });
  }

  /**
   * Shows how many calls of this process are in flight, how many wait, and for how many targets.
   */
  @Override
  public String toString() {
    lock.lock();
    try {
      long inFlight = lines.values().stream().mapToLong(line -> line.inFlight).sum();
      return "JDBC admission: %d in flight, %d waiting, %d targets"
          .formatted(inFlight, waiting, lines.size());
    } finally {
      lock.unlock();
    }
  }
}
