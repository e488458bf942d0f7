package dev.warpwright.run;

import java.time.Instant;
import java.util.List;

/**
 * Events that are to be added to a run's log, all or none.
 *
 * @param run the run
 * @param expectedSequence the sequence of the last event that the writer has seen
 * @param writer who writes
 * @param time the time of the events, not earlier than that of the last one
 * @param events what happened, at least one event
 * @param standing where the run stands after them
 */
public record Append(
    RunKey run,
    long expectedSequence,
    Writer writer,
    Instant time,
    List<RunEvent> events,
    Standing standing) {
  /** Checks that there is something to append, and copies the list. */
  public Append {
    events = List.copyOf(events);
    if (events.isEmpty()) {
      throw new IllegalArgumentException("An append needs at least one event.");
    }
  }
}
