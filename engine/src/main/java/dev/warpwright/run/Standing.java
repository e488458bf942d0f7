package dev.warpwright.run;

import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * Where a run stands as its store's index has it: what can be asked without reading the log.
 *
 * @param status the status after the last event
 * @param due from when on a driver may take the run up if nobody owns it; empty if only a decision,
 *     or nothing any more, lets it go on
 * @param signals the names of the signals that make it due when they are there
 * @param children the ids of runs in the same scope that make it due when they have ended or failed
 */
public record Standing(
    RunStatus status, Optional<Instant> due, Set<String> signals, Set<String> children) {
  /** Copies the sets. */
  public Standing {
    signals = Set.copyOf(signals);
    children = Set.copyOf(children);
  }

  /**
   * The standing of a run that no driver takes up by itself.
   *
   * @param status the status
   * @return the standing
   */
  public static Standing of(RunStatus status) {
    return new Standing(status, Optional.empty(), Set.of(), Set.of());
  }

  /**
   * The standing of a run that a driver may take up from a time on.
   *
   * @param status the status
   * @param due from when on
   * @return the standing
   */
  public static Standing due(RunStatus status, Instant due) {
    return new Standing(status, Optional.of(due), Set.of(), Set.of());
  }

  /**
   * The same, but a driver may take the run up from a time on.
   *
   * @param time from when on; an earlier one that is set stays
   * @return the standing
   */
  public Standing dueAt(Instant time) {
    return new Standing(
        status,
        due.filter(earlier -> earlier.isBefore(time)).or(() -> Optional.of(time)),
        signals,
        children);
  }

  /**
   * Whether the run has come to an end, though it may be resumed after a failure.
   *
   * @return true of an end that other runs wait for
   */
  public boolean hasEnded() {
    return status.isFinal() || status == RunStatus.FAILED;
  }

  /**
   * Whether nothing lets the run go on but a decision.
   *
   * @return true if it is due at no time, and neither a signal nor the end of a child makes it so
   */
  public boolean awaitsNobody() {
    return due.isEmpty() && signals.isEmpty() && children.isEmpty();
  }
}
