package dev.warpwright.bench;

import dev.warpwright.bench.load.Environment;
import dev.warpwright.bench.report.Report;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs the suite: JMH over all of its classes, with its own options, then the report of what came
 * of it.
 */
public final class Suite {
  private Suite() {}

  /**
   * Runs it.
   *
   * @param arguments the folder for {@code warpwright-bench.json} and {@code report.html}, then
   *     what JMH is given, such as {@code OperationBenchmark -f 3}; garbage is always measured
   * @throws Exception if an option is wrong or a benchmark fails
   */
  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 0) {
      System.err.println("java -cp benchmarks.jar dev.warpwright.bench.Suite FOLDER [JMH options]");
      System.exit(2);
    }
    Path folder = Path.of(arguments[0]);
    Path json = folder.resolve("warpwright-bench.json");
    Path html = folder.resolve("report.html");
    CommandLineOptions asked =
        new CommandLineOptions(Arrays.copyOfRange(arguments, 1, arguments.length));
    OptionsBuilder options = new OptionsBuilder();
    options
        .parent(asked)
        .resultFormat(ResultFormatType.JSON)
        .result(json.toString())
        .shouldFailOnError(true);
    if (asked.getProfilers().isEmpty()) {
      options.addProfiler(GCProfiler.class);
    }
    Files.createDirectories(folder);
    new Runner(options.build()).run();
    Report.write(json, environment(), html);
    System.out.println("The report is " + html.toUri());
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
