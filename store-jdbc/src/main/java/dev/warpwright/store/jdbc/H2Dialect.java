package dev.warpwright.store.jdbc;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.StoreException;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunSummary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.h2.Driver;
import org.h2.api.ErrorCode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is particular to H2: which URLs keep the promises, how a commit becomes durable, what its
 * errors mean.
 *
 * <p>Over H2's default file channel, one interrupt closes the file for the whole process; {@code
 * async:} is immune. H2's commit alone is not durable, not even against the death of the process;
 * {@code CHECKPOINT} writes it to the file and {@code CHECKPOINT SYNC} to the disk.
 */
final class H2Dialect implements Dialect {
  private static final Logger LOG = LoggerFactory.getLogger(H2Dialect.class);
  private static final String PREFIX = "jdbc:h2:";
  private static final String ASYNC = "async:";
  private static final String MEMORY = "mem:";
  private static final String SUFFIX = ".mv.db";

  /** The administrator of a database that is made here; {@code CHECKPOINT} needs one. */
  private static final String USER = "sa";

  /** A kind of file access before a path; one letter is a drive. */
  private static final Pattern SCHEME = Pattern.compile("([A-Za-z][A-Za-z0-9]+):(.*)");

  /** Settings that would break a promise of the store: the lock, texts that differ, durability. */
  private static final Pattern FORBIDDEN_SETTING =
      Pattern.compile(
          "(?i);\\s*(AUTO_SERVER|FILE_LOCK|MODE|IGNORECASE|ACCESS_MODE_DATA|INIT)\\s*=");

  /** Of pages. H2's own default grows with the heap; what is read again here, the system caches. */
  private static final String CACHE_KIB = "4096";

  private final String url;
  private final JdbcRunStore.Durability durability;
  private final Optional<Path> file; // as H2 makes it, with its suffix

  /** Checks the URL; touches no file. */
  H2Dialect(String url, JdbcRunStore.Durability durability) {
    this.durability = durability;
    if (!url.startsWith(PREFIX)) {
      throw refused(
          "The URL of a store must begin with jdbc:h2:async: and a path, such as"
              + " jdbc:h2:async:./data/runs; for PostgreSQL, use"
              + " JdbcRunStore.builder(dataSource).");
    }
    int settings = url.indexOf(';');
    String place = url.substring(PREFIX.length(), settings < 0 ? url.length() : settings);
    String rest = settings < 0 ? "" : url.substring(settings);
    Matcher forbidden = FORBIDDEN_SETTING.matcher(rest);
    if (forbidden.find()) {
      throw refused(
          "The URL of a store must not set "
              + forbidden.group(1).toUpperCase(Locale.ROOT)
              + ": the store relies on H2's own value.");
    }
    if (place.startsWith(MEMORY)) {
      if (place.length() == MEMORY.length()) {
        throw refused("A database in memory needs a name: jdbc:h2:mem:NAME.");
      }
      this.file = Optional.empty();
    } else {
      this.file = Optional.of(path(place, rest));
    }
    String full = withDefault(url, rest, "DB_CLOSE_ON_EXIT", "FALSE");
    full = withDefault(full, rest, "TRACE_LEVEL_FILE", "0"); // failures are thrown, and told once
    full = withDefault(full, rest, "CACHE_SIZE", CACHE_KIB);
    this.url = withDefault(full, rest, "TRACE_LEVEL_SYSTEM_OUT", "0");
  }

