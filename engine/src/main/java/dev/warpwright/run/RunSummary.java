package dev.warpwright.run;

import java.time.Instant;
import java.util.Optional;

/**
 * A run as a list shows it.
 *
 * @param run the run
 * @param agentId its agent
 * @param idempotencyKey the key under which it was claimed
 * @param status where it stands
 * @param sequence the sequence of its last event
 * @param created when it started
 * @param updated when its last event was written
 */
public record RunSummary(
    RunKey run,
    String agentId,
    Optional<String> idempotencyKey,
    RunStatus status,
    long sequence,
    Instant created,
    Instant updated) {}
