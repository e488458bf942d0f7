package dev.warpwright.examples;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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

  @Mixin private final JsonOption json = new JsonOption();
  @Mixin private final RunParameter run = new RunParameter();

  CancelCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    RunKey key = run.key();
    if (reason != null && reason.isBlank()) {
      throw new JobException.Usage("--reason must not be blank.");
    }
    try (RunStore store = Databases.openExisting(database.url())) {
      Runs runs = Runs.in(store);
      RunState state = reason == null ? runs.cancel(key) : runs.cancel(key, reason);
      json.print(console, RunJson.of(state), RunJson.line(state));
      return 0;
    }
  }
}
