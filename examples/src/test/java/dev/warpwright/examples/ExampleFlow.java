package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Runs;
import dev.warpwright.testing.ManualTime;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What must hold of every example flow; a process of it is one run of the program. */
final class ExampleFlow {
  /** The program. */
  interface Program {
    void run(PrintStream out, RunStore store, World world) throws Exception;
  }

  /** What outlives the processes: the database, the systems outside, the clock, the disk. */
  record World(RunStore store, Outside outside, ManualTime time, Path disk) {
    static World fresh() throws IOException {
      ManualTime time = new ManualTime();
      return new World(
          RunStore.inMemory(time), new Outside(), time, Files.createTempDirectory("example"));
    }
  }

  private final Program program;

  ExampleFlow(Program program) {
    this.program = program;
  }

  private String process(RunStore store, World world) throws Exception {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    program.run(new PrintStream(printed, true, StandardCharsets.UTF_8), store, world);
    return printed.toString(StandardCharsets.UTF_8).replace("\r\n", "\n");
  }

  void prints(String page) throws Exception {
    World world = World.fresh();
    String text = Files.readString(Path.of("../docs/examples").resolve(page));
    int start = text.indexOf("```text\n") + "```text\n".length();
    assertEquals(text.substring(start, text.indexOf("```\n", start)), process(world.store, world));
  }

  void findsItsRunsWhenRunAgain() throws Exception {
    World world = World.fresh();
    String first = process(world.store, world);
    List<String> ended = ended(world);
    List<String> deeds = world.outside.deeds();

    assertEquals(first, process(world.store, world));
    assertEquals(ended, ended(world));
    assertEquals(deeds, world.outside.deeds());
    assertFalse(ended.isEmpty());
  }

  /** Halts it at each of its writes, before and after it, and runs it again. */
  void survivesEveryHalt() throws Exception {
    World whole = World.fresh();
    HaltedStore counting = new HaltedStore(whole.store, 0, false);
    String expected = process(counting.store(), whole);
    assertTrue(counting.writes() > 10, "writes: " + counting.writes());

    for (int write = 1; write <= counting.writes(); write++) {
      for (boolean afterIt : new boolean[] {false, true}) {
        String where = "halted " + (afterIt ? "after" : "before") + " write " + write;
        World world = World.fresh();
        HaltedStore halted = new HaltedStore(world.store, write, afterIt);
        try {
          var _ = process(halted.store(), world);
        } catch (Exception | Error lost) {
          assertTrue(halted.isHalted(), () -> where + ": " + lost);
        }
        var _ = Thread.interrupted();
        halted.bury();

        assertEquals(expected, process(world.store, world), where);
        assertEquals(whole.outside.deeds(), world.outside.deeds(), where);
        for (RunSummary run : runs(world)) {
          assertTrue(run.status() != RunStatus.NEEDS_RECONCILIATION, where);
        }
      }
    }
  }

  /** The runs that have ended, and how long their logs are. */
  private static List<String> ended(World world) {
    return runs(world).stream()
        .filter(run -> run.status().isFinal())
        .map(run -> run.run() + " has " + run.sequence() + " events")
        .toList();
  }

  private static List<RunSummary> runs(World world) {
    return Runs.in(world.store, world.time).list(RunQuery.builder(RunScope.DEFAULT).build());
  }
}
