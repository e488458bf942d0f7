package dev.warpwright.run;

import java.time.Instant;
import java.util.Optional;

/**
 * Where a run stands as its store's index has it: what can be asked without reading the log.
 *
 * @param status the status after the last event
 * @param due from when on a driver may take the run up if nobody owns it; empty if only a decision,
 *     or nothing any more, lets it go on
 */
public record Standing(RunStatus status, Optional<Instant> due) {
  /**
   * The standing of a run that no driver takes up by itself.
   *
   * @param status the status
   * @return the standing
   */
  public static Standing of(RunStatus status) {
    return new Standing(status, Optional.empty());
  }

  /**
   * The standing of a run that a driver may take up from a time on.
   *
   * @param status the status
   * @param due from when on
   * @return the standing
   */
  public static Standing due(RunStatus status, Instant due) {
    return new Standing(status, Optional.of(due));
  }
}
