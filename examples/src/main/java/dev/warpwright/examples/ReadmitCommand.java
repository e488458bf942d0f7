package dev.warpwright.examples;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lets a quarantined run go on. */
@Command(
    name = "readmit",
    sortOptions = false,
    description =
        "Lets a quarantined run go on, once what kept it from being driven is mended: see"
            + " stranded.")
final class ReadmitCommand implements Callable<Integer> {
  private final Console console;

  @Mixin private final JsonOption json = new JsonOption();
  @Mixin private final DatabaseOption database = new DatabaseOption();
  @Mixin private final RunParameter run = new RunParameter();

  ReadmitCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    RunKey key = run.key();
    try (RunStore store = Databases.openExisting(database.url())) {
      Runs runs = Runs.in(store);
      runs.readmit(key);
      var state = runs.state(key).orElseThrow();
      json.print(console, RunJson.of(state), RunJson.line(state));
      return 0;
    }
  }
}