  private static Path path(String place, String settings) {
    boolean async = place.startsWith(ASYNC);
    String path = async ? place.substring(ASYNC.length()) : place;
    Matcher scheme = SCHEME.matcher(path);
    if (scheme.matches()) {
      String kind = scheme.group(1).toLowerCase(Locale.ROOT);
      if (async || kind.equals("tcp") || kind.equals("ssl") || kind.equals("zip")) {
        throw refused(
            "A store cannot use jdbc:h2:"
                + (async ? ASYNC : "")
                + kind
                + ":, but only jdbc:h2:async: and a path.");
      }
      path = scheme.group(2);
    }
    if (path.isBlank()) {
      throw refused("The URL names no file; write, for example, jdbc:h2:async:./data/runs.");
    }
    boolean explicit = path.startsWith("~/") || path.startsWith("./") || path.startsWith("../");
    try {
      explicit |= Path.of(path).isAbsolute();
      if (!async || !explicit) {
        throw refused(
            "H2 must be opened over a file channel that survives interrupts, by a path that is"
                + " absolute or begins with ./ or ~/. Use "
                + PREFIX
                + ASYNC
                + (explicit ? "" : "./")
                + path
                + settings
                + " instead.");
      }
      return path.startsWith("~/")
          ? Path.of(System.getProperty("user.home"), path.substring(2) + SUFFIX)
          : Path.of(path + SUFFIX);
    } catch (InvalidPathException e) {
      throw refused("The URL names no valid path: " + e.getReason() + ".");
    }
  }

  private static String withDefault(String url, String settings, String name, String value) {
    return settings.toUpperCase(Locale.ROOT).contains(";" + name + "=")
        ? url
        : url + ";" + name + "=" + value;
  }

  /** H2 keeps every text of Java as it is. */
  @Override
  public void requireDistinct(RunScope scope, Optional<String> idempotencyKey) {}

  @Override
  public void requireDistinct(String name) {}

  /** Creates the folder of the file, and refuses a file that no store can use. */
  @Override
  public void prepare() {
    if (file.isEmpty()) {
      return;
    }
    Path path = file.get().toAbsolutePath().normalize();
    Path folder = path.getParent();
    try {
      if (folder != null) {
        Files.createDirectories(folder);
      }
    } catch (IOException | UncheckedIOException e) {
      throw new StoreException("The folder " + folder + " of the store cannot be made.", e);
    }
    if (Files.exists(path)) {
      requireUsable(path);
      return;
    }
    try {
      Files.write(mark(path), new byte[0]);
    } catch (IOException e) {
      throw new StoreException(
          "The folder "
              + folder
              + " of the store cannot be written. Give this process the right to write it, or name"
              + " another folder.",
          e);
    }
  }

  /** Stands beside a file that is being made: a crash may leave that one empty. */
  private static Path mark(Path path) {
    return path.resolveSibling(path.getFileName() + ".new");
  }

  /** The file has been made, and need not be marked any more. */
  @Override
  public void opened() {
    if (file.isEmpty()) {
      return;
    }
    try {
      Files.deleteIfExists(mark(file.get().toAbsolutePath().normalize()));
    } catch (IOException e) {
      LOG.debug("A mark was left; it does no harm.", e);
    }
  }

  private static void requireUsable(Path path) {
    if (!Files.isRegularFile(path)) {
      throw new StoreException(
          "The store cannot use " + path + ", which is no file. Name another path.", null);
    }
    if (!Files.isReadable(path) || !Files.isWritable(path)) {
      throw readOnly(path.toString(), null);
    }
    try {
      if (Files.size(path) == 0 && !Files.exists(mark(path))) {
        throw new StoreException(
            "The file "
                + path
                + " of the store is empty; to open it would make a new database without any run."
                + " Restore the file from a copy, or delete it to begin anew.",
            null);
      }
    } catch (IOException e) {
      throw new StoreException("The file " + path + " of the store cannot be read.", e);
    }
  }

  private static StoreException readOnly(String place, @Nullable SQLException cause) {
    return new StoreException(
        "The store "
            + place
            + " cannot be written, and a store must be, also by who only looks at its runs. Give"
            + " this process the right to read and write it.",
        cause);
  }

  @Override
  public Connection connect() throws SQLException {
    Connection connection = Driver.load().connect(url, credentials());
    if (connection == null) {
      throw new SQLException("H2 does not accept the URL.");
    }
    return connection;
  }

  private Properties credentials() {
    Properties credentials = new Properties();
    if (!credentialsInUrl()) {
      credentials.setProperty("user", USER);
      credentials.setProperty("password", "");
    }
    return credentials;
  }

