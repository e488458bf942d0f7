package dev.warpwright.store.jdbc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Tortures the store for as long as one likes: kills, frozen processes, power cuts, lost
 * connections, stopped servers. Prints a line for each kind, with what was lost and what happened
 * twice, and ends with 1 at the first thing that should not be. The script {@code
 * store-jdbc/torture} starts it.
 */
final class Torture {
  private static final String USAGE =
      """
      Usage: store-jdbc/torture KIND [--seconds N] [--seed S]

      KIND is one of these, or all, each for N seconds (60 unless given):
        crash-matrix  halts the process at each boundary of a commit
        kill          kill -9 under load
        power         power cuts under H2, on a disk that tears what was not forced
        relaxed       the control of power, which must lose something
        stop          immediate stops of the PostgreSQL server, terminated backends
        freeze        a worker is stopped for twice its lease, and goes on
        interrupt     interrupts of all callers
        fence         take-over during an append, with the unfenced control
        cut           connections cut around the commit
        clock         clocks that are an hour wrong, jump, or change to summer time
        boot          eight processes that boot at once, on no schema and on an old one
        workers       three workers, one of which is killed every few seconds; 42 runs a second

      PostgreSQL is started here, or is the one that -Dwarpwright.postgres.url in JAVA_OPTS names.
      """;

  private static final Duration FREEZE_LEASE = Duration.ofSeconds(2);
  private static final Duration WORKER_LEASE = Duration.ofSeconds(5);
  private static final Duration BETWEEN_BLOWS = Duration.ofSeconds(3);

  private final Duration time;

  private Torture(Duration time) {
    this.time = time;
  }

  /** One kind: what it does, and what its blows are called. */
  private record Kind(String blows, Deed deed) {}

  @FunctionalInterface
  private interface Deed {
    void on(Ordeal ordeal) throws Exception;
  }

  private Map<String, Kind> kinds() {
    Map<String, Kind> kinds = new TreeMap<>();
    kinds.put("crash-matrix-h2", new Kind("crashes", o -> CrashRounds.halt(o, Torture::file)));
    kinds.put("crash-matrix-pg", new Kind("crashes", o -> CrashRounds.halt(o, Torture::postgres)));
    kinds.put("kill-h2", new Kind("kills", o -> CrashRounds.kill(o, Torture::file)));
    kinds.put("kill-pg", new Kind("kills", o -> CrashRounds.kill(o, Torture::postgres)));
    kinds.put("power", new Kind("power cuts", o -> PowerCuts.survive(o, folder())));
    kinds.put("relaxed", new Kind("power cuts", o -> PowerCuts.lose(o, folder())));
    kinds.put("stop", new Kind("stops", Storms::stop));
    kinds.put("interrupt-h2", new Kind("interrupts", o -> Storms.interrupt(o, Torture::file)));
    kinds.put("interrupt-pg", new Kind("interrupts", o -> Storms.interrupt(o, Torture::postgres)));
    kinds.put("fence", new Kind("take-overs", o -> FenceRace.race(o, postgres())));
    kinds.put("cut", new Kind("cuts", o -> Storms.cut(o, Torture::postgres)));
    kinds.put("clock", new Kind("jumps", o -> WrongClocks.survive(o, Torture::postgres)));
    kinds.put("boot", new Kind("boots", BootRace::race));
    kinds.put("freeze", new Kind("freezes", o -> fleet(o, Fleet.Harm.FREEZE, FREEZE_LEASE)));
    kinds.put("workers", new Kind("kills", o -> fleet(o, Fleet.Harm.KILL, WORKER_LEASE)));
    return kinds;
  }

  private void fleet(Ordeal ordeal, Fleet.Harm harm, Duration lease) throws Exception {
    int runs = Math.toIntExact(Math.max(1, time.toMillis() * 5 / 120));
    Fleet.drive(
        ordeal, harm, postgres(), folder().resolve("world"), runs, time, lease, BETWEEN_BLOWS);
  }

  private static String postgres() throws Exception {
    return PostgresServer.get().cleared();
  }

  private static String file() throws IOException {
    return Databases.inFile(folder());
  }

  private static Path folder() throws IOException {
    return Files.createTempDirectory("warpwright-torture");
  }

  public static void main(String[] arguments) {
    try {
      String wanted = arguments.length == 0 ? "" : arguments[0];
      long seconds = 60;
      long seed = new Random().nextLong();
      for (int n = 1; n < arguments.length; n += 2) {
        if (n + 1 == arguments.length) {
          throw new IllegalArgumentException(arguments[n] + " needs a value");
        }
        long value = Long.parseLong(arguments[n + 1]);
        switch (arguments[n]) {
          case "--seconds" -> seconds = value;
          case "--seed" -> seed = value;
          default -> throw new IllegalArgumentException("what is " + arguments[n] + "?");
        }
      }
      System.exit(new Torture(Duration.ofSeconds(seconds)).run(wanted, seed));
    } catch (IllegalArgumentException e) {
      System.err.println("torture: " + Arrays.toString(arguments) + ": " + e.getMessage());
      System.err.print(USAGE);
      System.exit(2);
    }
  }

  private int run(String wanted, long seed) {
    boolean any = false;
    for (Map.Entry<String, Kind> kind : kinds().entrySet()) {
      String name = kind.getKey();
      if (wanted.equals("all") || name.equals(wanted) || name.matches(wanted + "-(h2|pg)")) {
        any = true;
        if (!suffer(name, kind.getValue(), seed)) {
          return 1;
        }
      }
    }
    if (!any) {
      throw new IllegalArgumentException("there is no such kind");
    }
    return 0;
  }

  private boolean suffer(String name, Kind kind, long seed) {
    Ordeal ordeal = Ordeal.lasting(time, seed);
    try {
      kind.deed().on(ordeal);
      System.out.println(ordeal.summary(name, kind.blows()));
      return true;
    } catch (Exception | AssertionError e) {
      System.out.printf(
          Locale.ROOT, "%s%nFAILED: %s%n", ordeal.summary(name, kind.blows()), e.getMessage());
      e.printStackTrace();
      return false;
    }
  }
}
