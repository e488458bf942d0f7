package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunSummary;
import dev.warpwright.store.jdbc.CommitHook.Boundary;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * On every database: what the store has acknowledged is there after the process died, whole and in
 * order; more rounds with {@code -Dwarpwright.crash.rounds=1000}. The same database goes through
 * all rounds of a test.
 */
@Timeout(600)
@Tag("A3")
abstract class CrashContract {
  private static final int ROUNDS = Integer.getInteger("warpwright.crash.rounds", 6);
  private static final int MAX_LINES = 800;

  /** The URL of the database of this test, in which there is nothing yet. */
  abstract String url();

  @AfterEach
  void nothingIsLeft() {
    Databases.assertNoThreadLeft();
  }

  private static Deadline soon() {
    return Deadline.after(TimeSource.system(), Duration.ofSeconds(60));
  }

  @Test
  void kill_9_loses_nothing_that_was_acknowledged() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 1; round <= ROUNDS; round++) {
      Map<String, Long> acknowledged = new HashMap<>();
      try (ChildJvm writer = ChildJvm.start(CrashWriter.class, url(), "run")) {
        int lines = random.nextInt(MAX_LINES);
        for (int n = 0; n < lines; n++) {
          note(acknowledged, writer.readLine());
        }
        writer.kill();
        drain(writer, acknowledged);
      }
      check(acknowledged, "round " + round + " of seed " + seed);
    }
  }

  @ParameterizedTest
  @EnumSource(Boundary.class)
  void halting_at_a_boundary_loses_nothing_that_was_acknowledged(Boundary boundary)
      throws Exception {
    Map<String, Long> acknowledged = new HashMap<>();
    try (ChildJvm writer = ChildJvm.start(CrashWriter.class, url(), boundary.name(), "20")) {
      drain(writer, acknowledged);
    }

    assertTrue(acknowledged.size() > 0, "nothing was acknowledged before the crash");
    check(acknowledged, boundary.name());
  }

  private static void drain(ChildJvm writer, Map<String, Long> acknowledged) {
    for (String line = writer.readLine(); line != null; line = writer.readLine()) {
      note(acknowledged, line);
    }
  }

  private static void note(Map<String, Long> acknowledged, String line) {
    assertTrue(line != null, "the child died by itself");
    if (!line.equals("open")) {
      String[] words = line.split(" ", -1);
      acknowledged.merge(words[0], Long.parseLong(words[1]), Math::max);
    }
  }

  /** Opens the database and looks at every run. */
  private void check(Map<String, Long> acknowledged, String when) {
    try (JdbcRunStore store = Databases.builder(url()).open()) {
      List<RunSummary> runs = store.list(RunQuery.all(RunScope.DEFAULT), soon());
      Map<RunKey, Long> heads = new HashMap<>();
      for (RunSummary summary : runs) {
        List<LoggedEvent> log = store.load(summary.run(), 1, soon());
        heads.put(summary.run(), (long) log.size());
        assertEquals(log.size(), summary.sequence(), when);
        assertEquals(1, log.size() % 2, () -> when + ": half an append of " + summary.run());
        for (int n = 1; n < log.size(); n++) {
          assertEquals(n + 1, log.get(n).sequence(), when);
          assertEquals(CrashWriter.event(n + 1), log.get(n).event(), when);
        }
        assertTrue(store.acquire(summary.run(), soon()).isPresent(), when);
      }
      acknowledged.forEach(
          (run, sequence) -> {
            long head = heads.getOrDefault(new RunKey(RunScope.DEFAULT, run), 0L);
            assertTrue(
                head >= sequence,
                () -> when + ": " + run + " stands at " + head + ", acknowledged " + sequence);
          });
    }
  }
}
