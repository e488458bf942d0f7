package dev.warpwright.store.jdbc;

import dev.warpwright.model.Money;
import dev.warpwright.store.jdbc.JdbcBudgetStore.Uncertain;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The accounts and reservations in the tables, and each act on them as the statements of one
 * transaction.
 *
 * <p>A reservation has a row from the moment it is made until it is spent or given back. {@code
 * RESERVED} counts in the account's reserved sum; {@code UNCERTAIN} and {@code ABANDONED}, which is
 * what a reservation becomes when its holder died, count with what they hold in the uncertain sum.
 * The first end that takes a row out, or makes it uncertain, counts. An abandoned row waits for the
 * end that its holder may still bring, or for the application to reconcile it.
 *
 * <p>Locks are taken in the order lease, reservations, account, so that no two wait for each other.
 * A reservation's row comes before the account, which many want: that is locked from its update
 * until the commit only.
 */
final class Ledger {
  static final String LEASES = "ww_budget_lease";

  private static final long NONE = Long.MAX_VALUE;
  private static final int MAX_LISTED = 1_000;

  private static final String RESERVE =
      "UPDATE ww_budget SET reserved_nanos = reserved_nanos + ? WHERE scope = ? AND currency = ?"
          + " AND spent_nanos <= ? - reserved_nanos - uncertain_nanos";

  private static final String OPEN =
      "INSERT INTO ww_budget (scope, currency, spent_nanos, estimated_nanos, reserved_nanos,"
          + " uncertain_nanos) VALUES (?, ?, 0, 0, 0, 0)";

  private static final String ACCOUNT =
      "SELECT spent_nanos, estimated_nanos, reserved_nanos, uncertain_nanos FROM ww_budget"
          + " WHERE scope = ? AND currency = ?";

  private static final String CHANGE =
      "UPDATE ww_budget SET reserved_nanos = reserved_nanos + ?,"
          + " uncertain_nanos = uncertain_nanos + ?,"
          + " spent_nanos = spent_nanos"
          + " + LEAST(CAST(? AS BIGINT), 9223372036854775807 - spent_nanos),"
          + " estimated_nanos = estimated_nanos"
          + " + LEAST(CAST(? AS BIGINT), 9223372036854775807 - estimated_nanos)"
          + " WHERE scope = ? AND currency = ?";

  private static final String TAKE_OUT =
      "DELETE FROM ww_budget_reservation WHERE id = ? AND state = ?";

  private static final String DOUBT =
      "UPDATE ww_budget_reservation SET state = 'UNCERTAIN', held_nanos = amount_nanos,"
          + " holder = NULL WHERE id = ? AND state = ?";

  private static final String HELD =
      "SELECT state, held_nanos FROM ww_budget_reservation"
          + " WHERE id = ? AND scope = ? AND currency = ? FOR UPDATE";

  private static final String OF_HOLDER =
      "SELECT id, scope, currency, amount_nanos FROM ww_budget_reservation"
          + " WHERE holder = ? FOR UPDATE";

  private static final String ABANDON =
      "UPDATE ww_budget_reservation SET state = 'ABANDONED', held_nanos = ?, holder = NULL"
          + " WHERE id = ?";

  private static final String UNCERTAIN =
      "SELECT id, held_nanos, state, reserved_millis FROM ww_budget_reservation"
          + " WHERE scope = ? AND currency = ? AND state <> 'RESERVED' AND held_nanos > 0"
          + " ORDER BY reserved_millis, id FETCH FIRST "
          + MAX_LISTED
          + " ROWS ONLY";

  private final ControlDatabase database;
  private final Money limit;
  private final boolean givenBack;
  private final String insert;

  /**
   * The ledger with one limit for each scope.
   *
   * @param givenBack whether what a holder that died had reserved is given back
   */
  Ledger(ControlDatabase database, Dialect dialect, Money limit, boolean givenBack) {
    this.database = database;
    this.limit = limit;
    this.givenBack = givenBack;
    this.insert =
        "INSERT INTO ww_budget_reservation (id, scope, currency, amount_nanos, held_nanos, state,"
            + " holder, reserved_millis) VALUES (?, ?, ?, ?, ?, 'RESERVED', ?, "
            + dialect.clockMillis()
            + ")";
  }

