package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.store.jdbc.CommitHook.Boundary;
import java.io.IOException;
import java.util.List;

/** Lives of a {@link CrashWriter} that end early, and what is in the database then. */
final class CrashRounds {
  private static final int MAX_LINES = 800;
  private static final int MAX_COMMITS = 40;
  private static final int ROUNDS_OF_A_DATABASE = 20;

  private CrashRounds() {}

  /** Where a round finds an empty database. */
  @FunctionalInterface
  interface Fresh {
    String url() throws Exception;
  }

  /** Kills a writer at any time, as kill -9 does. */
  static void kill(Ordeal ordeal, Fresh fresh) throws Exception {
    String url = "";
    while (ordeal.nextRound()) {
      url = url(ordeal, fresh, url);
      Acknowledged acknowledged = new Acknowledged();
      try (ChildJvm writer = ChildJvm.start(CrashWriter.class, url, "run")) {
        int lines = ordeal.random.nextInt(MAX_LINES);
        for (int n = 0; n < lines; n++) {
          String line = writer.readLine();
          assertTrue(line != null, "the child died by itself");
          acknowledged.note(line);
        }
        writer.kill();
        acknowledged.drain(writer);
      }
      ordeal.blow();
      check(ordeal, url, acknowledged, ordeal.here());
    }
  }

  /** Halts a writer at each boundary in turn, in any of its first commits. */
  static void halt(Ordeal ordeal, Fresh fresh) throws Exception {
    String url = "";
    while (ordeal.nextRound()) {
      url = url(ordeal, fresh, url);
      Boundary boundary = List.of(Boundary.values()).get(ordeal.round() % Boundary.values().length);
      haltAt(ordeal, url, boundary, 1 + ordeal.random.nextInt(MAX_COMMITS));
    }
  }

  /** Halts a writer at a boundary of one of its commits. */
  static void haltAt(Ordeal ordeal, String url, Boundary boundary, int commit) throws IOException {
    Acknowledged acknowledged = new Acknowledged();
    try (ChildJvm writer =
        ChildJvm.start(CrashWriter.class, url, boundary.name(), String.valueOf(commit))) {
      acknowledged.drain(writer);
    }
    ordeal.blow();
    check(ordeal, url, acknowledged, boundary + " of commit " + commit + ", " + ordeal.here());
  }

  private static String url(Ordeal ordeal, Fresh fresh, String url) throws Exception {
    return ordeal.round() % ROUNDS_OF_A_DATABASE == 1 ? fresh.url() : url;
  }

  private static void check(Ordeal ordeal, String url, Acknowledged acknowledged, String when) {
    try (JdbcRunStore store = Databases.builder(url).open()) {
      acknowledged.check(store, when);
      Acknowledged.assertFree(store, when);
    }
    ordeal.acknowledged(acknowledged.events());
  }
}
