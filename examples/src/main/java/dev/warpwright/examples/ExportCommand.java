package dev.warpwright.examples;

import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Prints a run's log as text that another process can take in. */
@Command(
    name = "export",
    sortOptions = false,
    description =
        "Prints the log of a run, one event a line as JSON, for Agents.resume or other programs. It"
            + " holds messages and tool data.")
final class ExportCommand implements Callable<Integer> {
  private final Console console;

  @Mixin private final DatabaseOption database = new DatabaseOption();
  @Mixin private final RunParameter run = new RunParameter();

  ExportCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    var key = run.key();
    try (RunStore store = Databases.openExisting(database.url())) {
      console.print(RunExport.write(Runs.in(store).log(key)).stripTrailing());
      return 0;
    }
  }
}
