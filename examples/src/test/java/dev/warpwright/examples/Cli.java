package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.model.Json;
import dev.warpwright.tool.JsonType;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The program, run in this process or in one of its own, with a folder for its files. */
final class Cli {
  private final Path folder;

  Cli(Path folder) {
    this.folder = folder;
  }

  /** How a command ended. */
  record Ended(int exitCode, String out, String err) {
    Ended expect(int wanted) {
      assertEquals(wanted, exitCode, () -> out + err);
      return this;
    }

    /** The only line on standard error. */
    String errorLine() {
      List<String> lines = err.lines().toList();
      assertEquals(1, lines.size(), err);
      return lines.getFirst();
    }
  }

  static Ended run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode = Main.execute(new Console(new PrintWriter(out), new PrintWriter(err)), args);
    return new Ended(exitCode, out.toString(), err.toString());
  }

  /** Runs a triage in the folder. */
  Ended triage(String... args) {
    return run(job("triage", args));
  }

  /** Runs an approve in the folder. */
  Ended approve(String... args) {
    return run(job("approve", args));
  }

  private String[] job(String command, String... args) {
    List<String> all = new ArrayList<>(List.of(command, "--out", out().toString()));
    all.add("--no-progress");
    all.addAll(List.of(args));
    return all.toArray(String[]::new);
  }

  /** Starts a triage in a process of its own, its output in files of the folder. */
  Process start(String... args) throws IOException {
    return start(Map.of(), args);
  }

  /** Starts a triage with these variables in its environment. */
  Process start(Map<String, String> environment, String... args) throws IOException {
    ProcessBuilder builder =
        program(job("triage", args))
            .redirectOutput(folder.resolve("stdout").toFile())
            .redirectError(folder.resolve("stderr").toFile());
    builder.environment().putAll(environment);
    return builder.start();
  }

  /** The program in a process of its own. */
  static ProcessBuilder program(String... args) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
    command.addAll(List.of(args));
    return new ProcessBuilder(command);
  }

  Path out() {
    return folder.resolve("out");
  }

  String db() {
    return Databases.in(out());
  }

  /** A line of the list of runs. */
  record RunLine(String status, String ticket, String run) {
    static RunLine parse(String line) {
      String[] columns = line.split("\\s{2,}", -1);
      return new RunLine(columns[0], columns[1], columns[2]);
    }
  }

  /** The list of runs, by ticket. */
  List<RunLine> runs() {
    return run("runs", "--db", db())
        .expect(0)
        .out()
        .lines()
        .skip(1)
        .map(RunLine::parse)
        .sorted(Comparator.comparing(RunLine::ticket))
        .toList();
  }

  /** The id of the run of a ticket. */
  String runOf(String ticket) {
    return runs().stream()
        .filter(line -> line.ticket().equals(ticket))
        .map(RunLine::run)
        .findFirst()
        .orElseThrow();
  }

  String show(String run) {
    return run("show", "--db", db(), run).expect(0).out();
  }

  Report report() throws IOException {
    return JsonType.of(Report.class, MethodHandles.lookup())
        .read(Json.parse(Files.readString(out().resolve("report.json"))));
  }

  /** What was done, each effect as ticket, tool and input, sorted. */
  List<String> effects() {
    Path file = out().resolve("effects.jsonl");
    JsonType<Effect> type = JsonType.of(Effect.class, MethodHandles.lookup());
    try (Stream<String> lines = Files.lines(file)) {
      return lines
          .map(line -> type.read(Json.parse(line)))
          .map(effect -> effect.ticket() + " " + effect.tool() + " " + effect.input().text())
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A file with these lines. */
  Path file(String name, String... lines) throws IOException {
    return Files.write(folder.resolve(name), List.of(lines));
  }

  /** A file with some of the shipped tickets. */
  Path tickets(String... ids) throws IOException {
    List<String> lines = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of("data", "tickets.jsonl"))) {
      if (Stream.of(ids).anyMatch(id -> line.startsWith("{\"id\": \"" + id + "\""))) {
        lines.add(line);
      }
    }
    assertEquals(ids.length, lines.size());
    return file("tickets.jsonl", lines.toArray(String[]::new));
  }
}
