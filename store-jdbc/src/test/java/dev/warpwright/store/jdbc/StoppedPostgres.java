package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A PostgreSQL with {@code fsync} on that is stopped as a crash would, and started again. */
final class StoppedPostgres implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final EmbeddedPostgres server;
  private final Path folder;
  private final List<String> command; // of the server's first process

  private StoppedPostgres(EmbeddedPostgres server, Path folder) throws IOException {
    this.server = server;
    this.folder = folder;
    this.command = new ArrayList<>();
    if (Files.getOwner(folder).getName().equals("root")) {
      command.addAll(List.of("unshare", "-U")); // it does not run as root
    }
    ProcessHandle.Info info = process().info();
    command.add(info.command().orElseThrow());
    command.addAll(List.of(info.arguments().orElseThrow()));
  }

  static StoppedPostgres start() throws IOException {
    Path folder = Files.createTempDirectory("warpwright-postgres");
    EmbeddedPostgres server =
        EmbeddedPostgres.builder()
            .setDataDirectory(folder.resolve("data"))
            .setCleanDataDirectory(true)
            .setServerConfig("fsync", "on")
            .setServerConfig("synchronous_commit", "on")
            .setServerConfig("full_page_writes", "on")
            .start();
    return new StoppedPostgres(server, folder);
  }

  String url() {
    return server.getJdbcUrl("postgres", "postgres");
  }

  private ProcessHandle process() throws IOException {
    String pid = Files.readAllLines(folder.resolve("data/postmaster.pid")).getFirst().strip();
    return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
  }

  /** An immediate shutdown, after which it recovers from its log. */
  void stopAndStart() throws IOException {
    ProcessHandle process = process();
    new ProcessBuilder("kill", "-QUIT", String.valueOf(process.pid())).start().onExit().join();
    process.onExit().join();
    new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(new File("/dev/null"))
        .start();
    long begin = System.nanoTime();
    while (!answers()) {
      assertTrue(System.nanoTime() - begin < PATIENCE.toNanos(), "the server does not start");
      Pause.millis(20);
    }
  }

  private boolean answers() {
    try {
      return Databases.execute(url(), "SELECT 1") == 1;
    } catch (SQLException e) {
      return false;
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
