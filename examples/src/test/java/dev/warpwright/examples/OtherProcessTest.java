package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.scripted.ScriptedServer;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class OtherProcessTest {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir Path folder;
  private Cli cli = new Cli(Path.of(""));

  @BeforeEach
  void open() {
    cli = new Cli(folder);
  }

  @Test
  void aDatabaseThatAnotherProcessHasOpenIsOneLine() throws Exception {
    Path script =
        cli.file(
            "slow.json",
            "{\"rules\":[{\"when\":{},\"answer\":{\"text\":\"Done.\",\"latency\":\"PT0.9S\"}}]}");
    Process other = cli.start("--script", script.toString(), "--concurrency", "1");
    try {
      awaitEffects(other, -1);
      for (List<String> command :
          List.of(
              List.of("runs", "--db", cli.db()),
              List.of("show", "--db", cli.db(), "x"),
              List.of("approve", "--all", "--out", cli.out().toString()),
              List.of("triage", "--out", cli.out().toString(), "--no-progress"))) {
        String line = Cli.run(command.toArray(String[]::new)).expect(1).errorLine();
        assertTrue(line.contains("open in another process"), line);
      }
    } finally {
      other.destroyForcibly().waitFor();
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void anOutputThatCannotBeWrittenIsAFailure() throws Exception {
    File err = folder.resolve("stderr").toFile();
    Process full =
        Cli.program("triage", "--help")
            .redirectOutput(new File("/dev/full"))
            .redirectError(err)
            .start();
    assertEquals(1, full.waitFor());
    List<String> lines = Files.readAllLines(err.toPath());
    assertEquals(1, lines.size(), lines.toString());
    assertTrue(lines.getFirst().contains("Cannot write to standard output"), lines.toString());

    Process head = Cli.program("triage", "--help").redirectError(err).start();
    head.getInputStream().close();
    assertEquals(0, head.waitFor());
    assertEquals("", Files.readString(err.toPath()));
  }

  @Test
  void anyCompatibleServerWillDoWithTheKeyOfTheEnvironment() throws Exception {
    try (ScriptedServer server =
        ScriptedServer.builder(Providers.backupScript()).requireKey("sk-for-this-test").start()) {
      Process job =
          cli.start(
              Map.of("OPENAI_API_KEY", "sk-for-this-test"),
              "--provider-url",
              server.uri().toString(),
              "--model",
              "some-model",
              "--input",
              cli.tickets("T-0001", "T-0002").toString());
      try {
        assertTrue(job.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS));
      } finally {
        job.destroyForcibly();
      }
      assertEquals(0, job.exitValue(), Files.readString(folder.resolve("stderr")));
      assertEquals(2, cli.report().completed());
      assertEquals(cli.report().dispatches(), server.requests());
      assertTrue(cli.show(cli.runOf("T-0001")).contains("openai/some-model answers"));
    }
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void sigtermStopsInOrderAndTheNextRunGoesOn() throws Exception {
    String[] ids = new String[40];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = "T-%04d".formatted(i + 1);
    }
    String input = cli.tickets(ids).toString();
    Process job = cli.start("--input", input, "--concurrency", "2");
    try {
      awaitEffects(job, 8);
      job.destroy();
      assertTrue(job.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS));
    } finally {
      job.destroyForcibly();
    }
    assertEquals(128 + 15, job.exitValue());
    assertEquals("", Files.readString(folder.resolve("stderr")));
    String out = Files.readString(folder.resolve("stdout"));
    Report stopped = cli.report();
    assertTrue(
        out.contains(
            "Stopped after %d of 40 tickets. Run the same command again to go on."
                .formatted(stopped.items())),
        out);
    assertTrue(stopped.items() < 40);
    assertEquals(0, stopped.failed());

    cli.triage("--input", input, "--concurrency", "16").expect(0);
    Report whole = cli.report();
    assertEquals(40, whole.items());
    assertEquals(0, whole.needsReconciliation());
    assertEquals(stopped.completed(), whole.skipped());
    assertEquals(40, cli.runs().size());
    assertEquals(new HashSet<>(cli.effects()).size(), cli.effects().size());
  }

  /** Waits until more lines than that stand in the file of effects; -1: until it is there. */
  private void awaitEffects(Process job, int lines) throws IOException, InterruptedException {
    Path file = cli.out().resolve("effects.jsonl");
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!Files.exists(file) || Files.readAllLines(file).size() <= lines) {
      assertTrue(job.isAlive(), () -> "ended with " + job.exitValue());
      assertTrue(System.nanoTime() < deadline, "nothing happened");
      Thread.sleep(20);
    }
  }
}
