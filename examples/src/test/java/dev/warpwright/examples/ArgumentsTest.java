package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class ArgumentsTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"triage", "approve", "runs", "show", "cancel"})
  void everyCommandExplainsItself(String command) {
    Cli.Ended ended = Cli.run(command, "--help").expect(0);
    assertTrue(ended.out().startsWith("Usage: warpwright-examples " + command), ended.out());
    assertEquals("", ended.err());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "dance",
        "triage --dance",
        "triage --concurrency 0",
        "triage --concurrency many",
        "triage --input nowhere.jsonl",
        "triage --script nowhere.json",
        "triage --provider-url http://127.0.0.1:1/v1 --script pom.xml",
        "triage --script pom.xml",
        "triage --provider-url not|a|url",
        "triage --provider-url http://example.com/v1",
        "triage --db jdbc:h2:./runs",
        "approve",
        "approve --all --run x",
        "show",
        "cancel",
      })
  void wrongArgumentsAreOneLineAndExitCodeTwo(String line) {
    String[] args = line.isEmpty() ? new String[0] : line.split(" ");
    if (line.startsWith("triage")) {
      args = (line + " --out " + folder.resolve("out")).split(" ");
    }
    String error = Cli.run(args).expect(2).errorLine();
    assertTrue(error.startsWith("warpwright-examples: "), error);
  }

  @Test
  void blankNamesAreWrongArguments() {
    String out = folder.resolve("out").toString();
    assertTrue(
        Cli.run("triage", "--out", out, "--model", "").expect(2).errorLine().contains("--model"));
    assertTrue(Cli.run("show", "").expect(2).errorLine().contains("id of the run"));
    assertTrue(Cli.run("cancel", "").expect(2).errorLine().contains("id of the run"));
    assertTrue(Cli.run("cancel", "x", "--reason", "").expect(2).errorLine().contains("--reason"));
    assertTrue(
        Cli.run("approve", "--out", out, "--run", "").expect(2).errorLine().contains("--run"));
    assertFalse(Files.exists(folder.resolve("out")));
  }

  @Test
  void aFolderWithASemicolonNeedsADatabaseElsewhere() throws IOException {
    Path out = folder.resolve("a;INIT=x");
    for (String command : List.of("triage", "approve --all")) {
      String[] args = (command + " --out " + out).split(" ");
      assertTrue(Cli.run(args).expect(2).errorLine().contains("semicolon"));
    }
    assertFalse(Files.exists(out));
    Path input = Files.createFile(folder.resolve("empty.jsonl"));
    Cli.run(
            "triage",
            "--no-progress",
            "--out",
            out.toString(),
            "--input",
            input.toString(),
            "--db",
            Databases.in(folder))
        .expect(0);
    assertTrue(Files.exists(out.resolve("report.json")));
  }

  @ParameterizedTest
  @ValueSource(classes = {OutOfMemoryError.class, StackOverflowError.class})
  void anErrorOfTheJvmIsOneLine(Class<? extends Error> kind) throws Exception {
    StringWriter err = new StringWriter();
    Console console = new Console(new PrintWriter(new StringWriter()), new PrintWriter(err));
    Error error = kind.getConstructor(String.class).newInstance("of the test");

    assertEquals(1, Main.execute(console, new CommandLine(new Failing(error))));

    String line = new Cli.Ended(1, "", err.toString()).errorLine();
    assertTrue(line.contains("of the test"), line);
  }

  @Command(name = "failing")
  private record Failing(Error error) implements Runnable {
    @Override
    public void run() {
      throw error;
    }
  }

  @Test
  void whoeverOnlyLooksMakesNoDatabase() {
    String db = Databases.in(folder);
    assertTrue(Cli.run("runs", "--db", db).expect(1).errorLine().contains("no database"));
    assertTrue(Cli.run("show", "--db", db, "x").expect(1).errorLine().contains("no database"));
    assertTrue(Cli.run("cancel", "--db", db, "x").expect(1).errorLine().contains("no database"));
    assertFalse(Files.exists(folder.resolve("runs.mv.db")));
  }

  @Test
  void aFolderThatCannotBeMadeIsOneLine() throws IOException {
    Path file = Files.createFile(folder.resolve("file"));
    Cli.run("triage", "--out", file.resolve("out").toString()).expect(1).errorLine();
  }
}
