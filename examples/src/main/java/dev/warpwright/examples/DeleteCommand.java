package dev.warpwright.examples;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Deletes runs. */
@Command(
    name = "delete",
    sortOptions = false,
    description = {
      "Deletes a run, or all that have ended long ago, with all that belongs to them. A run that is"
          + " driven or has a call in doubt is not deleted.",
      "The ticket of a deleted run is a new one for the next triage."
    })
final class DeleteCommand implements Callable<Integer> {
  private static final Set<RunStatus> ENDED =
      EnumSet.of(RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.TIMED_OUT);

  private final Console console;

  @ArgGroup(multiplicity = "1")
  private final Which which = new Which();

  @Option(names = "--children", description = "The child runs below RUN too.")
  private boolean children;

  @Mixin private final JsonOption json = new JsonOption();
  @Mixin private final DatabaseOption database = new DatabaseOption();

  /** One or many. */
  private static final class Which {
    @Parameters(paramLabel = "RUN", description = "The id of the run.")
    private @Nullable String run;

    @Option(
        names = "--older-than",
        paramLabel = "DURATION",
        description =
            "All runs that have ended, also by a failure, and whose last event is older, such"
                + " as P30D or PT12H. Child runs stay while their parents do.")
    private @Nullable Duration olderThan;
  }

  DeleteCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    Duration age = which.olderThan;
    if (age != null && age.isNegative()) {
      throw new JobException.Usage("--older-than must not be negative, but is " + age + ".");
    }
    if (age == null && Objects.requireNonNull(which.run).isBlank()) {
      throw new JobException.Usage("The id of the run must not be blank.");
    }
    try (RunStore store = Databases.openExisting(database.url())) {
      Runs runs = Runs.in(store);
      int deleted =
          age != null
              ? runs.deleteExpired(Instant.now().minus(age), ENDED)
              : deleteOne(runs, Objects.requireNonNull(which.run));
      json.print(console, Map.of("deleted", deleted), deleted + " deleted");
      return 0;
    }
  }

  private int deleteOne(Runs runs, String run) {
    RunKey key = new RunKey(RunScope.DEFAULT, run);
    int deleted = children ? runs.deleteWithChildren(key) : runs.delete(key) ? 1 : 0;
    if (deleted == 0) {
      throw new JobException("There is no run " + run + ".");
    }
    return deleted;
  }
}
