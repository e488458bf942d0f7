package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An approval that one process asks for, a second one decides and a third one acts on. */
class ThreeProcessesIT {
  private static final String TICKET = "T-0129"; // asks for a refund that a person must approve

  @TempDir Path folder;

  @Test
  @Tag("A126")
  void anApprovalIsAskedForDecidedAndActedOnInThreeProcesses() throws Exception {
    Cli cli = new Cli(folder);
    String out = cli.out().toString();
    String input = cli.tickets(TICKET).toString();
    try (Postgres postgres = Postgres.start()) {
      String db = postgres.url();

      program("triage", "--db", db, "--out", out, "--input", input, "--no-progress");
      String run = onlyRun(db, "WAITING_APPROVAL");
      assertEquals(0, refunds(cli));

      program("approve", "--run", run, "--only-decide", "--by", "ann", "--db", db);
      assertEquals(0, refunds(cli));

      program("work", "--until-idle", "--db", db, "--out", out, "--no-progress");
      assertEquals(run, onlyRun(db, "COMPLETED"));
      assertEquals(1, refunds(cli));
      assertTrue(Cli.run("show", "--db", db, run).expect(0).out().contains("ann"));
    }
  }

  private static long refunds(Cli cli) {
    return cli.effects().stream().filter(effect -> effect.startsWith(TICKET + " refund ")).count();
  }

  private static String onlyRun(String db, String status) {
    String line = Cli.run("runs", "--db", db, "--json").expect(0).out().strip();
    Map<?, ?> run = (Map<?, ?>) Objects.requireNonNull(Json.parse(line).value());
    assertEquals(status, run.get("status"), line);
    return String.valueOf(run.get("run"));
  }

  /** Runs a command in a process of its own, which must end well. */
  private void program(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(arguments));
    Path output = folder.resolve(command.getFirst() + ".txt");
    Process process =
        Cli.program(arguments).redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      assertTrue(process.waitFor(120, TimeUnit.SECONDS), () -> command + " does not end");
      assertEquals(0, process.exitValue(), Files.readString(output));
    } finally {
      process.destroyForcibly();
    }
  }
}
