package dev.warpwright.store.jdbc;

import dev.warpwright.model.Target;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/**
 * The windows and shares in the tables.
 *
 * <p>Who admits locks the target's row, and with it what all others do with the target until the
 * commit. A controller's share is written by itself only, and counts as long as its lease does.
 */
final class AdmissionTables {
  static final String LEASES = "ww_admission_lease";

  private static final String OF_TARGET = " WHERE provider = ? AND model = ? AND deployment = ?";

  private static final String LOCK =
      "SELECT number, start_millis, requests, tokens, %s FROM ww_admission"
          + OF_TARGET
          + " FOR UPDATE";

  private static final String ADD =
      "INSERT INTO ww_admission (provider, model, deployment, number, start_millis, requests,"
          + " tokens) VALUES (?, ?, ?, 0, 0, 0, 0)";

  /** What is idle and has no window. */
  private static final String EVICT =
      "DELETE FROM ww_admission WHERE start_millis < %s - "
          + AdmissionWindow.LENGTH_MILLIS
          + " AND NOT EXISTS (SELECT 1 FROM ww_admission_share s JOIN ww_admission_lease l"
          + " ON l.holder = s.holder WHERE s.provider = ww_admission.provider"
          + " AND s.model = ww_admission.model AND s.deployment = ww_admission.deployment"
          + " AND s.in_flight > 0 AND l.until_millis >= %s)";

  /** What is left of targets that were evicted. */
  private static final String EVICT_SHARES =
      "DELETE FROM ww_admission_share WHERE in_flight = 0 AND NOT EXISTS"
          + " (SELECT 1 FROM ww_admission a WHERE a.provider = ww_admission_share.provider"
          + " AND a.model = ww_admission_share.model"
          + " AND a.deployment = ww_admission_share.deployment)";

  private static final String SHARES =
      "SELECT s.holder, s.in_flight, s.round, l.until_millis FROM ww_admission_share s"
          + " JOIN ww_admission_lease l ON l.holder = s.holder"
          + " WHERE s.provider = ? AND s.model = ? AND s.deployment = ?";

  private static final String WINDOW =
      "UPDATE ww_admission SET number = ?, start_millis = ?, requests = ?, tokens = ?" + OF_TARGET;

  private static final String SHARE =
      "UPDATE ww_admission_share SET in_flight = ?, round = ?" + OF_TARGET + " AND holder = ?";

  private static final String FIRST_SHARE =
      "INSERT INTO ww_admission_share (in_flight, round, provider, model, deployment, holder)"
          + " VALUES (?, ?, ?, ?, ?, ?)";

  private final ControlDatabase database;
  private final String lock;
  private final String evict;

  AdmissionTables(ControlDatabase database, Dialect dialect) {
    this.database = database;
    String now = dialect.clockMillis();
    this.lock = LOCK.formatted(now);
    this.evict = EVICT.formatted(now, now);
  }

  /** A target's window, locked, and the time. */
  record Locked(AdmissionWindow window, long nowMillis) {}

  /**
   * How many calls are in flight.
   *
   * @param others of all other controllers that live
   * @param ownRound the round in which this one wrote its own share last; 0 if it never did
   */
  record Shares(long others, long ownRound) {}

  /**
   * Locks a target's row until the end of the transaction, and makes it if there is room for it.
   *
   * @return empty if there are as many targets as there may be, none of which can be evicted
   */
  Optional<Locked> lock(Connection connection, Target target, int maxTargets) throws SQLException {
    while (true) {
      try (PreparedStatement select = connection.prepareStatement(lock)) {
        setTarget(select, 0, target);
        try (ResultSet row = select.executeQuery()) {
          if (row.next()) {
            return Optional.of(
                new Locked(
                    new AdmissionWindow(
                        row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4)),
                    row.getLong(5)));
          }
        }
      }
      if (!hasRoom(connection, maxTargets)) {
        return Optional.empty();
      }
      add(connection, target);
    }
  }

  private boolean hasRoom(Connection connection, int maxTargets) throws SQLException {
    if (count(connection) < maxTargets) {
      return true;
    }
    try (PreparedStatement targets = connection.prepareStatement(evict);
        PreparedStatement shares = connection.prepareStatement(EVICT_SHARES)) {
      targets.executeUpdate();
      shares.executeUpdate();
    }
    connection.commit();
    database.restart(connection);
    return count(connection) < maxTargets;
  }

  private static long count(Connection connection) throws SQLException {
    try (PreparedStatement select =
            connection.prepareStatement("SELECT COUNT(*) FROM ww_admission");
        ResultSet row = select.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  private void add(Connection connection, Target target) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(ADD)) {
      setTarget(insert, 0, target);
      insert.executeUpdate();
      connection.commit();
    } catch (SQLException e) {
      if (!ControlDatabase.isDuplicate(e)) {
        throw e;
      }
    }
    database.restart(connection);
  }

  /** Reads who has calls of a target in flight. */
  Shares shares(Connection connection, Target target, long nowMillis) throws SQLException {
    long others = 0;
    long ownRound = 0;
    try (PreparedStatement select = connection.prepareStatement(SHARES)) {
      setTarget(select, 0, target);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          if (row.getString(1).equals(database.lease().holder())) {
            ownRound = row.getLong(3);
          } else if (row.getLong(4) >= nowMillis) {
            others += row.getLong(2);
          }
        }
      }
    }
    return new Shares(others, ownRound);
  }

  void writeWindow(Connection connection, Target target, AdmissionWindow window)
      throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(WINDOW)) {
      update.setLong(1, window.number());
      update.setLong(2, window.startMillis());
      update.setLong(3, window.requests());
      update.setLong(4, window.tokens());
      setTarget(update, 4, target);
      update.executeUpdate();
    }
  }

  /** Writes how many calls of a target this controller has in flight. */
  void writeShare(Connection connection, Target target, long inFlight, long round)
      throws SQLException {
    if (writeShare(connection, SHARE, target, inFlight, round) == 0) {
      writeShare(connection, FIRST_SHARE, target, inFlight, round);
    }
  }

  private int writeShare(
      Connection connection, String sql, Target target, long inFlight, long round)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, inFlight);
      statement.setLong(2, round);
      setTarget(statement, 2, target);
      statement.setString(6, database.lease().holder());
      return statement.executeUpdate();
    }
  }

  /** Takes out the controllers that died, with their shares; those do not count any more. */
  boolean sweep(Connection connection) throws SQLException {
    for (String holder : database.lease().expired(connection)) {
      if (database.lease().lockExpired(connection, holder)) {
        database.lease().delete(connection, holder);
      }
      connection.commit();
      database.restart(connection);
    }
    return true;
  }

  private static void setTarget(PreparedStatement statement, int before, Target target)
      throws SQLException {
    statement.setString(before + 1, target.provider());
    statement.setString(before + 2, target.modelId());
    statement.setString(before + 3, target.deploymentId().orElse(""));
  }
}
