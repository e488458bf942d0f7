package dev.warpwright.bench;

import dev.warpwright.bench.durable.DurableLoad;
import dev.warpwright.bench.durable.LinearCost;
import dev.warpwright.bench.durable.TakeOver;
import dev.warpwright.bench.http.HttpLoad;
import dev.warpwright.bench.load.Environment;
import dev.warpwright.bench.load.JavaProcess;
import dev.warpwright.bench.report.Report;
import dev.warpwright.model.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs the suite: JMH over all of its classes, with its own options, and if it is asked to the load
 * programs too, then the report of what came of it.
 */
public final class Suite {
  private static final String USAGE =
      """
      java -cp benchmarks.jar dev.warpwright.bench.Suite FOLDER [WORD] [JMH options]

        by default       JMH alone, about 15 minutes
        --aims [ROUNDS]  what the table of aims needs, in three rounds of less than 7 minutes each
        --all            JMH, then every load program at its full length, about 2 hours
        --smoke          the same, each load program as short as it can be
        --report         measures nothing, writes the pages of the figures that are in the folder

      Writes warpwright-bench.json, the files of the load programs, report.html and report.md there.
      """;

  private static final String HTTP = "http";
  private static final String IN_FLIGHT = "in-flight";
  private static final String DURABLE = "durable";
  private static final String DURABLE_ALONE = "durable-alone";
  private static final String LINEAR_COST = "linear-cost";
  private static final String TAKE_OVER = "take-over";
  private static final List<String> LOADS =
      List.of(HTTP, IN_FLIGHT, DURABLE, DURABLE_ALONE, LINEAR_COST, TAKE_OVER);

  private static final int ROUNDS = 3;
  private static final String THREAD = Subject.THREAD_STARTED_AND_JOINED.name();
  private static final String ALL_CONTROLS = Subject.ALL_CONTROLS.name();

  private final Path folder;
  private final Set<String> measured = new TreeSet<>(); // classes

  private Suite(Path folder) {
    this.folder = folder;
  }

