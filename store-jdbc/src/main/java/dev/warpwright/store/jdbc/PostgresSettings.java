package dev.warpwright.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The settings that the journal makes on its connection for as long as it has it, and what they
 * were before, since the connection is the program's.
 */
final class PostgresSettings {
  private static final String SYNCHRONOUS_COMMIT = "synchronous_commit";

  private final Map<String, String> before;

  private PostgresSettings(Map<String, String> before) {
    this.before = before;
  }

  /**
   * Makes them; commits.
   *
   * <p>The plans of prepared statements may date from when the tables were empty, and must use the
   * indexes all the same; so one plan is as good as another, and is made once: to plan the append
   * of an event takes twice the time of its execution. A process that is frozen in the middle of a
   * transaction must not keep its locks, and loses them before its lease ends.
   *
   * @param durable whether a commit is forced to the disk, also where the server does not ask for
   *     that; what it asks for beyond that stands
   */
  static PostgresSettings make(Connection connection, boolean durable, long idleMillis)
      throws SQLException {
    Map<String, String> wanted = new LinkedHashMap<>();
    wanted.put("enable_seqscan", "off");
    wanted.put("enable_hashjoin", "off");
    wanted.put("enable_mergejoin", "off");
    wanted.put("plan_cache_mode", "force_generic_plan");
    wanted.put("jit", "off"); // what has to scan all the same seems to cost more than it does
    wanted.put("idle_in_transaction_session_timeout", Long.toString(idleMillis));
    wanted.put(SYNCHRONOUS_COMMIT, "off");
    Map<String, String> before = new LinkedHashMap<>();
    try (PreparedStatement read = connection.prepareStatement("SELECT current_setting(?)")) {
      for (String name : wanted.keySet()) {
        read.setString(1, name);
        try (ResultSet row = read.executeQuery()) {
          row.next();
          before.put(name, row.getString(1));
        }
      }
    }
    if (durable) {
      String asked = before.getOrDefault(SYNCHRONOUS_COMMIT, "on");
      wanted.put(SYNCHRONOUS_COMMIT, asked.equals("off") ? "on" : asked);
    }
    set(connection, wanted);
    return new PostgresSettings(before);
  }

  private static void set(Connection connection, Map<String, String> settings) throws SQLException {
    try (PreparedStatement set = connection.prepareStatement("SELECT set_config(?, ?, false)")) {
      for (Map.Entry<String, String> setting : settings.entrySet()) {
        set.setString(1, setting.getKey());
        set.setString(2, setting.getValue());
        set.executeQuery().close();
      }
    }
    connection.commit();
  }

  /** Makes them what they were; what is not committed is undone. */
  void restore(Connection connection) throws SQLException {
    connection.rollback();
    set(connection, before);
  }
}
