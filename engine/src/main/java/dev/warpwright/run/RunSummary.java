package dev.warpwright.run;

import java.time.Instant;
import java.util.Optional;

/**
 * A run as a list shows it.
 *
 * @param run the run
 * @param agentId its agent
 * @param idempotencyKey the key under which it was claimed
 * @param standing where it stands
 * @param sequence the sequence of its last event
 * @param created when it started
 * @param updated when its last event was written
 * @param claims how often in a row it was taken up without a driver's event but that it was
 *     resumed; at {@link RunStore#MAX_CLAIMS} it is quarantined
 * @param problem what the last driver said that could not drive it, if one did since
 */
public record RunSummary(
    RunKey run,
    String agentId,
    Optional<String> idempotencyKey,
    Standing standing,
    long sequence,
    Instant created,
    Instant updated,
    int claims,
    Optional<String> problem) {
  /**
   * The run's status.
   *
   * @return the status
   */
  public RunStatus status() {
    return standing.status();
  }

  /**
   * Whether nobody takes the run up any more until {@link Runs#readmit} lets it go on.
   *
   * @return true after too many drivers came to nothing
   */
  public boolean isQuarantined() {
    return claims >= RunStore.MAX_CLAIMS;
  }
}