  /**
   * Runs it.
   *
   * @param arguments the folder for what is written, a word that says how much is measured, and
   *     what JMH is given, such as {@code OperationBenchmark -f 3}; garbage is always measured
   * @throws Exception if an option is wrong, a benchmark fails, or the page lacks one
   */
  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 0) {
      System.err.print(USAGE);
      System.exit(2);
    }
    Suite suite = new Suite(Path.of(arguments[0]));
    Files.createDirectories(suite.folder);
    List<String> rest = List.of(arguments).subList(1, arguments.length);
    String word = rest.isEmpty() ? "" : rest.getFirst();
    List<String> jmh = rest.isEmpty() ? rest : rest.subList(1, rest.size());
    switch (word) {
      case "--aims" -> suite.aims(jmh.isEmpty() ? ROUNDS : Integer.parseInt(jmh.getFirst()));
      case "--all" -> {
        suite.jmh(jmh);
        suite.loads();
      }
      case "--smoke" -> {
        suite.jmh(jmh);
        suite.shortLoads();
      }
      case "--report" -> {}
      default -> suite.jmh(rest);
    }
    suite.report(word.equals("--report"));
  }

  /** JMH with its own options. */
  private void jmh(List<String> arguments) throws Exception {
    write(run(new CommandLineOptions(arguments.toArray(String[]::new))));
  }

  /** What the aims need: each round of JMH has one fork of each benchmark. */
  private void aims(int rounds) throws Exception {
    List<RunResult> results = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      results.addAll(
          run(
              new OptionsBuilder()
                  .include("OperationBenchmark.virtualCaller$")
                  .param(
                      "subject",
                      THREAD,
                      Subject.NOTHING_ON.name(),
                      ALL_CONTROLS,
                      Subject.RESILIENCE4J.name())
                  .include("StreamBenchmark.(bareModel|eventsRead)$")
                  .include("AgentBenchmark.(modelAndToolAlone|oneStepPure)$")
                  .param("store", "memory")
                  .forks(1)
                  .build()));
      results.addAll(
          run(
              new OptionsBuilder()
                  .include("OperationBenchmark.platformCaller$")
                  .param("subject", THREAD, ALL_CONTROLS)
                  .include("ResumeBenchmark.resume$")
                  .param("store", "h2:POWER", "postgres")
                  .forks(1)
                  .build()));
    }
    write(results);
    forgetLoads();
    load(
        HTTP,
        HttpLoad.class,
        "--client jdk,warpwright,warpwright-controlled --what calls --callers 64"
            + " --warmup 25 --seconds 5 --rounds "
            + rounds);
    load(IN_FLIGHT, InFlight.class, "--rounds " + rounds);
    load(
        DURABLE,
        DurableLoad.class,
        "--what flows,appends,raw,dbos --store h2:POWER,postgres --callers 64"
            + " --warmup 3 --seconds 3 --rounds "
            + rounds);
    load(
        DURABLE_ALONE,
        DurableLoad.class,
        "--what flows,dbos --store memory,postgres --callers 1"
            + " --warmup 4 --seconds 3 --rounds "
            + rounds);
    load(TAKE_OVER, TakeOver.class, "--rounds " + rounds);
  }

  private void loads() throws Exception {
    forgetLoads();
    load(HTTP, HttpLoad.class, "");
    load(IN_FLIGHT, InFlight.class, "");
    load(DURABLE, DurableLoad.class, "");
    load(LINEAR_COST, LinearCost.class, "");
    load(TAKE_OVER, TakeOver.class, "");
  }

  private void shortLoads() throws Exception {
    forgetLoads();
    load(HTTP, HttpLoad.class, "--what calls --callers 4 --warmup 2 --seconds 1");
    load(IN_FLIGHT, InFlight.class, "--operations 1000");
    load(
        DURABLE,
        DurableLoad.class,
        "--what flows,appends,raw,dbos --store memory,postgres --callers 4"
            + " --warmup 0 --seconds 1");
    load(LINEAR_COST, LinearCost.class, "--store memory --steps 10,100");
    load(TAKE_OVER, TakeOver.class, "--runs 10");
  }

  /** Figures of one run are compared with each other, and not with those of an earlier one. */
  private void forgetLoads() throws IOException {
    for (String name : LOADS) {
      Files.deleteIfExists(folder.resolve(name + ".json"));
    }
  }

  /** Runs a load program in a process of its own. */
  private void load(String name, Class<?> program, String options) throws Exception {
    List<String> arguments = new ArrayList<>();
    if (!options.isEmpty()) {
      arguments.addAll(List.of(options.split(" ", -1)));
    }
    arguments.add("--json");
    arguments.add(folder.resolve(name + ".json").toString());
    System.out.println(program.getSimpleName() + " " + String.join(" ", arguments));
    JavaProcess.run(
        JavaProcess.of(program, arguments.toArray(String[]::new))
            .redirectOutput(ProcessBuilder.Redirect.INHERIT));
    measured.add(program.getName());
  }

  private static Collection<RunResult> run(Options asked) throws Exception {
    ChainedOptionsBuilder options = new OptionsBuilder().parent(asked).shouldFailOnError(true);
    if (asked.getProfilers().isEmpty()) {
      options.addProfiler(GCProfiler.class);
    }
    return new Runner(options.build()).run();
  }

  private void write(Collection<RunResult> results) {
    Path file = folder.resolve(Report.JMH_FILE);
    ResultFormatFactory.getInstance(ResultFormatType.JSON, file.toString()).writeOut(results);
    for (RunResult result : results) {
      String name = result.getParams().getBenchmark();
      measured.add(name.substring(0, name.lastIndexOf('.')));
    }
  }

  private void report(boolean ofEarlier) throws IOException {
    if (!ofEarlier) {
      Files.writeString(folder.resolve(Report.ENVIRONMENT_FILE), Json.of(environment()).text());
    }
    Set<String> missing = new TreeSet<>(measured);
    missing.removeAll(Report.write(folder));
    if (!missing.isEmpty()) {
      throw new IllegalStateException("The report lacks " + missing + ".");
    }
    System.out.println("The report is " + folder.resolve("report.html").toUri());
  }

  private static Map<String, String> environment() {
    Map<String, String> environment = Environment.here();
    environment.remove("java"); // JMH says which Java the forks had
    processor().ifPresent(name -> environment.put("processor", name));
    commit().ifPresent(name -> environment.put("commit", name));
    return environment;
  }

  private static Optional<String> processor() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst();
    } catch (IOException e) {
      return Optional.empty(); // not on Linux
    }
  }

  /** What Git calls the sources here, if it knows them. */
  private static Optional<String> commit() {
    try {
      Process git = new ProcessBuilder("git", "describe", "--always", "--dirty").start();
      String said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return git.waitFor() == 0 && !said.isEmpty() ? Optional.of(said) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty(); // there is no Git
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
