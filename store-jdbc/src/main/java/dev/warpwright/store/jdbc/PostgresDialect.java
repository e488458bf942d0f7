package dev.warpwright.store.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.StoreException;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunSummary;
import dev.warpwright.store.jdbc.JdbcRunStore.Durability;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;

/**
 * What is particular to PostgreSQL: what is asked of the server and of the program's connections,
 * and what its errors mean.
 *
 * <p>Several stores, in one process or many, have the same database; each is a worker under its
 * owner name.
 */
final class PostgresDialect implements Dialect {
  private static final String PRODUCT = "PostgreSQL";
  private static final int OLDEST_VERSION = 14;
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int MAX_DEAD_CONNECTIONS = 10;
  private static final String INSUFFICIENT_PRIVILEGE = "42501";

  private static final String NOT_FROZEN =
      "SELECT set_config('idle_in_transaction_session_timeout', '10s', true), ";

  /** What the server or the connection asks for stands, unless that would lose commits. */
  private static final String DURABLE =
      NOT_FROZEN
          + "CASE current_setting('synchronous_commit')"
          + " WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END";

  private static final String RELAXED =
      NOT_FROZEN + "set_config('synchronous_commit', 'off', true)";

  private final DataSource source;
  private final Durability durability;

  PostgresDialect(DataSource source, Durability durability) {
    this.source = source;
    this.durability = durability;
  }

