package dev.warpwright.examples;

import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Runs;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lists the runs that could go on and that nobody drives. */
@Command(
    name = "stranded",
    sortOptions = false,
    description = {
      "Lists the runs that could go on and that nobody drives: no process that is running drives"
          + " their agent, or they were taken up too often without progress and are quarantined,"
          + " until readmit lets them go on."
    })
final class StrandedCommand implements Callable<Integer> {
  private static final String ROW = "%-16s  %-36s  %-11s  %s";

  private final Console console;

  @Mixin private final JsonOption json = new JsonOption();
  @Mixin private final DatabaseOption database = new DatabaseOption();

  StrandedCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    try (RunStore store = Databases.openExisting(database.url())) {
      if (!json.isWanted()) {
        console.print(ROW.formatted("STATUS", "RUN", "QUARANTINED", "PROBLEM"));
      }
      for (RunSummary run : Runs.in(store).stranded(RunScope.DEFAULT)) {
        json.print(
            console,
            RunJson.of(run),
            ROW.formatted(
                run.status(),
                run.run(),
                run.isQuarantined() ? "yes" : "no",
                run.problem().orElse("-").replaceAll("\\p{Cntrl}", " ")));
      }
      return 0;
    }
  }
}
