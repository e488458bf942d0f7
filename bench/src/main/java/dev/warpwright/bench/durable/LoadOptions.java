package dev.warpwright.bench.durable;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What {@link DurableLoad} measures.
 *
 * @param what which measurements
 * @param stores on which stores
 * @param callers with how many callers at once, one measurement each
 * @param seconds how long each counts
 * @param warmup how many seconds each goes on before it counts
 * @param steps how many steps a run or workflow has
 * @param json where the figures are written
 */
record LoadOptions(
    List<What> what,
    List<StoreKind> stores,
    List<Integer> callers,
    int seconds,
    int warmup,
    int steps,
    Optional<Path> json) {

  /** A measurement. */
  enum What {
    /** Agents with trivial tools. */
    AGENTS,
    /** Flows of trivial steps. */
    FLOWS,
    /** Appends to the store's port. */
    APPENDS,
    /** Bare group commits. */
    RAW,
    /** The peer. */
    DBOS;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  static final String USAGE =
      """
      java -cp benchmarks.jar dev.warpwright.bench.durable.DurableLoad [options]

        --what WHAT,...      agents, flows, appends, raw, dbos; all of them by default
        --store STORE,...    memory, h2:RELAXED, h2:PROCESS, h2:POWER, postgres; all by default
        --callers N,...      1,16,64,256,1024 by default
        --seconds N          how long each measurement counts, 10 by default
        --warmup N           seconds before it counts, 5 by default
        --steps N            steps of a run or workflow, 1 to 127, 10 by default
        --json FILE          writes the figures there too

      PostgreSQL is started here, with fsync on, or named by -Dwarpwright.postgres.url.
      """;

  LoadOptions {
    if (callers.stream().anyMatch(count -> count < 1)) {
      throw new IllegalArgumentException("--callers must be 1 or more each.");
    }
    if (seconds < 1 || warmup < 0) {
      throw new IllegalArgumentException("--seconds must be 1 or more, --warmup 0 or more.");
    }
    if (steps < 1 || steps >= TrivialAgent.MAX_STEPS_AT_ONCE) {
      throw new IllegalArgumentException("--steps must be between 1 and 127, but is " + steps);
    }
  }

  static LoadOptions parse(String... arguments) {
    List<What> what = List.of(What.values());
    List<StoreKind> stores = List.of(StoreKind.values());
    List<Integer> callers = List.of(1, 16, 64, 256, 1024);
    int seconds = 10;
    int warmup = 5;
    int steps = 10;
    Optional<Path> json = Optional.empty();
    for (int n = 0; n < arguments.length; n += 2) {
      if (n + 1 == arguments.length) {
        throw new IllegalArgumentException("There is no value behind " + arguments[n] + ".");
      }
      String value = arguments[n + 1];
      switch (arguments[n]) {
        case "--what" ->
            what = parts(value).map(each -> What.valueOf(each.toUpperCase(Locale.ROOT))).toList();
        case "--store" -> stores = parts(value).map(StoreKind::parse).toList();
        case "--callers" -> callers = parts(value).map(Integer::valueOf).toList();
        case "--seconds" -> seconds = Integer.parseInt(value);
        case "--warmup" -> warmup = Integer.parseInt(value);
        case "--steps" -> steps = Integer.parseInt(value);
        case "--json" -> json = Optional.of(Path.of(value));
        default -> throw new IllegalArgumentException("There is no option " + arguments[n] + ".");
      }
    }
    return new LoadOptions(what, stores, callers, seconds, warmup, steps, json);
  }

  private static Stream<String> parts(String list) {
    return Arrays.stream(list.split(",", -1));
  }

  Load load() {
    return new Load(Duration.ofSeconds(warmup), Duration.ofSeconds(seconds));
  }
}
