package dev.warpwright.adapters.conformance;

import dev.warpwright.task.Outcome;
import java.time.Duration;

/**
 * What became of a call that was cancelled.
 *
 * @param outcome how it ended; a success or failure came before the cancel
 * @param took how long it took to end, from the cancel
 * @param open how many exchanges were open then
 */
record Stopped(Outcome<Came.Answer> outcome, Duration took, int open) {}
