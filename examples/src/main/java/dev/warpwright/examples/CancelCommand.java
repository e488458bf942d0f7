package dev.warpwright.examples;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Cancels a run for good. */
@Command(
    name = "cancel",
    sortOptions = false,
    description = {
      "Cancels a run for good, whatever it waits for. A run that has ended stays as it is.",
      "A run with a call in doubt is cancelled after the verdict on it."
    })
final class CancelCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the log.")
  private @Nullable String reason;

  @Mixin private final DatabaseOption database = new DatabaseOption();

  @Parameters(paramLabel = "RUN", description = "The id of the run, as the command runs lists it.")
  private String run = "";

  CancelCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    if (run.isBlank()) {
      throw new JobException.Usage("The id of the run must not be blank.");
    }
    if (reason != null && reason.isBlank()) {
      throw new JobException.Usage("--reason must not be blank.");
    }
    try (RunStore store = Databases.openExisting(database.url())) {
      Runs runs = Runs.in(store);
      RunKey key = new RunKey(RunScope.DEFAULT, run);
      RunState state = reason == null ? runs.cancel(key) : runs.cancel(key, reason);
      console.print("%s  %s".formatted(state.run(), state.status()));
      return 0;
    }
  }
}
