/**
 * What durable runs cost: load programs where concurrency counts, JMH where single costs count.
 *
 * <p>Each program has its own {@code main} in {@code benchmarks.jar}; {@code docs/benchmarks.md}
 * has the commands.
 */
@org.jspecify.annotations.NullMarked
package dev.warpwright.bench.durable;
