package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunSummary;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How far the store has told its callers that their runs are; see {@link CrashWriter#event}. */
final class Acknowledged {
  private final Map<RunKey, Long> heads = new ConcurrentHashMap<>();

  static Deadline soon() {
    return Deadline.after(TimeSource.system(), Duration.ofSeconds(60));
  }

  void note(RunKey run, long sequence) {
    heads.merge(run, sequence, Math::max);
  }

  /** Notes what a {@link CrashWriter} has printed. */
  void note(String line) {
    if (!line.equals("open")) {
      String[] words = line.split(" ", -1);
      note(new RunKey(RunScope.DEFAULT, words[0]), Long.parseLong(words[1]));
    }
  }

  /** Notes all that a child has printed until it died. */
  void drain(ChildJvm writer) {
    for (String line = writer.readLine(); line != null; line = writer.readLine()) {
      note(line);
    }
  }

  Acknowledged copy() {
    Acknowledged copy = new Acknowledged();
    copy.heads.putAll(heads);
    return copy;
  }

  /** How many events. */
  long events() {
    return heads.values().stream().mapToLong(head -> head).sum();
  }

  /** Looks at every run: logs must be whole, in order and what was written, nothing missing. */
  void check(JdbcRunStore store, String when) {
    assertEquals(0, missingIn(store, when), () -> when + ": acknowledged events are missing");
  }

  /** Looks at every run as {@link #check} does; returns how many events are missing. */
  long missingIn(JdbcRunStore store, String when) {
    Map<RunKey, Long> found = new HashMap<>();
    for (RunSummary summary : store.list(RunQuery.all(RunScope.DEFAULT), soon())) {
      List<LoggedEvent> log = store.load(summary.run(), 1, soon());
      found.put(summary.run(), (long) log.size());
      assertEquals(log.size(), summary.sequence(), when);
      assertEquals(1, log.size() % 2, () -> when + ": half an append of " + summary.run());
      for (int n = 1; n < log.size(); n++) {
        assertEquals(n + 1, log.get(n).sequence(), when);
        assertEquals(CrashWriter.event(n + 1), log.get(n).event(), when);
      }
    }
    return heads.entrySet().stream()
        .mapToLong(head -> Math.max(0, head.getValue() - found.getOrDefault(head.getKey(), 0L)))
        .sum();
  }

  /** That every run of a store that nobody drives can be acquired. */
  static void assertFree(JdbcRunStore store, String when) {
    for (RunSummary summary : store.list(RunQuery.all(RunScope.DEFAULT), soon())) {
      assertTrue(store.acquire(summary.run(), soon()).isPresent(), when);
    }
  }
}
