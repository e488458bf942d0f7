package dev.warpwright.examples;

import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Runs;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists the runs of a database. */
@Command(
    name = "runs",
    sortOptions = false,
    description = "Lists the runs of a database, latest update first.")
final class RunsCommand implements Callable<Integer> {
  private static final String ROW = "%-20s  %-12s  %-36s  %6s  %s";

  private final Console console;

  @Mixin private final JsonOption json = new JsonOption();
  @Mixin private final DatabaseOption database = new DatabaseOption();

  @Option(
      names = "--status",
      split = ",",
      paramLabel = "STATUS",
      description = {
        "Only runs of these statuses, such as WAITING_APPROVAL,FAILED. The statuses are:",
        "${COMPLETION-CANDIDATES}"
      })
  private final Set<RunStatus> statuses = EnumSet.noneOf(RunStatus.class);

  RunsCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    try (RunStore store = Databases.openExisting(database.url())) {
      if (!json.isWanted()) {
        console.print(ROW.formatted("STATUS", "TICKET", "RUN", "EVENTS", "UPDATED"));
      }
      RunPages.forEach(Runs.in(store), statuses, this::print);
      return 0;
    }
  }

  private void print(RunSummary run) {
    json.print(
        console,
        RunJson.of(run),
        ROW.formatted(
            run.status(),
            RunPages.ticketOf(run),
            run.run(),
            run.sequence(),
            run.updated().truncatedTo(ChronoUnit.SECONDS)));
  }
}
