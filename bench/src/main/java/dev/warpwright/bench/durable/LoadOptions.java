package dev.warpwright.bench.durable;

import dev.warpwright.bench.load.Load;
import dev.warpwright.bench.load.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * What {@link DurableLoad} measures.
 *
 * @param what which measurements
 * @param stores on which stores
 * @param callers with how many callers at once, one measurement each
 * @param seconds how long each counts
 * @param warmup how many seconds each goes on before it counts
 * @param steps how many steps a run or workflow has
 * @param rounds how often everything is measured, one round after the other
 * @param json where the figures are written
 */
record LoadOptions(
    List<What> what,
    List<StoreKind> stores,
    List<Integer> callers,
    int seconds,
    int warmup,
    int steps,
    int rounds,
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
        --rounds N           how often everything is measured, 1 by default
        --json FILE          writes the figures there too

      PostgreSQL is started here, with fsync on, or named by -Dwarpwright.postgres.url.
      """;

  static LoadOptions parse(String... arguments) {
    Options options =
        Options.parse(
            Set.of(
                "--what",
                "--store",
                "--callers",
                "--seconds",
                "--warmup",
                "--steps",
                "--rounds",
                "--json"),
            arguments);
    int steps = options.number("--steps", 1, 10);
    if (steps >= TrivialAgent.MAX_STEPS_AT_ONCE) {
      throw new IllegalArgumentException(
          "--steps must be between 1 and 127, but is " + steps + ".");
    }
    return new LoadOptions(
        options.list("--what", Options.constant(What.class), List.of(What.values())),
        options.list("--store", StoreKind::parse, List.of(StoreKind.values())),
        options.numbers("--callers", 1, List.of(1, 16, 64, 256, 1024)),
        options.number("--seconds", 1, 10),
        options.number("--warmup", 0, 5),
        steps,
        options.number("--rounds", 1, 1),
        options.file("--json"));
  }

  Load load() {
    return new Load(Duration.ofSeconds(warmup), Duration.ofSeconds(seconds));
  }
}
