package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Instant;
import java.util.ArrayList;
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
  private final List<LoggedEvent> events;
  private final RunState state;
  private boolean failed;
  private boolean full;

  private RunLog(
      RunStore store, Writer owner, TimeSource time, Deadline deadline, List<LoggedEvent> events) {
    this.store = store;
    this.owner = owner;
    this.time = time;
    this.deadline = deadline;
    this.events = new ArrayList<>(events);
    this.state = RunState.of(events);
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
    return new RunLog(store, owner, time, deadline, events);
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
    return new RunLog(store, owner, time, deadline, List.of(first));
  }

  /**
   * Refuses to begin a run with more than its state may hold.
   *
   * @param started its first event
   * @throws LimitExceededException if it is too large
   */
  public static void requireFits(RunEvent.RunStarted started) {
    requireFits(StateSize.of(started), started.maxStateBytes().orElse(RunState.DEFAULT_MAX_BYTES));
  }

  private static void requireFits(long bytes, long maxBytes) {
    if (bytes > maxBytes) {
      throw new LimitExceededException(
          "The run's state may hold %d bytes (maxStateBytes), but would hold %d; nothing was written."
              .formatted(maxBytes, bytes),
          null,
          OperationTrace.NONE);
    }
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
   * All events so far.
   *
   * @return a copy
   */
  public List<LoggedEvent> events() {
    return List.copyOf(events);
  }

  /**
   * Adds events, all or none; returns when they are durable.
   *
   * @param events what happened, at least one
   * @throws LimitExceededException if the state would become larger than it may; nothing was
   *     written, and something smaller can be
   * @throws ConflictException if somebody else owns the run now
   * @throws InvalidRequestException if an event cannot follow; nothing was written
   * @throws dev.warpwright.model.StoreException if the store failed; the fate is open
   */
  public void append(List<RunEvent> events) {
    if (failed) {
      throw new IllegalStateException(
          "An append to run " + state.run() + " failed; load it again.");
    }
    requireRoom(events);
    failed = true;
    long before = state.sequence();
    Instant now = later(time.now(), state.updatedAt());
    List<LoggedEvent> added = new ArrayList<>(events.size());
    for (RunEvent event : events) {
      LoggedEvent next = new LoggedEvent(state.run(), before + 1 + added.size(), owner, now, event);
      state.apply(next);
      added.add(next);
    }
    store.append(new Append(state.run(), before, owner, now, events, state.status()), deadline);
    this.events.addAll(added);
    failed = false;
  }

  private void requireRoom(List<RunEvent> added) {
    long growth = added.stream().mapToLong(StateSize::of).sum();
    if (growth > 0) {
      full |= state.bytes() + growth > state.maxBytes();
      requireFits(state.bytes() + growth, state.maxBytes());
    }
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

  /**
   * Whether something did not fit into the run's state, which will not become smaller.
   *
   * @return true after such a refusal
   */
  public boolean isFull() {
    return full;
  }

  private static Instant later(Instant a, Instant b) {
    return a.isBefore(b) ? b : a;
  }
}
