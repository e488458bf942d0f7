package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.Optional;
import java.util.Set;

/**
 * Which runs a list shows, latest update first and, at equal times, by run id.
 *
 * @param scope whose runs
 * @param statuses which statuses; empty means all
 * @param limit at most so many, 1 to 1000
 * @param after the last run of the page before, to get the next one; no run is skipped or repeated
 *     at equal times
 */
public record RunQuery(
    RunScope scope, Set<RunStatus> statuses, int limit, Optional<RunSummary> after) {
  /** The number of runs that a query shows unless it says otherwise. */
  public static final int DEFAULT_LIMIT = 50;

  private static final int MAX_LIMIT = 1000;

  /** Checks the limit and copies the set. */
  public RunQuery {
    statuses = Set.copyOf(statuses);
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The limit of a list must be between 1 and %d, but is %d.".formatted(MAX_LIMIT, limit));
    }
  }

  /**
   * The first page of all runs of a scope.
   *
   * @param scope whose runs
   * @return a query for at most {@value #DEFAULT_LIMIT} runs
   */
  public static RunQuery all(RunScope scope) {
    return new RunQuery(scope, Set.of(), DEFAULT_LIMIT, Optional.empty());
  }

  /**
   * The query for the page after this one.
   *
   * @param last the last run of this page
   * @return the same query, going on after it
   */
  public RunQuery after(RunSummary last) {
    return new RunQuery(scope, statuses, limit, Optional.of(last));
  }
}
