package dev.warpwright.control;

import dev.warpwright.control.SampleRing.Sample;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;

/** The attempts of one target that have ended, the newest of them; each measurement is a user. */
final class Samples extends TargetTable.Slot {
  private final int maxSamples;
  private final ReentrantLock lock = new ReentrantLock();
  private final SampleRing ended; // guarded by lock
  private final ArrayDeque<Long> cancelledNanos = new ArrayDeque<>(); // guarded by lock

  Samples(int maxSamples) {
    this.maxSamples = maxSamples;
    this.ended = new SampleRing(maxSamples);
  }

  @Override
  boolean mayBeForgotten(long nowNanos) {
    return true;
  }

  /**
   * Adds an attempt that has ended.
   *
   * @param endedNanos when, on the monotonic clock
   * @param succeeded or else failed
   * @param latencyNanos from its begin to its end
   * @param firstTextNanos from its begin to the first text
   * @param tokensPerSecond after the first text
   */
  void add(
      long endedNanos,
      boolean succeeded,
      long latencyNanos,
      OptionalLong firstTextNanos,
      OptionalDouble tokensPerSecond) {
    lock.lock();
    try {
      ended.add(endedNanos, succeeded, latencyNanos, firstTextNanos, tokensPerSecond);
    } finally {
      lock.unlock();
    }
  }

  void addCancelled(long nowNanos) {
    lock.lock();
    try {
      if (cancelledNanos.size() == maxSamples) {
        cancelledNanos.removeFirst();
      }
      cancelledNanos.addLast(nowNanos);
    } finally {
      lock.unlock();
    }
  }

  /** What ended within the window; counted and sorted outside the lock. */
  TargetSnapshot snapshot(Instant now, long nowNanos, long windowNanos) {
    List<Sample> allEnded;
    List<Long> allCancelled;
    lock.lock();
    try {
      allEnded = ended.samples();
      allCancelled = List.copyOf(cancelledNanos);
    } finally {
      lock.unlock();
    }
    List<Sample> samples =
        allEnded.stream().filter(sample -> nowNanos - sample.endedNanos() < windowNanos).toList();
    long successes = samples.stream().filter(Sample::succeeded).count();
    long cancellations =
        allCancelled.stream().filter(endedNanos -> nowNanos - endedNanos < windowNanos).count();
    long[] latencies = samples.stream().mapToLong(Sample::latencyNanos).sorted().toArray();
    long[] firstTexts =
        samples.stream()
            .flatMapToLong(sample -> sample.firstTextNanos().stream())
            .sorted()
            .toArray();
    double[] rates =
        samples.stream()
            .flatMapToDouble(sample -> sample.tokensPerSecond().stream())
            .sorted()
            .toArray();
    return new TargetSnapshot(
        users(),
        samples.size(),
        (int) successes,
        samples.size() - (int) successes,
        (int) cancellations,
        percentile(latencies, 50),
        percentile(latencies, 95),
        percentile(firstTexts, 95),
        rates.length == 0
            ? OptionalDouble.empty()
            : OptionalDouble.of(rates[rank(rates.length, 50)]),
        allEnded.isEmpty()
            ? Optional.empty()
            : Optional.of(now.minusNanos(nowNanos - allEnded.getLast().endedNanos())));
  }

  private static Optional<Duration> percentile(long[] sortedNanos, int percent) {
    return Arrays.stream(sortedNanos)
        .skip(sortedNanos.length == 0 ? 0 : rank(sortedNanos.length, percent))
        .mapToObj(Duration::ofNanos)
        .findFirst();
  }

  /** The index {@code ceil(n·q) − 1}, without rounding errors. */
  static int rank(int n, int percent) {
    return (n * percent + 99) / 100 - 1;
  }
}
