package dev.warpwright.examples;

import dev.warpwright.run.RunStore;
import dev.warpwright.store.jdbc.JdbcRunStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** Finds and opens the databases of runs. */
final class Databases {
  private static final String H2_FILE = "jdbc:h2:async:";

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

  /** Opens a database, made if it is missing. */
  static RunStore open(String url) {
    return JdbcRunStore.open(url);
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
