package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Three processes on one PostgreSQL, one of which is killed in the middle of its work. */
@DisabledOnOs(OS.WINDOWS)
class SeveralWorkersIT {
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  @TempDir Path folder;

  @Test
  @Tag("F43")
  @Tag("A128")
  void whatAKilledWorkerHadIsTakenOverAndNothingHappensTwice() throws Exception {
    String[] ids =
        IntStream.rangeClosed(1, 60).mapToObj("T-%04d"::formatted).toArray(String[]::new);
    Cli alone = new Cli(Files.createDirectories(folder.resolve("alone")));
    alone.triage("--input", alone.tickets(ids).toString()).expect(0);
    Cli shared = new Cli(Files.createDirectories(folder.resolve("shared")));
    String input = shared.tickets(ids).toString();

    try (Postgres postgres = Postgres.start()) {
      String db = postgres.url();
      shared.triage("--db", db, "--input", input, "--queue").expect(0);
      List<Process> workers = new ArrayList<>();
      try {
        for (int i = 0; i < 3; i++) {
          workers.add(work(shared, db, i));
        }
        await(workers, () -> shared.effects().size() >= 20);
        workers.getFirst().destroyForcibly().waitFor();
        await(workers.subList(1, 3), () -> !hasRuns(db, "QUEUED,RUNNING"));
        for (Process worker : workers.subList(1, 3)) {
          worker.destroy();
          assertTrue(worker.waitFor(60, TimeUnit.SECONDS));
          assertEquals(128 + 15, worker.exitValue());
        }
      } finally {
        workers.forEach(Process::destroyForcibly);
      }

      resumeFailed(shared, db);
      List<String> missing = new ArrayList<>(alone.effects());
      List<String> extra = new ArrayList<>(shared.effects());
      shared.effects().forEach(missing::remove);
      alone.effects().forEach(extra::remove);
      assertEquals(List.of(), missing, "missing");
      assertEquals(List.of(), extra, "not wanted, or twice");
      List<String> seen = new ArrayList<>();
      for (String line : Cli.run("runs", "--db", db, "--json").expect(0).out().lines().toList()) {
        String status = member(line, "status");
        assertTrue(List.of("COMPLETED", "WAITING_APPROVAL").contains(status), line);
        seen.add(line);
      }
      assertEquals(60, seen.size());
      assertEquals("", Cli.run("stranded", "--db", db, "--json").expect(0).out());
    }
  }

  /** On a busy machine the first calls of a process may take longer than the job gives them. */
  private static void resumeFailed(Cli cli, String db) {
    List<String> failed =
        Cli.run("runs", "--db", db, "--json", "--status", "FAILED")
            .expect(0)
            .out()
            .lines()
            .toList();
    for (String line : failed) {
      String run = member(line, "run");
      Cli.run("resume", run, "--db", db, "--out", cli.out().toString()).expect(0);
    }
  }

  private static String member(String line, String name) {
    return String.valueOf(((Map<?, ?>) Objects.requireNonNull(Json.parse(line).value())).get(name));
  }

  private Process work(Cli cli, String db, int number) throws IOException {
    return Cli.program(
            "work",
            "--db",
            db,
            "--out",
            cli.out().toString(),
            "--concurrency",
            "4",
            "--no-progress")
        .redirectOutput(folder.resolve("stdout-" + number).toFile())
        .redirectError(folder.resolve("stderr-" + number).toFile())
        .start();
  }

  private static boolean hasRuns(String db, String statuses) {
    return !Cli.run("runs", "--db", db, "--json", "--status", statuses).expect(0).out().isBlank();
  }

  /** Something that comes about while processes run. */
  private interface Condition {
    boolean holds() throws IOException;
  }

  private void await(List<Process> workers, Condition condition) throws Exception {
    long start = System.nanoTime();
    while (!condition.holds()) {
      for (Process worker : workers) {
        assertTrue(worker.isAlive(), this::errors);
      }
      assertTrue(System.nanoTime() - start < PATIENCE.toNanos(), this::errors);
      Thread.sleep(100);
    }
  }

  private String errors() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 3; i++) {
      try {
        text.append(Files.readString(folder.resolve("stderr-" + i)));
      } catch (IOException e) {
        text.append(e);
      }
    }
    return text.toString();
  }
}
