package dev.warpwright.run;

import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.task.Cancellation;
import java.util.Set;

/**
 * What a {@link Worker} drives runs with; {@code Agents.driver} gives one. Thread-safe.
 *
 * <p>A driver reads the log of a run, does the next thing, writes it down, until the run ends or
 * waits, and hands the run back.
 */
public interface RunDriver {
  /**
   * Whose runs it drives.
   *
   * @return ids as {@link DueRuns.Taken#agentId()} has them, always the same, at least one
   */
  Set<String> drives();

  /**
   * Drives a run until it ends or waits. Called on a thread of its own for each run, at the same
   * time for different ones.
   *
   * <p>The run is handed back on every way out but one: if this throws before it has written
   * anything but that the run goes on, the run is still owned, and the caller hands it back.
   *
   * @param run the run and the writer that owns it; its agent is one of {@link #drives()}
   * @param handBack when it is cancelled, the driver stops what it does, writes down what has been
   *     paid for and leaves the run as it stands, so that another driver goes on with it at once: a
   *     run that is handed back has not failed
   * @throws OperationCancelledException if the run was handed back before it ended or waited
   * @throws RuntimeException if the run could not be driven, or how it went is not known; that it
   *     failed is in its log and not thrown
   */
  void drive(DueRuns.Taken run, Cancellation handBack);
}
