package dev.warpwright.run;

import java.time.Instant;

/**
 * A run that is to be created.
 *
 * @param run its key
 * @param time when it starts
 * @param started its first event, which names the idempotency key if there is one
 */
public record NewRun(RunKey run, Instant time, RunEvent.RunStarted started) {}
