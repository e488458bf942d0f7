package dev.warpwright.control;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What a {@link TargetMetrics} has measured of one target: what is under way, and the attempts that
 * ended within the window. A percentile is the nearest rank: of n sorted values the one at place
 * {@code ceil(n·q)}. What was not measured is absent, never zero.
 *
 * @param inFlight how many attempts are under way
 * @param sampleCount how many attempts the latency speaks of: successes and errors
 * @param successes how many succeeded
 * @param errors how many failed
 * @param cancellations how many were given up before their end; no sample
 * @param p50Latency the median time from the begin of an attempt to its end
 * @param p95Latency the 95th percentile of the same
 * @param p95TimeToFirstText the 95th percentile of the time from the begin to the first text, of
 *     the samples that had one
 * @param p50TokensPerSecond the median of {@code (output tokens − 1) ÷ time after the first text},
 *     of the successes with a first text and more than one output token
 * @param lastCompletedAt when the last attempt succeeded or failed, also if that is longer ago than
 *     the window
 */
public record TargetSnapshot(
    int inFlight,
    int sampleCount,
    int successes,
    int errors,
    int cancellations,
    Optional<Duration> p50Latency,
    Optional<Duration> p95Latency,
    Optional<Duration> p95TimeToFirstText,
    OptionalDouble p50TokensPerSecond,
    Optional<Instant> lastCompletedAt) {}
