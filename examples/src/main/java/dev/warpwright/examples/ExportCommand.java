package dev.warpwright.examples;

import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Prints a run's log as text that another process can take in. */
@Command(
    name = "export",
    sortOptions = false,
    description =
        "Prints the log of a run, one event a line as JSON, for import, Agents.resume or other"
            + " programs. It holds messages and tool data, unless it is masked.")
final class ExportCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--children", description = "The child runs below it too, behind it.")
  private boolean children;

  @Option(
      names = "--masked",
      description =
          "Without what people, models and tools said: what happened can be looked at, and nothing"
              + " else be done with it.")
  private boolean masked;

  @Mixin private final DatabaseOption database = new DatabaseOption();
  @Mixin private final RunParameter run = new RunParameter();

  ExportCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    var key = run.key();
    try (RunStore store = Databases.openExisting(database.url())) {
      Runs runs = Runs.in(store);
      for (List<LoggedEvent> log : children ? runs.logs(key) : List.of(runs.log(key))) {
        String text = masked ? RunExport.writeMasked(log) : RunExport.write(log);
        console.print(text.stripTrailing());
      }
      return 0;
    }
  }
}
