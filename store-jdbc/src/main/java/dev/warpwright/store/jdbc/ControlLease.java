package dev.warpwright.store.jdbc;

import dev.warpwright.task.TimeSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The row by which the others know that a control of this process lives. What the control holds in
 * the database refers to it; when the row has not been renewed for its length, by the database's
 * clock, the control is taken for dead.
 *
 * <p>Renewed before whatever the control does, if that is due, so that nothing is taken under a
 * lease that is about to end. Called on the control's database threads.
 */
final class ControlLease {
  private final String holder = UUID.randomUUID().toString();
  private final long millis;
  private final long renewalNanos;
  private final TimeSource time;
  private final String renew;
  private final String insert;
  private final String expired;
  private final String lock;
  private final String delete;
  private volatile long renewedNanos; // when the last renewal began

  /**
   * A lease that is not taken yet.
   *
   * @param table the table of the leases of this kind of control
   * @param length how long it lasts without a renewal
   */
  ControlLease(String table, Duration length, Dialect dialect, TimeSource time) {
    this.millis = length.toMillis();
    this.renewalNanos = length.toNanos() / 3;
    this.time = time;
    String now = dialect.clockMillis();
    this.renew = "UPDATE " + table + " SET until_millis = " + now + " + ? WHERE holder = ?";
    this.insert = "INSERT INTO " + table + " (until_millis, holder) VALUES (" + now + " + ?, ?)";
    this.expired = "SELECT holder FROM " + table + " WHERE until_millis < " + now;
    this.lock = "SELECT until_millis < " + now + " FROM " + table + " WHERE holder = ? FOR UPDATE";
    this.delete = "DELETE FROM " + table + " WHERE holder = ?";
    lost();
  }

  String holder() {
    return holder;
  }

  /** How often it is to be renewed. */
  long renewalNanos() {
    return renewalNanos;
  }

  /** Makes it due. */
  void lost() {
    renewedNanos = time.nanoTime() - renewalNanos;
  }

  /**
   * Renews it in a transaction of its own, if that is due.
   *
   * @return whether it was not there and had to be taken anew
   */
  boolean keep(Connection connection) throws SQLException {
    long now = time.nanoTime();
    if (now - renewedNanos < renewalNanos) {
      return false;
    }
    boolean anew = write(connection, renew) == 0;
    if (anew) {
      write(connection, insert);
    }
    connection.commit();
    renewedNanos = now;
    return anew;
  }

  private int write(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, millis);
      statement.setString(2, holder);
      return statement.executeUpdate();
    }
  }

  /** The holders that are taken for dead. */
  List<String> expired(Connection connection) throws SQLException {
    List<String> holders = new ArrayList<>();
    try (PreparedStatement select = connection.prepareStatement(expired);
        ResultSet row = select.executeQuery()) {
      while (row.next()) {
        holders.add(row.getString(1));
      }
    }
    return holders;
  }

  /** Locks a holder's row until the end of the transaction; whether it is there and has expired. */
  boolean lockExpired(Connection connection, String ofHolder) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(lock)) {
      select.setString(1, ofHolder);
      try (ResultSet row = select.executeQuery()) {
        return row.next() && row.getBoolean(1);
      }
    }
  }

  /** Deletes a holder's row. */
  void delete(Connection connection, String ofHolder) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(delete)) {
      statement.setString(1, ofHolder);
      statement.executeUpdate();
    }
  }
}
