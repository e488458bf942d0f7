package dev.warpwright.examples;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Cuts a new run off from another one. */
@Command(
    name = "fork",
    sortOptions = false,
    description = {
      "Begins a new run that has the events of another one up to a point and goes on from there by"
          + " itself: by resume or work.",
      "The other run stays as it is. What was under way at that point cannot be shared; the"
          + " refusal names the nearest events at which nothing was."
    })
final class ForkCommand implements Callable<Integer> {
  private final Console console;

  @Option(
      names = "--at",
      required = true,
      paramLabel = "EVENT",
      description = "The number of the last event that the new run has, as show prints it.")
  private long at;

  @Mixin private final JsonOption json = new JsonOption();
  @Mixin private final DatabaseOption database = new DatabaseOption();
  @Mixin private final RunParameter run = new RunParameter();

  ForkCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    RunKey key = run.key();
    try (RunStore store = Databases.openExisting(database.url())) {
      Runs runs = Runs.in(store);
      var state = runs.state(runs.fork(key, at)).orElseThrow();
      json.print(console, RunJson.of(state), RunJson.line(state));
      return 0;
    }
  }
}
