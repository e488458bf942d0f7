package dev.warpwright.run;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What {@link RunStore#acquireDue} found.
 *
 * @param taken the runs that the caller owns now
 * @param next in how long, by the store's clock, the next run becomes due that it may take; empty
 *     if none is known, and if as many runs were taken as were asked for, when more may be due
 */
public record DueRuns(List<Taken> taken, Optional<Duration> next) {
  /** Copies the list. */
  public DueRuns {
    taken = List.copyOf(taken);
  }

  /**
   * A run that was taken up.
   *
   * @param run the run
   * @param agentId its agent
   * @param owner the writer for its appends
   */
  public record Taken(RunKey run, String agentId, Writer owner) {}
}
