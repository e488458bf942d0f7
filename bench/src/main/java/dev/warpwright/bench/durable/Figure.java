package dev.warpwright.bench.durable;

import java.time.Duration;
import java.util.OptionalDouble;

/**
 * One measured figure.
 *
 * @param what what was measured
 * @param variant which kind of it
 * @param store on which store; that of the peer is PostgreSQL
 * @param callers how many at once
 * @param perSecond steps or rows a second
 * @param outcomesPerUnit how many recorded outcomes a step or row has
 * @param p50 half of the calls (a run, a workflow, an append) took no longer
 * @param p99 99 of 100 took no longer
 * @param commitsPerUnit transactions a step or row, on PostgreSQL
 * @param walBytesPerUnit bytes of write-ahead log a step or row, on PostgreSQL
 */
record Figure(
    LoadOptions.What what,
    String variant,
    StoreKind store,
    int callers,
    double perSecond,
    double outcomesPerUnit,
    Duration p50,
    Duration p99,
    OptionalDouble commitsPerUnit,
    OptionalDouble walBytesPerUnit) {}
