package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

/**
 * Adds control events to runs from outside: without owning them, by expected sequence, and again on
 * top of whatever others, such as a driver, write meanwhile. Thread-safe.
 */
final class ControlEvents {
  private final RunStore store;
  private final TimeSource time;

  ControlEvents(RunStore store, TimeSource time) {
    this.store = store;
    this.time = time;
  }

  /**
   * Adds what follows from where a run stands.
   *
   * @param run the run
   * @param writer who writes
   * @param rule says what to write, nothing if nothing is to be; asked again after each append that
   *     met others; what it throws passes through, and nothing was written then
   * @param deadline until when the store is waited for
   * @return the state afterwards
   * @throws InvalidRequestException if there is no such run
   * @throws dev.warpwright.model.LimitExceededException if the run's state would become too large
   * @throws ConflictException if others kept writing to the run
   */
  RunState append(
      RunKey run,
      Writer writer,
      Function<RunState, List<? extends RunEvent>> rule,
      Deadline deadline) {
    for (int tries = 1; ; tries++) {
      RunState state = RunState.of(load(run, deadline));
      List<RunEvent> events = List.copyOf(rule.apply(state));
      if (events.isEmpty()) {
        return state;
      }
      RunLog.requireRoom(state, events);
      Append append = append(state, writer, events);
      try {
        store.append(append, deadline);
        return state;
      } catch (ConflictException e) {
        if (tries == RunLog.MAX_TRIES) {
          throw e;
        }
      }
    }
  }

  private List<LoggedEvent> load(RunKey run, Deadline deadline) {
    List<LoggedEvent> log = store.load(run, 1, deadline);
    if (log.isEmpty()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST, "There is no run " + run + " in this scope.");
    }
    return log;
  }

  /** Adds the events to the state too. */
  private Append append(RunState state, Writer writer, List<RunEvent> events) {
    Instant now = time.now().isBefore(state.updatedAt()) ? state.updatedAt() : time.now();
    long before = state.sequence();
    for (RunEvent event : events) {
      state.apply(new LoggedEvent(state.run(), state.sequence() + 1, writer, now, event));
    }
    return new Append(state.run(), before, writer, now, events, state.standing());
  }
}
