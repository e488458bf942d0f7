package dev.warpwright.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How every class of the suite is measured unless it says otherwise: the average time of one
 * operation, called from one virtual thread, in one fork. Iterations are short and many, so that
 * {@code -wi 1 -i 1} is a smoke test and a pause of the machine spoils one of them.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = Measured.ON_VIRTUAL_THREADS)
@Threads(1)
@Warmup(iterations = 12, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 12, time = 200, timeUnit = TimeUnit.MILLISECONDS)
public abstract class Measured {
  /** Makes JMH call from a virtual thread. */
  public static final String ON_VIRTUAL_THREADS = "-Djmh.executor=VIRTUAL";
}
