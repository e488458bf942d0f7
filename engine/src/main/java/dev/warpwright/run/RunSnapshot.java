package dev.warpwright.run;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.task.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A run's log as it was read or written at one time, and the state that it adds up to.
 *
 * <p>The run may have gone on since; {@link #refreshed} reads what is new, so that whoever knows
 * the beginning of a long log neither loads nor folds it again. Immutable, and thread-safe.
 */
public final class RunSnapshot {
  /** What a run, and each of its events, takes in memory beside its content; about that. */
  private static final int RUN_BYTES = 2048;

  private static final int EVENT_BYTES = 512;

  private final List<LoggedEvent> events;
  private final RunState state; // of which only copies are added to

  RunSnapshot(List<LoggedEvent> events, RunState state) {
    this.events = List.copyOf(events);
    this.state = state;
  }

  /**
   * Folds a log.
   *
   * @param log all events of a run from the first on
   * @return the run as that log has it
   * @throws InvalidRequestException if the log is empty or breaks a rule
   */
  public static RunSnapshot of(List<LoggedEvent> log) {
    return new RunSnapshot(log, RunState.of(log));
  }

  /**
   * Loads and folds the log of a run.
   *
   * @param store where it is
   * @param run the run
   * @param deadline until when the store is waited for
   * @return the run as it is now, empty if the store does not have it
   * @throws InvalidRequestException if the log breaks a rule
   */
  public static Optional<RunSnapshot> load(RunStore store, RunKey run, Deadline deadline) {
    List<LoggedEvent> log = store.load(run, 1, deadline);
    return log.isEmpty() ? Optional.empty() : Optional.of(of(log));
  }

  /**
   * The run as it is now. Asks the store for the last event that is known here and for what has
   * come behind it. If the event there is another one, or none, the run was deleted and perhaps
   * begun anew: then all of it is loaded, as if nothing were known.
   *
   * @param store where the run is
   * @param deadline until when the store is waited for
   * @return this very object if nothing has come; empty if the store does not have the run
   * @throws InvalidRequestException if the log breaks a rule
   */
  public Optional<RunSnapshot> refreshed(RunStore store, Deadline deadline) {
    List<LoggedEvent> found = store.load(state.run(), state.sequence(), deadline);
    if (found.isEmpty() || !RunEventCodec.isSame(found.getFirst(), events.getLast())) {
      return load(store, state.run(), deadline);
    }
    try {
      return Optional.of(found.size() == 1 ? this : plus(found.subList(1, found.size())));
    } catch (InvalidRequestException e) { // which of the two logs is wrong, that of the store says
      return load(store, state.run(), deadline);
    }
  }

  private RunSnapshot plus(List<LoggedEvent> newer) {
    RunState longer = state.copy();
    newer.forEach(longer::apply);
    return new RunSnapshot(joined(newer), longer);
  }

  /** The events, with others behind them. */
  List<LoggedEvent> joined(List<LoggedEvent> newer) {
    List<LoggedEvent> all = new ArrayList<>(events.size() + newer.size());
    all.addAll(events);
    all.addAll(newer);
    return all;
  }

  /**
   * The state after the last event.
   *
   * @return the state, which does not change any more
   */
  public RunState state() {
    return state;
  }

  /**
   * The log.
   *
   * @return all events, at least one
   */
  public List<LoggedEvent> events() {
    return events;
  }

  /**
   * About how much memory it takes: the content of all events, and a fixed amount for the rest.
   *
   * @return the estimate in bytes
   */
  public long weight() {
    return RUN_BYTES + state.logBytes() + (long) EVENT_BYTES * events.size();
  }

  /** Shows the state. */
  @Override
  public String toString() {
    return "RunSnapshot[" + state + "]";
  }
}
