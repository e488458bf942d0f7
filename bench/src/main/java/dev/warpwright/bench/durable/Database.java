package dev.warpwright.bench.durable;

import dev.warpwright.run.RunStore;
import dev.warpwright.store.jdbc.JdbcRunStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** Where the store of one measurement keeps its runs: fresh, and gone when it is closed. */
final class Database implements AutoCloseable {
  private final StoreKind kind;
  private final Optional<PostgresServer> server;
  private final Optional<Path> folder;
  private final String url;

  private Database(
      StoreKind kind, Optional<PostgresServer> server, Optional<Path> folder, String url) {
    this.kind = kind;
    this.server = server;
    this.folder = folder;
    this.url = url;
  }

  /**
   * Makes a database.
   *
   * @param kind of what store
   * @param servers where databases of PostgreSQL are made; on the same disk as H2's files
   */
  static Database fresh(StoreKind kind, Servers servers) throws IOException, SQLException {
    if (kind.isH2()) {
      Path folder = Files.createTempDirectory("warpwright-bench");
      return new Database(
          kind, Optional.empty(), Optional.of(folder), "jdbc:h2:async:" + folder + "/runs");
    }
    if (kind == StoreKind.POSTGRES) {
      PostgresServer postgres = servers.postgres();
      return new Database(kind, Optional.of(postgres), Optional.empty(), postgres.freshDatabase());
    }
    return new Database(kind, Optional.empty(), Optional.empty(), "");
  }

  StoreKind kind() {
    return kind;
  }

  String url() {
    return url;
  }

  /** Opens the store on it; what was written before is there, except in memory. */
  RunStore open() {
    return open(kind, url, "bench");
  }

  /**
   * Opens a store in any process.
   *
   * @param kind of what kind
   * @param url of its database
   * @param owner the store's name
   */
  static RunStore open(StoreKind kind, String url, String owner) {
    return switch (kind) {
      case MEMORY -> RunStore.inMemory();
      case H2_POWER, H2_PROCESS, H2_RELAXED ->
          JdbcRunStore.builder(url).durability(kind.durability().orElseThrow()).owner(owner).open();
      case POSTGRES -> JdbcRunStore.builder(PostgresServer.source(url)).owner(owner).open();
    };
  }

  /** A connection beside those of a store. */
  Connection connect() throws SQLException {
    return kind == StoreKind.POSTGRES
        ? DriverManager.getConnection(url)
        : DriverManager.getConnection(url, "sa", "");
  }

  /**
   * What PostgreSQL counts; empty for other stores.
   *
   * @param commits transactions that were committed in the database
   * @param walBytes what was written to the log, by everything in the server
   */
  record Counters(OptionalLong commits, OptionalLong walBytes) {
    Counters since(Counters before) {
      return new Counters(
          difference(commits, before.commits), difference(walBytes, before.walBytes));
    }

    private static OptionalLong difference(OptionalLong now, OptionalLong before) {
      return now.isPresent() && before.isPresent()
          ? OptionalLong.of(now.getAsLong() - before.getAsLong())
          : OptionalLong.empty();
    }
  }

  Counters counters() throws SQLException {
    return new Counters(
        asked("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"),
        asked("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"));
  }

  private OptionalLong asked(String sql) throws SQLException {
    if (kind != StoreKind.POSTGRES) {
      return OptionalLong.empty();
    }
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return OptionalLong.of(row.getLong(1));
    }
  }

  /** What its tables, or its file, take; empty in memory. */
  OptionalLong bytes() throws SQLException, IOException {
    if (kind == StoreKind.POSTGRES) {
      return asked("SELECT pg_database_size(current_database())");
    }
    return kind.isH2()
        ? OptionalLong.of(Files.size(folder.orElseThrow().resolve("runs.mv.db")))
        : OptionalLong.empty();
  }

  @Override
  public void close() throws SQLException, IOException {
    if (server.isPresent()) {
      server.get().drop(url);
    }
    if (folder.isPresent()) {
      try (Stream<Path> files = Files.walk(folder.get())) {
        files.sorted(Comparator.reverseOrder()).forEach(Database::delete);
      }
    }
  }

  private static void delete(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
