package dev.warpwright.run;

import java.time.Instant;
import java.util.Optional;

/**
 * An event in its envelope, as it stands in the log.
 *
 * @param run the run
 * @param sequence the event's place in the run's log, 1-based and without gaps
 * @param writer who wrote it
 * @param time when; never earlier than the event before it
 * @param event what happened
 * @param raw the event as it was stored, if a newer Warpwright wrote members that this one does not
 *     know; whoever stores it again stores this
 */
public record LoggedEvent(
    RunKey run, long sequence, Writer writer, Instant time, RunEvent event, Optional<Raw> raw) {
  /**
   * An event as it was stored.
   *
   * @param version the schema version of its type
   * @param body its components, one JSON object
   */
  public record Raw(int version, String body) {
    /** Shows the version; the body holds content. */
    @Override
    public String toString() {
      return "Raw[version " + version + "]";
    }
  }

  /**
   * An event of which every member is known.
   *
   * @param run the run
   * @param sequence the event's place in the run's log
   * @param writer who wrote it
   * @param time when
   * @param event what happened
   */
  public LoggedEvent(RunKey run, long sequence, Writer writer, Instant time, RunEvent event) {
    this(run, sequence, writer, time, event, Optional.empty());
  }
}