  /** A name that other processes hardly have: of the host and the process id. */
  static String defaultOwner() {
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      host = "unknown";
    }
    return "warpwright-%.64s-%d".formatted(host, ProcessHandle.current().pid());
  }

  /** The driver writes half a surrogate pair as a question mark; the server takes no NUL. */
  @Override
  public void requireDistinct(RunScope scope, Optional<String> idempotencyKey) {
    Stream.of(Optional.of(scope.tenant()), scope.user(), scope.namespace(), idempotencyKey)
        .flatMap(Optional::stream)
        .filter(text -> !isKept(text))
        .findFirst()
        .ifPresent(
            text -> {
              throw new InvalidRequestException(
                  FailureKind.INVALID_SCOPE,
                  "A scope and an idempotency key on PostgreSQL must be Unicode without the"
                      + " character U+0000, but one of "
                      + text.length()
                      + " characters is not.");
            });
  }

  @Override
  public void requireDistinct(String name) {
    if (!isKept(name)) {
      throw new InvalidRequestException(
          FailureKind.INVALID_SCOPE,
          "A name on PostgreSQL must be Unicode without the character U+0000, but one of "
              + name.length()
              + " characters is not.");
    }
  }

  private static boolean isKept(String text) {
    return text.indexOf('\0') < 0 && UTF_8.newEncoder().canEncode(text);
  }

  @Override
  public void prepare() throws SQLException {
    try (Connection connection = connect()) {
      String product = connection.getMetaData().getDatabaseProductName();
      if (!product.equals(PRODUCT)) {
        throw refused(
            "A store takes a DataSource of PostgreSQL, but this one is of "
                + product
                + ". H2 is opened by its URL: JdbcRunStore.open(\"jdbc:h2:async:./data/runs\").");
      }
      int version = connection.getMetaData().getDatabaseMajorVersion();
      if (version < OLDEST_VERSION) {
        throw refused(
            "A store needs PostgreSQL 14 or newer, but the server is version " + version + ".");
      }
      requireTransactions(connection);
      try (Statement statement = connection.createStatement()) {
        requireSettings(statement);
        requireRights(statement);
      }
      connection.rollback();
    }
  }

  private static void requireTransactions(Connection connection) throws SQLException {
    SQLException cause = null;
    try {
      connection.setAutoCommit(false);
      if (!connection.getAutoCommit()) {
        return;
      }
    } catch (SQLException e) {
      cause = e;
    }
    InvalidRequestException refusal =
        refused(
            "The connections of the DataSource commit each statement by themselves, and that"
                + " cannot be turned off. Give the store a DataSource whose connections take"
                + " setAutoCommit(false).");
    if (cause != null) {
      refusal.addSuppressed(cause);
    }
    throw refusal;
  }

  private void requireSettings(Statement statement) throws SQLException {
    if (setting(statement, "transaction_read_only").equals("on")) {
      throw refused(
          "The server takes no writes from this DataSource: it is a standby, or the connections are"
              + " read-only. Give the store a DataSource that leads to the primary (with the"
              + " driver's targetServerType=primary) and may write.");
    }
    String encoding = setting(statement, "server_encoding");
    if (!encoding.equals("UTF8")) {
      throw refused(
          "The database keeps texts as "
              + encoding
              + ", and a store needs UTF8. Make a database with ENCODING 'UTF8'.");
    }
    if (durability == Durability.POWER && setting(statement, "fsync").equals("off")) {
      throw refused(
          "The server runs with fsync = off and may lose or destroy everything when the power"
              + " fails. Set fsync = on, or open the store with Durability.RELAXED.");
    }
  }

  private static String setting(Statement statement, String name) throws SQLException {
    try (ResultSet row = statement.executeQuery("SELECT current_setting('" + name + "')")) {
      row.next();
      return row.getString(1);
    }
  }

  private static void requireRights(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery(
            "SELECT current_user, current_schema(), to_regclass('ww_schema_history') IS NOT NULL,"
                + " current_schema() IS NOT NULL"
                + " AND has_schema_privilege(current_schema(), 'CREATE')")) {
      row.next();
      String user = row.getString(1);
      String schema = row.getString(2);
      if (schema == null) {
        throw refused(
            "No schema of the search_path of "
                + user
                + " exists. Create one, or name one in the URL of the DataSource:"
                + " currentSchema=NAME.");
      }
      if (!row.getBoolean(3) && !row.getBoolean(4)) {
        throw refused(
            "The tables of the store are not there, and "
                + user
                + " may not create them in the schema "
                + schema
                + ". "
                + grant("CREATE, USAGE ON SCHEMA " + schema, user)
                + " Or open the store once as a user who may, and grant this one what is needed to"
                + " use the tables.");
      }
    }
  }

  private static String grant(String right, String user) {
    return "GRANT " + right + " TO " + user + ";";
  }

  /** Asks each connection something: a pool may give dead ones after the server was away. */
  @Override
  public Connection connect() throws SQLException {
    for (int attempt = 1; ; attempt++) {
      Connection connection = source.getConnection();
      try (Statement statement = connection.createStatement()) {
        statement.execute("SELECT 1");
        if (!connection.getAutoCommit()) {
          connection.rollback();
        }
        return connection;
      } catch (SQLException e) {
        connection.close();
        if (attempt == MAX_DEAD_CONNECTIONS) {
          throw e;
        }
      }
    }
  }

  /** Flyway locks the schema: of many who come to an empty one, one makes the tables. */
  @Override
  public void migrate() {
    try {
      Flyway.configure(PostgresDialect.class.getClassLoader())
          .dataSource(source)
          .locations("classpath:META-INF/warpwright/postgresql")
          .table("ww_schema_history")
          .baselineOnMigrate(true) // other tables may stand beside ours
          .baselineVersion("0")
          .ignoreMigrationPatterns(new String[0]) // a schema of a newer version is refused
          .load()
          .migrate();
    } catch (FlywayException e) {
      throw new StoreException(
          "The schema of the store could not be brought to this version, or is newer: "
              + e.getMessage(),
          e);
    }
  }

  /** The pool may have no connection to spare. */
  @Override
  public boolean livesInItsConnections() {
    return false;
  }

  @Override
  public boolean isShared() {
    return true;
  }

  @Override
  public Worker register(Connection connection, String name, long startedNanos, long leaseMillis)
      throws SQLException {
    connection.setAutoCommit(false);
    Worker worker =
        LeaseTable.register(connection, name, startedNanos, RANDOM.nextLong(), leaseMillis);
    connection.commit();
    return worker;
  }

  /** What is judged under a lock must be what was committed last, not what was when it began. */
  @Override
  public JournalSession session(Connection connection, Worker worker, long leaseMillis)
      throws SQLException {
    connection.setAutoCommit(false);
    readCommitted(connection);
    boolean durable = durability == Durability.POWER;
    PostgresSettings settings = PostgresSettings.make(connection, durable, leaseMillis / 2);
    return new PostgresSession(connection, worker, settings);
  }

  private static void readCommitted(Connection connection) throws SQLException {
    if (connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED) {
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    }
  }

  @Override
  public Optional<RunRow> findRun(Connection connection, RunKey run, Worker worker)
      throws SQLException {
    return PostgresSession.findRun(connection, run, worker);
  }

  @Override
  public List<RunSummary> stranded(Connection connection, RunScope scope, int limit, long nowNanos)
      throws SQLException {
    return PostgresSession.stranded(connection, scope, limit);
  }

  @Override
  public String isExpired() {
    return "idle_nanos < ? AND status IN %s ORDER BY idle_nanos";
  }

  @Override
  public ListQuery.Index listIndex() {
    return new ListQuery.Index("idle_nanos", Optional.of("worker IS NOT NULL"));
  }

  @Override
  public void opened() {}

  @Override
  public StoreException cannotOpen(SQLException e) {
    String remedy =
        INSUFFICIENT_PRIVILEGE.equals(e.getSQLState())
            ? " The user needs SELECT, INSERT, UPDATE and DELETE on the tables ww_worker,"
                + " ww_worker_agent, ww_run, ww_run_metadata, ww_signal and ww_event, and SELECT on"
                + " ww_schema_history."
            : "";
    return new StoreException(
        "The store on PostgreSQL cannot be opened: " + e.getMessage() + "." + remedy, e);
  }

  @Override
  public String clockMillis() {
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
  }

  @Override
  public void prepareControl(Connection connection) throws SQLException {
    readCommitted(connection);
    connection.setAutoCommit(false);
  }

  @Override
  public void beginControl(Connection connection) throws SQLException {
    try (PreparedStatement settings =
        connection.prepareStatement(durability == Durability.POWER ? DURABLE : RELAXED)) {
      settings.executeQuery().close();
    }
  }

  @Override
  public void syncControl(Connection connection) {}

  @Override
  public String fencedBy(Worker worker) {
    return "A store was opened as "
        + worker.id()
        + " again, which ended epoch "
        + worker.epoch()
        + " of this one; nothing was written. Every store that is open at the same time needs a"
        + " name of its own: JdbcRunStore.Builder.owner(name).";
  }

  private static InvalidRequestException refused(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }
}
