/** What the load programs share: callers, clocks, counters, processes and options. */
@org.jspecify.annotations.NullMarked
package dev.warpwright.bench.load;
