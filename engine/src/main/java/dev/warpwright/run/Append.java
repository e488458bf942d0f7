package dev.warpwright.run;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Events that are to be added to a run's log, all or none.
 *
 * @param run the run
 * @param expectedSequence the sequence of the last event that the writer has seen
 * @param writer who writes
 * @param time the time of the events, not earlier than that of the last one
 * @param events what happened, at least one event
 * @param standing where the run stands after them
 * @param parent the run in the same scope whose child ends or fails with them; if it awaits that,
 *     see {@link Standing#children}, it is due from then on
 * @param handsBack whether the writer, who owns the run, hands it back with them: it has no owner
 *     any more, as after {@link RunStore#release}
 */
public record Append(
    RunKey run,
    long expectedSequence,
    Writer writer,
    Instant time,
    List<RunEvent> events,
    Standing standing,
    Optional<String> parent,
    boolean handsBack) {
  /** Checks that there is something to append, and copies the list. */
  public Append {
    events = List.copyOf(events);
    if (events.isEmpty()) {
      throw new IllegalArgumentException("An append needs at least one event.");
    }
    if (handsBack && !writer.isOwner()) {
      throw new IllegalArgumentException("Only its owner can hand a run back.");
    }
  }

  /**
   * Events that no parent waits for, of a writer that writes more or does not own the run.
   *
   * @param run the run
   * @param expectedSequence the sequence of the last event that the writer has seen
   * @param writer who writes
   * @param time the time of the events, not earlier than that of the last one
   * @param events what happened, at least one event
   * @param standing where the run stands after them
   */
  public Append(
      RunKey run,
      long expectedSequence,
      Writer writer,
      Instant time,
      List<RunEvent> events,
      Standing standing) {
    this(run, expectedSequence, writer, time, events, standing, Optional.empty(), false);
  }

  /**
   * The run that goes on from this one, which ends so.
   *
   * @return its id in the same scope
   */
  public Optional<String> continuedAs() {
    return events.getLast() instanceof RunEvent.RunCompleted end
        ? end.continuedAs()
        : Optional.empty();
  }
}
