package dev.warpwright.examples;

import dev.warpwright.run.RunStore;
import dev.warpwright.store.jdbc.JdbcRunStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.postgresql.ds.PGSimpleDataSource;

/** Finds and opens the databases of runs. */
final class Databases {
  private static final String H2_FILE = "jdbc:h2:async:";
  private static final String POSTGRESQL = "jdbc:postgresql:";

  private Databases() {}

  /** The URL of the database that a job has in its folder. */
  static String in(Path out) {
    String path = out.toAbsolutePath().normalize().resolve("runs").toString();
    if (path.contains(";")) {
      throw new JobException.Usage(
          "A folder whose path has a semicolon cannot hold the database: "
              + out
              + ". Name another one, or give --db.");
    }
    return H2_FILE + path.replace('\\', '/');
  }

  /** Whether several processes can have it open at the same time. */
  static boolean isShared(String url) {
    return url.startsWith(POSTGRESQL);
  }

  /** Opens a database; an H2 file is made if it is missing. */
  static RunStore open(String url) {
    return isShared(url) ? JdbcRunStore.builder(server(url)).open() : JdbcRunStore.open(url);
  }

  /** A server; what the URL does not say of user and password stands in the environment. */
  private static PGSimpleDataSource server(String url) {
    PGSimpleDataSource server = new PGSimpleDataSource();
    try {
      server.setUrl(url);
    } catch (IllegalArgumentException e) {
      throw new JobException.Usage(
          "--db must be like jdbc:postgresql://host:5432/database, optionally with ?user=NAME.");
    }
    if (server.getUser() == null) {
      server.setUser(System.getenv("PGUSER"));
    }
    if (server.getPassword() == null) {
      server.setPassword(System.getenv("PGPASSWORD"));
    }
    return server;
  }

  /** Opens a database that must be there: whoever only looks makes none. */
  static RunStore openExisting(String url) {
    if (url.startsWith(H2_FILE)) {
      String path = url.substring(H2_FILE.length()).split(";", 2)[0] + ".mv.db";
      Path file =
          path.startsWith("~/")
              ? Path.of(System.getProperty("user.home"), path.substring(2))
              : Path.of(path);
      if (!Files.exists(file)) {
        throw new JobException("There is no database " + file + ".");
      }
    }
    return open(url);
  }
}
