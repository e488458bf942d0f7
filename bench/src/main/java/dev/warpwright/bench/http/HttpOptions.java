package dev.warpwright.bench.http;

import dev.warpwright.bench.load.Load;
import dev.warpwright.bench.load.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * What {@link HttpLoad} measures.
 *
 * @param clients who calls
 * @param what which measurements
 * @param callers with how many callers at once
 * @param held how many calls, and how many streams, are held open
 * @param seconds how long each load counts
 * @param warmup how many seconds each goes on before it counts
 * @param rounds how often everything is measured, one round after the other
 * @param json where the figures are written
 */
record HttpOptions(
    List<Clients> clients,
    List<What> what,
    List<Integer> callers,
    int held,
    int seconds,
    int warmup,
    int rounds,
    Optional<Path> json) {

  /** A measurement. */
  enum What {
    /** Whole answers, one after the other by each caller. */
    CALLS,
    /** Streamed answers, one after the other by each caller. */
    STREAMS,
    /** Calls that are not answered. */
    HELD_CALLS,
    /** Streams that do not go on behind their first chunk. */
    HELD_STREAMS;

    boolean isHeld() {
      return this == HELD_CALLS || this == HELD_STREAMS;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  static final String USAGE =
      """
      java -cp benchmarks.jar dev.warpwright.bench.http.HttpLoad [options]

        --client CLIENT,...  jdk, warpwright, warpwright-controlled, langchain4j, openai; all by default
        --what WHAT,...      calls, streams, held-calls, held-streams; all by default
        --callers N,...      1,16,64,256,1024,10000 by default
        --held N             how many calls and streams are held open, 10000 by default
        --seconds N          how long each load counts, 10 by default
        --warmup N           seconds before it counts, 20 by default
        --rounds N           how often everything is measured, 1 by default
        --json FILE          writes the figures there too

      Every client and every measurement has a process of its own, and so has its server.
      """;

  static HttpOptions parse(String... arguments) {
    Options options =
        Options.parse(
            Set.of(
                "--client",
                "--what",
                "--callers",
                "--held",
                "--seconds",
                "--warmup",
                "--rounds",
                "--json"),
            arguments);
    return new HttpOptions(
        options.list("--client", Options.constant(Clients.class), List.of(Clients.values())),
        options.list("--what", Options.constant(What.class), List.of(What.values())),
        options.numbers("--callers", 1, List.of(1, 16, 64, 256, 1024, 10_000)),
        options.number("--held", 1, 10_000),
        options.number("--seconds", 1, 10),
        options.number("--warmup", 0, 20),
        options.number("--rounds", 1, 1),
        options.file("--json"));
  }

  /** The same for one client and one measurement, as the arguments of a program. */
  String[] arguments(Clients client, What measured) {
    return new String[] {
      "--client",
      client.toString(),
      "--what",
      measured.toString(),
      "--callers",
      String.join(",", callers.stream().map(String::valueOf).toList()),
      "--held",
      String.valueOf(held),
      "--seconds",
      String.valueOf(seconds),
      "--warmup",
      String.valueOf(warmup)
    };
  }

  /** How many call at once at most. */
  int mostCallers() {
    return callers.stream().mapToInt(Integer::intValue).max().orElse(1);
  }

  Load load() {
    return new Load(Duration.ofSeconds(warmup), Duration.ofSeconds(seconds));
  }
}
