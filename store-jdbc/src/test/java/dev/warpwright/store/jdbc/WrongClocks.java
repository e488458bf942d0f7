package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.Writer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TimeZone;

/**
 * Stores on one PostgreSQL whose clocks are an hour wrong, jump, or go through the change of
 * daylight saving: who has a run keeps it, and who hands it over is followed by one other.
 */
final class WrongClocks {
  private static final List<Duration> SHIFTS =
      List.of(Duration.ZERO, Duration.ofHours(1), Duration.ofHours(-1));
  private static final List<Instant> CHANGES = // in Berlin, in spring and in autumn
      List.of(Instant.parse("2026-03-29T01:00:00Z"), Instant.parse("2026-10-25T01:00:00Z"));
  private static final int HANDOVERS = 12; // of a round

  private WrongClocks() {}

  static void survive(Ordeal ordeal, CrashRounds.Fresh fresh) throws Exception {
    TimeZone zone = TimeZone.getDefault();
    TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin")); // also of new connections
    try {
      while (ordeal.nextRound()) {
        round(ordeal, fresh.url());
      }
    } finally {
      TimeZone.setDefault(zone);
    }
  }

  private static void round(Ordeal ordeal, String url) throws Exception {
    List<ShiftedTime> clocks = SHIFTS.stream().map(ShiftedTime::new).toList();
    try (JdbcRunStore first = open(url, "first", clocks.get(0));
        JdbcRunStore second = open(url, "second", clocks.get(1));
        JdbcRunStore third = open(url, "third", clocks.get(2))) {
      List<JdbcRunStore> stores = List.of(first, second, third);
      RunKey run = new RunKey(RunScope.DEFAULT, "run-" + ordeal.round());
      int owner = ordeal.random.nextInt(stores.size());
      Writer writer = Appends.create(stores.get(owner), run);
      int sequence = 1;
      for (int n = 0; n < HANDOVERS; n++) {
        RunLog log =
            RunLog.open(stores.get(owner), run, writer, clocks.get(owner), Acknowledged.soon());
        jump(ordeal, clocks.get(ordeal.random.nextInt(clocks.size())));
        log.append(new RunEvent.RunResumed("clock"));
        jump(ordeal, clocks.get(owner));
        log.append(new RunEvent.StepStarted(1, n + 1));
        sequence += 2;
        for (int other = 0; other < stores.size(); other++) {
          if (other != owner) {
            Optional<Writer> stolen = stores.get(other).acquire(run, Acknowledged.soon());
            assertFalse(stolen.isPresent(), () -> "taken from its owner, " + ordeal.here());
          }
        }
        stores.get(owner).release(run, writer);
        owner = ordeal.random.nextInt(stores.size());
        assertTrue(stores.get(owner).awaitRelease(run, Acknowledged.soon()), ordeal.here());
        writer = stores.get(owner).acquire(run, Acknowledged.soon()).orElseThrow();
      }
      check(ordeal, first.load(run, 1, Acknowledged.soon()), sequence);
    }
  }

  private static JdbcRunStore open(String url, String name, ShiftedTime clock) {
    return JdbcRunStore.builder(PostgresServer.source(url)).owner(name).timeSource(clock).open();
  }

  /** By an hour, or to just before or after the hour that there is twice, or not at all. */
  private static void jump(Ordeal ordeal, ShiftedTime clock) {
    switch (ordeal.random.nextInt(3)) {
      case 0 -> clock.shift(SHIFTS.get(ordeal.random.nextInt(SHIFTS.size())));
      case 1 ->
          clock.set(CHANGES.get(ordeal.random.nextInt(CHANGES.size())).minus(Duration.ofMillis(5)));
      default ->
          clock.set(CHANGES.get(ordeal.random.nextInt(CHANGES.size())).plus(Duration.ofHours(1)));
    }
    ordeal.blow();
  }

  private static void check(Ordeal ordeal, List<LoggedEvent> log, int sequence) {
    assertEquals(sequence, log.size(), ordeal.here());
    for (int n = 1; n < log.size(); n++) {
      assertFalse(log.get(n).time().isBefore(log.get(n - 1).time()), ordeal.here());
    }
    ordeal.acknowledged(log.size());
  }
}
