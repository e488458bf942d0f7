package dev.warpwright.adapters.conformance;

import java.time.Duration;
import java.util.Objects;

/**
 * What one check of a run has found.
 *
 * @param check the check
 * @param outcome how it ended
 * @param detail why, in one line: counts, reasons, statuses, and what a provider says of a failure,
 *     redacted; no secret and no text of a model
 * @param took how long it took
 * @param calls how many calls it has made
 */
public record CheckResult(
    Check check, CheckOutcome outcome, String detail, Duration took, int calls) {
  /** Refuses null. */
  public CheckResult {
    Objects.requireNonNull(check, "check");
    Objects.requireNonNull(outcome, "outcome");
    Objects.requireNonNull(detail, "detail");
    Objects.requireNonNull(took, "took");
  }
}