  /** A reservation to be made or ended. */
  record Entry(String id, String scope, Money amount) {}

  /** How a reservation ends. */
  sealed interface End {
    /** The call was made and this is what it cost. */
    record Settle(long nanos, boolean estimated) implements End {}

    /** The call was never made. */
    record Cancel() implements End {}

    /** Nobody knows what the call did cost. */
    record Doubt() implements End {}
  }

  /**
   * Reserves, if it fits.
   *
   * @return the account that has no room, or nothing if the amount is reserved
   */
  Optional<Account> reserve(Connection connection, Entry entry) throws SQLException {
    boolean swept = !givenBack;
    while (true) {
      if (!insert(connection, entry)) {
        database.restart(connection);
        return Optional.empty(); // it was made already: the answer to a commit got lost
      }
      if (addReserved(connection, entry)) {
        return Optional.empty();
      }
      database.restart(connection); // takes the row out again
      Optional<Account> account = account(connection, entry.scope());
      if (account.isEmpty()) {
        open(connection, entry.scope());
      } else if (swept) {
        return account;
      } else {
        swept = true;
        if (!abandonExpired(connection)) {
          return account;
        }
      }
    }
  }

  private boolean insert(Connection connection, Entry entry) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(insert)) {
      statement.setString(1, entry.id());
      statement.setString(2, entry.scope());
      statement.setString(3, limit.currency());
      statement.setLong(4, entry.amount().nanos());
      statement.setLong(5, entry.amount().nanos());
      statement.setString(6, database.lease().holder());
      statement.executeUpdate();
      return true;
    } catch (SQLException e) {
      if (ControlDatabase.isDuplicate(e)) {
        return false;
      }
      throw e;
    }
  }

  private boolean addReserved(Connection connection, Entry entry) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(RESERVE)) {
      statement.setLong(1, entry.amount().nanos());
      statement.setString(2, entry.scope());
      statement.setString(3, limit.currency());
      statement.setLong(4, limit.nanos() - entry.amount().nanos());
      return statement.executeUpdate() == 1;
    }
  }

  /** Makes the account of a scope, for all who wait for it to be there. */
  private void open(Connection connection, String scope) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(OPEN)) {
      statement.setString(1, scope);
      statement.setString(2, limit.currency());
      statement.executeUpdate();
      connection.commit();
    } catch (SQLException e) {
      if (!ControlDatabase.isDuplicate(e)) {
        throw e;
      }
    }
    database.restart(connection);
  }

  /** The account of a scope; empty if nothing was ever reserved in it. */
  Optional<Account> account(Connection connection, String scope) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(ACCOUNT)) {
      statement.setString(1, scope);
      statement.setString(2, limit.currency());
      try (ResultSet row = statement.executeQuery()) {
        return row.next()
            ? Optional.of(
                new Account(row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4)))
            : Optional.empty();
      }
    }
  }

  /** Ends a reservation, unless it has ended. */
  void end(Connection connection, Entry entry, End end) throws SQLException {
    if (takeOut(connection, entry, end, "RESERVED")) {
      change(connection, entry.scope(), change(entry, end).plusReserved(-entry.amount().nanos()));
      return;
    }
    long held = held(connection, entry.id(), entry.scope(), "ABANDONED");
    if (held != NONE) {
      takeOut(connection, entry, end, "ABANDONED");
      change(connection, entry.scope(), change(entry, end).plusUncertain(-held));
    }
  }

  /** Takes a row out of a state: out of the table, or, in doubt, to {@code UNCERTAIN}. */
  private static boolean takeOut(Connection connection, Entry entry, End end, String state)
      throws SQLException {
    boolean stays = end instanceof End.Doubt && entry.amount().nanos() > 0;
    try (PreparedStatement statement = connection.prepareStatement(stays ? DOUBT : TAKE_OUT)) {
      statement.setString(1, entry.id());
      statement.setString(2, state);
      return statement.executeUpdate() == 1;
    }
  }

  /** What an end adds to the account. */
  private static Account.Change change(Entry entry, End end) {
    return switch (end) {
      case End.Settle(long nanos, boolean estimated) -> Account.Change.spent(nanos, estimated);
      case End.Cancel() -> Account.Change.spent(0, false);
      case End.Doubt() -> Account.Change.spent(0, false).plusUncertain(entry.amount().nanos());
    };
  }

  private void change(Connection connection, String scope, Account.Change change)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(CHANGE)) {
      statement.setLong(1, change.reserved());
      statement.setLong(2, change.uncertain());
      statement.setLong(3, change.spent());
      statement.setLong(4, change.estimated());
      statement.setString(5, scope);
      statement.setString(6, limit.currency());
      if (statement.executeUpdate() != 1) {
        throw new SQLException("The row of an account is missing.");
      }
    }
  }

  /** Locks a reservation; what it holds if it is in one of the states, otherwise {@link #NONE}. */
  private long held(Connection connection, String id, String scope, String... states)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(HELD)) {
      statement.setString(1, id);
      statement.setString(2, scope);
      statement.setString(3, limit.currency());
      try (ResultSet row = statement.executeQuery()) {
        return row.next() && List.of(states).contains(row.getString(1)) ? row.getLong(2) : NONE;
      }
    }
  }

  /** Spends what an uncertain or abandoned reservation did cost; false if there is none. */
  boolean reconcile(Connection connection, String scope, String id, long actualNanos)
      throws SQLException {
    long held = held(connection, id, scope, "UNCERTAIN", "ABANDONED");
    if (held == NONE) {
      return false;
    }
    try (PreparedStatement statement =
        connection.prepareStatement("DELETE FROM ww_budget_reservation WHERE id = ?")) {
      statement.setString(1, id);
      statement.executeUpdate();
    }
    change(connection, scope, Account.Change.spent(actualNanos, false).plusUncertain(-held));
    return true;
  }

  /** The oldest reservations of a scope whose end is not known. */
  List<Uncertain> uncertain(Connection connection, String scope) throws SQLException {
    List<Uncertain> open = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(UNCERTAIN)) {
      statement.setString(1, scope);
      statement.setString(2, limit.currency());
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          open.add(
              new Uncertain(
                  row.getString(1),
                  new Money(row.getLong(2), limit.currency()),
                  Instant.ofEpochMilli(row.getLong(4)),
                  row.getString(3).equals("ABANDONED")));
        }
      }
    }
    return open;
  }

  /**
   * Abandons what holders that died had reserved, in a transaction for each.
   *
   * @return whether there was such a holder
   */
  boolean abandonExpired(Connection connection) throws SQLException {
    boolean any = false;
    for (String holder : database.lease().expired(connection)) {
      if (database.lease().lockExpired(connection, holder)) {
        abandon(connection, holder);
        any = true;
      }
      connection.commit();
      database.restart(connection);
    }
    return any;
  }

  /** Abandons what a holder has reserved, and takes out its lease. */
  void abandon(Connection connection, String holder) throws SQLException {
    Map<List<String>, Long> sums = new TreeMap<>(Ledger::compareAccounts);
    try (PreparedStatement select = connection.prepareStatement(OF_HOLDER);
        PreparedStatement abandon = connection.prepareStatement(ABANDON)) {
      select.setString(1, holder);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          long nanos = row.getLong(4);
          sums.merge(List.of(row.getString(2), row.getString(3)), nanos, Long::sum);
          abandon.setLong(1, givenBack ? 0 : nanos);
          abandon.setString(2, row.getString(1));
          abandon.addBatch();
        }
      }
      if (!sums.isEmpty()) {
        abandon.executeBatch();
      }
    }
    for (Map.Entry<List<String>, Long> sum : sums.entrySet()) {
      abandon(connection, sum.getKey(), sum.getValue());
    }
    database.lease().delete(connection, holder);
  }

  private void abandon(Connection connection, List<String> account, long nanos)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(CHANGE)) {
      statement.setLong(1, -nanos);
      statement.setLong(2, givenBack ? 0 : nanos);
      statement.setLong(3, 0);
      statement.setLong(4, 0);
      statement.setString(5, account.get(0));
      statement.setString(6, account.get(1));
      statement.executeUpdate();
    }
  }

  private static int compareAccounts(List<String> a, List<String> b) {
    int order = a.get(0).compareTo(b.get(0));
    return order != 0 ? order : a.get(1).compareTo(b.get(1));
  }
}
