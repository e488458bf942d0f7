package dev.warpwright.run;

import java.time.Instant;

/**
 * An event in its envelope, as it stands in the log.
 *
 * @param run the run
 * @param sequence the event's place in the run's log, 1-based and without gaps
 * @param writer who wrote it
 * @param time when; never earlier than the event before it
 * @param event what happened
 */
public record LoggedEvent(RunKey run, long sequence, Writer writer, Instant time, RunEvent event) {}
