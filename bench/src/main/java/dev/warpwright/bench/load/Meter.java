package dev.warpwright.bench.load;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** Counts what is done and how long calls take. Thread-safe. */
public final class Meter {
  private static final int SUB_BUCKETS = 16; // a bucket is at most a 16th wide

  private final LongAdder units = new LongAdder();
  private final AtomicLongArray latencies = new AtomicLongArray(64 * SUB_BUCKETS);

  /** One unit of work is done: a step, an append. */
  public void unit() {
    units.increment();
  }

  /**
   * How much is done.
   *
   * @return the count
   */
  public long units() {
    return units.sum();
  }

  /**
   * One call took so long.
   *
   * @param nanos how long
   */
  public void took(long nanos) {
    latencies.incrementAndGet(bucket(nanos));
  }

  /** Forgets the latencies so far. */
  void clearLatencies() {
    for (int i = 0; i < latencies.length(); i++) {
      latencies.set(i, 0);
    }
  }

  /**
   * The latency that a share of all calls did not exceed.
   *
   * @param share 0 to 1
   * @return the latency, to a sixteenth; zero without calls
   */
  public Duration percentile(double share) {
    long all = 0;
    for (int i = 0; i < latencies.length(); i++) {
      all += latencies.get(i);
    }
    long rank = (long) Math.ceil(all * share);
    long seen = 0;
    for (int i = 0; i < latencies.length(); i++) {
      seen += latencies.get(i);
      if (seen >= rank && seen > 0) {
        return Duration.ofNanos(upperBound(i));
      }
    }
    return Duration.ZERO;
  }

  private static int bucket(long nanos) {
    long value = Math.max(nanos, SUB_BUCKETS);
    int exponent = 63 - Long.numberOfLeadingZeros(value);
    int sub = (int) (value >>> (exponent - 4)) & (SUB_BUCKETS - 1);
    return exponent * SUB_BUCKETS + sub;
  }

  private static long upperBound(int bucket) {
    int exponent = bucket / SUB_BUCKETS;
    long sub = bucket % SUB_BUCKETS + 1L;
    return (1L << exponent) + (sub << (exponent - 4));
  }
}
