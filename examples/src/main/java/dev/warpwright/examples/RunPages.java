package dev.warpwright.examples;

import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Runs;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Goes through the runs of a database, a page at a time. */
final class RunPages {
  private static final int PAGE = 1000;

  private RunPages() {}

  /** Shows every run of these statuses, all if none is named, latest update first. */
  static void forEach(Runs runs, Set<RunStatus> statuses, Consumer<RunSummary> each) {
    RunQuery query =
        RunQuery.builder(RunScope.DEFAULT)
            .statuses(statuses.toArray(RunStatus[]::new))
            .limit(PAGE)
            .build();
    List<RunSummary> page = runs.list(query);
    while (!page.isEmpty()) {
      page.forEach(each);
      page = page.size() < PAGE ? List.of() : runs.list(query.after(page.getLast()));
    }
  }

  /** The ticket of a run. */
  static String ticketOf(RunSummary run) {
    String key = run.idempotencyKey().orElse("");
    return key.startsWith(TriageCommand.BATCH + ":")
        ? key.substring(TriageCommand.BATCH.length() + 1)
        : "-";
  }
}
