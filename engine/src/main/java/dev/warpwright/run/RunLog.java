package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Instant;
import java.util.List;

/**
 * A driver's hold on the log of a run that it owns: the state so far, and the way to add to it.
 *
 * <p>Confined to the driver's thread. When an append fails the log must not be used any more: what
 * was written is known after the next load.
 */
public final class RunLog {
  private final RunStore store;
  private final Writer owner;
  private final TimeSource time;
  private final Deadline deadline;
  private final RunState state;
  private boolean failed;

  private RunLog(RunStore store, Writer owner, TimeSource time, Deadline deadline, RunState state) {
    this.store = store;
    this.owner = owner;
    this.time = time;
    this.deadline = deadline;
    this.state = state;
  }

  /**
   * Takes the log of a run up.
   *
   * @param store where it is
   * @param run the run
   * @param owner the writer that the store gave when the run was created or acquired
   * @param time for the times of events
   * @param deadline until when the store is waited for
   * @return the log
   * @throws InvalidRequestException if there is no such run, or its log breaks a rule
   */
  public static RunLog open(
      RunStore store, RunKey run, Writer owner, TimeSource time, Deadline deadline) {
    List<LoggedEvent> events = store.load(run, 1, deadline);
    if (events.isEmpty()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST, "There is no run " + run + " in this scope.");
    }
    return new RunLog(store, owner, time, deadline, RunState.of(events));
  }

  /**
   * The log of a run that was created just now.
   *
   * @param store where it is
   * @param run what was created
   * @param owner the writer that the store gave
   * @param time for the times of events
   * @param deadline until when the store is waited for
   * @return the log
   */
  public static RunLog created(
      RunStore store, NewRun run, Writer owner, TimeSource time, Deadline deadline) {
    LoggedEvent first = new LoggedEvent(run.run(), 1, owner, run.time(), run.started());
    return new RunLog(store, owner, time, deadline, RunState.of(List.of(first)));
  }

  /**
   * The state after the last event.
   *
   * @return the state; it grows with this log
   */
  public RunState state() {
    return state;
  }

  /**
   * Adds events, all or none; returns when they are durable.
   *
   * @param events what happened, at least one
   * @throws ConflictException if somebody else owns the run now
   * @throws InvalidRequestException if an event cannot follow; nothing was written
   * @throws dev.warpwright.model.StoreException if the store failed; the fate is open
   */
  public void append(List<RunEvent> events) {
    if (failed) {
      throw new IllegalStateException(
          "An append to run " + state.run() + " failed; load it again.");
    }
    failed = true;
    long before = state.sequence();
    Instant now = later(time.now(), state.updatedAt());
    long next = before;
    for (RunEvent event : events) {
      state.apply(new LoggedEvent(state.run(), ++next, owner, now, event));
    }
    store.append(new Append(state.run(), before, owner, now, events, state.status()), deadline);
    failed = false;
  }

  /**
   * Adds one event; see {@link #append(List)}.
   *
   * @param event what happened
   */
  public void append(RunEvent event) {
    append(List.of(event));
  }

  /**
   * Whether an append failed, so that nothing may be added.
   *
   * @return true after a failure
   */
  public boolean hasFailed() {
    return failed;
  }

  private static Instant later(Instant a, Instant b) {
    return a.isBefore(b) ? b : a;
  }
}
