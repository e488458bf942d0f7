package dev.warpwright.store.jdbc;

import dev.warpwright.control.BudgetReservation;
import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import dev.warpwright.model.StoreException;
import dev.warpwright.store.jdbc.JdbcRunStore.Durability;
import dev.warpwright.task.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * Budgets in a database: the stores of any number of processes on one PostgreSQL spend from the
 * same accounts, and never more than the limit between them. On H2 in a file they belong to one
 * process and outlive it.
 *
 * <pre>{@code
 * try (JdbcBudgetStore budget =
 *     JdbcBudgetStore.builder(dataSource, Money.of("100", "USD")).open()) {
 *   ...
 * }
 * }</pre>
 *
 * <p>Opening makes the tables where they are missing; they may be in the database of a {@link
 * JdbcRunStore}. An account belongs to a scope and a currency, and each store judges it by its own
 * limit. Scopes are not limited in number, and never deleted.
 *
 * <p>A store renews a {@linkplain Builder#lease lease} as long as it lives. When that has ended by
 * the database's clock, its process has died, or was frozen so long that it might have: what it had
 * reserved becomes uncertain, or is given back if that is {@linkplain Builder#abandoned set}. If
 * the process comes back and settles after all, that counts, once. {@link #uncertain} lists what
 * has to be {@linkplain #reconcile reconciled}.
 *
 * <p>A call waits for the database at most for the {@linkplain Builder#timeout timeout}, then it
 * throws a {@link StoreException}. Only {@link #reserve} is cut short by an interrupt; what it
 * reserves after that is given back. To repeat a call that failed does no harm: settling twice
 * counts once.
 *
 * <p>Only threads of the store touch the database, all daemons. Instances are thread-safe. A store
 * that is closed refuses every call with an {@link IllegalStateException}.
 */
public final class JdbcBudgetStore implements BudgetStore, AutoCloseable {
  private static final int MAX_SCOPE_LENGTH = 256;

  private final Money limit;
  private final Dialect dialect;
  private final ControlDatabase database;
  private final Ledger ledger;

  /** Reservations that nobody got, to be given back. */
  private final Set<Ledger.Entry> owed = ConcurrentHashMap.newKeySet();

  /** What becomes of the reservations of a process that died. */
  public enum Abandoned {
    /**
     * They are uncertain, and stay blocked until they are reconciled: the provider may bill the
     * calls for which they were made.
     */
    UNCERTAIN,
    /**
     * They are given back, as if the calls had never been made. What these did cost is missing in
     * the account, unless it is reconciled by the reservation's id.
     */
    GIVEN_BACK
  }

  /**
   * A reservation whose call may have been billed or not.
   *
   * @param id the id to reconcile it by
   * @param amount what is blocked for it
   * @param reserved when it was made, by the database's clock
   * @param abandoned whether its process died; it may still come back and settle it
   */
  public record Uncertain(String id, Money amount, Instant reserved, boolean abandoned) {}

  private JdbcBudgetStore(Builder builder) {
    this.limit = builder.limit;
    this.dialect = builder.dialect.apply(builder.durability);
    this.database =
        ControlDatabase.open(
            dialect,
            new ControlDatabase.Settings(
                "budget",
                Ledger.LEASES,
                builder.connections,
                builder.lease,
                builder.timeout,
                builder.time));
    this.ledger = new Ledger(database, dialect, limit, builder.abandoned == Abandoned.GIVEN_BACK);
    database.startBeating(this::sweep, () -> {});
  }

  /**
   * Begins a store on H2.
   *
   * @param jdbcUrl as that of {@link JdbcRunStore#open(String)}
   * @param limit what each scope may spend, zero or more
   * @return a builder
   * @throws InvalidRequestException if the limit is negative
   */
  public static Builder builder(String jdbcUrl, Money limit) {
    Objects.requireNonNull(jdbcUrl, "jdbcUrl");
    return new Builder(durability -> new H2Dialect(jdbcUrl, durability), 1, limit);
  }

  /**
   * Begins a store on PostgreSQL 14 or newer, with what {@link JdbcRunStore#builder(DataSource)}
   * asks of it.
   *
   * @param dataSource leads to a server that takes writes; to be closed after the store
   * @param limit what each scope may spend, zero or more
   * @return a builder
   * @throws InvalidRequestException if the limit is negative
   */
  public static Builder builder(DataSource dataSource, Money limit) {
    Objects.requireNonNull(dataSource, "dataSource");
    return new Builder(durability -> new PostgresDialect(dataSource, durability), 2, limit);
  }

  /** Collects the settings of a store; not thread-safe. */
  public static final class Builder {
    private final Function<Durability, Dialect> dialect;
    private final Money limit;
    private int connections;
    private Durability durability = Durability.POWER;
    private Duration lease = ControlSettings.LEASE;
    private Duration timeout = ControlSettings.TIMEOUT;
    private Abandoned abandoned = Abandoned.UNCERTAIN;
    private TimeSource time = TimeSource.system();

    private Builder(Function<Durability, Dialect> dialect, int connections, Money limit) {
      if (limit.signum() < 0) {
        throw new InvalidRequestException(
            FailureKind.INVALID_CONFIGURATION, "limit must be 0 or more, but is " + limit + ".");
      }
      this.dialect = dialect;
      this.connections = connections;
      this.limit = limit;
    }

    /**
     * Sets what a commit survives. With less than {@link Durability#POWER} an account may lose what
     * was reserved and spent last.
     *
     * @param durability {@link Durability#POWER} unless set
     * @return this builder
     */
    public Builder durability(Durability durability) {
      this.durability = Objects.requireNonNull(durability, "durability");
      return this;
    }

    /**
     * Sets how long after its last sign of life the store counts as alive; it gives one three times
     * as often.
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
     * Sets how long a call waits for the database.
     *
     * @param timeout 1 ms to 1 h; 5 s unless set
     * @return this builder
     */
    public Builder timeout(Duration timeout) {
      this.timeout = ControlSettings.timeout(timeout);
      return this;
    }

    /**
     * Sets how many connections the store takes and keeps, each with a thread.
     *
     * @param connections 1 to 32; unless set, 1 on H2 and 2 on PostgreSQL
     * @return this builder
     */
    public Builder connections(int connections) {
      this.connections = ControlSettings.connections(connections);
      return this;
    }

    /**
     * Sets what becomes of the reservations of a process that died, when this store is the one that
     * finds them.
     *
     * @param abandoned {@link Abandoned#UNCERTAIN} unless set
     * @return this builder
     */
    public Builder abandoned(Abandoned abandoned) {
      this.abandoned = Objects.requireNonNull(abandoned, "abandoned");
      return this;
    }

    /**
     * Sets the clocks by which the store waits and renews its lease.
     *
     * @param time {@link TimeSource#system()} unless set
     * @return this builder
     */
    public Builder timeSource(TimeSource time) {
      this.time = Objects.requireNonNull(time, "time");
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
    public JdbcBudgetStore open() {
      return new JdbcBudgetStore(this);
    }
  }

  @Override
  public String currency() {
    return limit.currency();
  }

  @Override
  public Decision reserve(String scope, Money amount) throws InterruptedException {
    requireScope(scope);
    requireOurCurrency("A reservation", amount);
    requireNotNegative("A reservation", amount);
    if (amount.compareTo(limit) > 0) {
      return new Decision.Denied(account("to read a budget", scope).denial(amount, limit));
    }
    Ledger.Entry entry = new Ledger.Entry(UUID.randomUUID().toString(), scope, amount);
    Optional<Account> refused =
        database.callInterruptibly(
            "to reserve money",
            connection -> ledger.reserve(connection, entry),
            () -> takeBack(entry));
    return refused.isPresent()
        ? new Decision.Denied(refused.get().denial(amount, limit))
        : new Decision.Reserved(new Reservation(entry));
  }

  /** Nobody has the reservation, if it was made. */
  private void takeBack(Ledger.Entry entry) {
    owed.add(entry);
    database.submit(
        new DatabaseThreads.Job() {
          @Override
          public void run(Connection connection) throws SQLException {
            database.transaction(connection, JdbcBudgetStore.this::giveBack);
          }

          @Override
          public void fail(Throwable cause) {} // the next beat tries again
        });
  }

  private boolean giveBack(Connection connection) throws SQLException {
    for (Ledger.Entry entry : List.copyOf(owed)) {
      ledger.end(connection, entry, new Ledger.End.Cancel());
      connection.commit();
      owed.remove(entry);
      database.restart(connection);
    }
    return true;
  }

  private boolean sweep(Connection connection) throws SQLException {
    giveBack(connection);
    return ledger.abandonExpired(connection);
  }

  @Override
  public BudgetSnapshot snapshot(String scope) {
    requireScope(scope);
    return account("to read a budget", scope).snapshot(limit);
  }

  private Account account(String what, String scope) {
    return database.call(
        what,
        connection -> {
          ledger.abandonExpired(connection);
          return ledger.account(connection, scope).orElse(Account.EMPTY);
        });
  }

  /**
   * Lists what is uncertain: the ids by which the application can reconcile it, also what a process
   * had reserved that died.
   *
   * @param scope whose account
   * @return at most 1000 reservations that block something, the oldest first
   */
  public List<Uncertain> uncertain(String scope) {
    requireScope(scope);
    return database.call(
        "to list what is uncertain",
        connection -> {
          ledger.abandonExpired(connection);
          return ledger.uncertain(connection, scope);
        });
  }

  @Override
  public boolean reconcile(String scope, String reservationId, Money actual) {
    requireScope(scope);
    requireOurCurrency("What was spent", actual);
    requireNotNegative("What was spent", actual);
    AtomicBoolean found = new AtomicBoolean(); // also if the answer to the commit gets lost
    return database.call(
        "to reconcile a reservation",
        connection -> {
          if (ledger.reconcile(connection, scope, reservationId, actual.nanos())) {
            found.set(true);
          }
          return found.get();
        });
  }

  private void requireScope(String scope) {
    if (scope.isBlank() || scope.length() > MAX_SCOPE_LENGTH) {
      throw new InvalidRequestException(
          FailureKind.INVALID_SCOPE,
          "A budget scope must have 1 to %d characters and not be blank, but has %d."
              .formatted(MAX_SCOPE_LENGTH, scope.length()));
    }
    dialect.requireDistinct(scope);
  }

  private void requireOurCurrency(String what, Money amount) {
    if (!amount.sameCurrency(limit)) {
      throw invalid(
          "%s must be in %s, the currency of the budget, but is %s."
              .formatted(what, limit.currency(), amount));
    }
  }

  private static void requireNotNegative(String what, Money amount) {
    if (amount.signum() < 0) {
      throw invalid("%s must be 0 or more, but is %s.".formatted(what, amount));
    }
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_REQUEST, message);
  }

  /**
   * Does what was asked of it, and lets go of its lease. What is still reserved is abandoned at
   * once. Waits for that, not interruptibly.
   */
  @Override
  public void close() {
    database.close(
        connection -> {
          giveBack(connection);
          ledger.abandon(connection, database.lease().holder());
          return true;
        });
  }

  /** Shows the limit. */
  @Override
  public String toString() {
    return "JDBC budget: " + limit + " for each scope";
  }

  private final class Reservation implements BudgetReservation {
    private final Ledger.Entry entry;
    private volatile boolean ended; // no other end changes anything any more

    Reservation(Ledger.Entry entry) {
      this.entry = entry;
    }

    @Override
    public String id() {
      return entry.id();
    }

    @Override
    public Money amount() {
      return entry.amount();
    }

    @Override
    public void settle(Money actual, boolean estimated) {
      requireNotNegative("What was spent", actual);
      end(
          "to settle a reservation",
          actual.sameCurrency(limit)
              ? new Ledger.End.Settle(actual.nanos(), estimated)
              : new Ledger.End.Doubt());
    }

    @Override
    public void cancel() {
      end("to cancel a reservation", new Ledger.End.Cancel());
    }

    @Override
    public void uncertain() {
      end("to keep a reservation as uncertain", new Ledger.End.Doubt());
    }

    private void end(String what, Ledger.End end) {
      if (ended) {
        return;
      }
      database.call(
          what,
          connection -> {
            ledger.end(connection, entry, end);
            return true;
          });
      ended = true;
    }

    @Override
    public String toString() {
      return "reservation " + entry.id() + " of " + entry.amount();
    }
  }
}
