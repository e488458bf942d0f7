package dev.warpwright.flow;

import dev.warpwright.model.FailureKind;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * One thing that a run of a flow did: telemetry, which may change at any release, and not a part of
 * the log. It names and counts, and holds no input, value or secret.
 *
 * @param run the run
 * @param flowId its flow
 * @param time when
 * @param event what
 */
public record FlowTelemetry(RunKey run, String flowId, Instant time, Event event) {
  /** What happened. It is in the run's log by then, but for the start of a pure step. */
  public sealed interface Event {}

  /** The run begins. */
  public record FlowStart() implements Event {}

  /**
   * A step runs.
   *
   * @param position which call of the flow it is
   * @param name the step
   * @param attempt 1 for its first run, then counting
   */
  public record StepStart(String position, String name, int attempt) implements Event {}

  /**
   * A run of a step has ended, or it was found out how it had.
   *
   * @param position which call of the flow it is
   * @param name the step
   * @param attempt which run of it; 0 if it was found out afterwards
   * @param end how
   * @param duration how long it took; zero if it was found out afterwards
   */
  public record StepFinish(
      String position, String name, int attempt, StepEnd end, Duration duration) implements Event {}

  /** How a run of a step ended. */
  public enum StepEnd {
    /** It gave its value. */
    SUCCEEDED,
    /** It failed for good. */
    FAILED,
    /** It failed, and there will be another run of it. */
    TO_BE_RETRIED,
    /** It was stopped, for the failure of a branch or a cancel. */
    CANCELLED
  }

  /**
   * The run waits.
   *
   * @param reason what for
   * @param awaited how many things it waits for
   */
  public record Suspended(RunSuspended.Reason reason, int awaited) implements Event {}

  /**
   * The run goes on: after a wait, a failure or a crash.
   *
   * @param cause why
   */
  public record Resumed(String cause) implements Event {}

  /**
   * The run has ended. Told once for a run that has ended for good; a failure that a resume may
   * mend is told each time.
   *
   * @param status how
   * @param failure how it failed, if it did
   * @param resumable whether a resume may go on with it
   */
  public record FlowFinish(RunStatus status, Optional<FailureKind> failure, boolean resumable)
      implements Event {}
}