  private boolean credentialsInUrl() {
    return url.toUpperCase(Locale.ROOT).contains(";USER=");
  }

  /** The database must be open, or one in memory would vanish. */
  @Override
  public void migrate() {
    try {
      Flyway.configure(H2Dialect.class.getClassLoader())
          .dataSource(url, credentialsInUrl() ? null : USER, credentialsInUrl() ? null : "")
          .locations("classpath:META-INF/warpwright/h2")
          .table("ww_schema_history")
          .baselineOnMigrate(true) // other tables may stand beside ours
          .baselineVersion("0")
          .ignoreMigrationPatterns(new String[0]) // a schema of a newer version is refused
          .load()
          .migrate();
    } catch (FlywayException e) {
      throw new StoreException(
          "The schema of the store could not be brought to this version, or is newer.", e);
    }
  }

  /** Without a connection one in memory vanishes, and one in a file is closed. */
  @Override
  public boolean livesInItsConnections() {
    return true;
  }

  @Override
  public boolean isShared() {
    return false;
  }

  @Override
  public Worker register(Connection connection, String name, long startedNanos, long leaseMillis)
      throws SQLException {
    connection.setAutoCommit(false);
    Worker worker = H2Session.raiseEpoch(connection, name, startedNanos);
    connection.commit();
    return worker;
  }

  @Override
  public JournalSession session(Connection connection, Worker worker, long leaseMillis)
      throws SQLException {
    return new H2Session(connection, worker, durability);
  }

  @Override
  public Optional<RunRow> findRun(Connection connection, RunKey run, Worker worker)
      throws SQLException {
    return H2Session.findRun(connection, run, worker);
  }

  @Override
  public List<RunSummary> stranded(Connection connection, RunScope scope, int limit, long nowNanos)
      throws SQLException {
    return H2Session.stranded(connection, scope, limit, nowNanos);
  }

  @Override
  public String isExpired() {
    return "owner IS NULL AND ended_nanos < ? AND status IN %s ORDER BY ended_nanos";
  }

  @Override
  public ListQuery.Index listIndex() {
    return new ListQuery.Index("updated_nanos", Optional.empty());
  }

  @Override
  public String clockMillis() {
    return "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000 AS BIGINT)";
  }

  @Override
  public void prepareControl(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
  }

  /** A process that is frozen is the only one. */
  @Override
  public void beginControl(Connection connection) {}

  @Override
  public void syncControl(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      H2Session.sync(statement, durability);
    }
  }

  @Override
  public String fencedBy(Worker worker) {
    return "The database was opened once more in this process, which ended epoch "
        + worker.epoch()
        + " of this store; nothing was written.";
  }

  @Override
  public StoreException cannotOpen(SQLException e) {
    String place = file.map(Path::toString).orElse("in memory");
    return switch (e.getErrorCode()) {
      case ErrorCode.DATABASE_ALREADY_OPEN_1 ->
          new StoreException(
              "The store "
                  + place
                  + " is open in another process, and one process at a time can have the file. Stop"
                  + " the other process, or do all the work in that one. Several processes share a"
                  + " store on PostgreSQL.",
              e);
      case ErrorCode.DATABASE_IS_READ_ONLY -> readOnly(place, e);
      case ErrorCode.IO_EXCEPTION_1, ErrorCode.IO_EXCEPTION_2, ErrorCode.FILE_CREATION_FAILED_1 ->
          new StoreException(
              "The store "
                  + place
                  + " cannot be written or read ("
                  + root(e)
                  + "). See that its folder and file can be written, or name another path.",
              e);
      default ->
          new StoreException("The store " + place + " cannot be opened: " + e.getMessage(), e);
    };
  }

  private static Throwable root(Throwable failure) {
    Throwable root = failure;
    for (Throwable next = failure; next != null; next = next.getCause()) {
      root = next;
    }
    return root;
  }

  private static InvalidRequestException refused(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }
}
