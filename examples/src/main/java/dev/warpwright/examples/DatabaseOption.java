package dev.warpwright.examples;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option of the commands that only look at a database. */
final class DatabaseOption {
  @Option(
      names = "--db",
      paramLabel = "JDBC-URL",
      description =
          "The database of the runs, jdbc:h2:async:PATH or jdbc:postgresql://HOST/DATABASE (user"
              + " and password from PGUSER and PGPASSWORD); default: the one in"
              + " ./warpwright-triage.")
  private @Nullable String url;

  String url() {
    return url == null ? Databases.in(JobOptions.DEFAULT_OUT) : url;
  }
}
