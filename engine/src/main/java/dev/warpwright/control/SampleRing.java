package dev.warpwright.control;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * The last so many attempts that have ended, as bare numbers in a ring: to add one leaves nothing
 * for the garbage collector, which would meet each of them when it is old. Not thread-safe.
 */
final class SampleRing {
  private static final int FIRST_CAPACITY = 16;
  private static final long NO_TEXT = -1;

  private final int max;
  private long[] endedNanos = new long[0];
  private long[] latencyNanos = new long[0];
  private long[] firstTextNanos = new long[0]; // or NO_TEXT
  private double[] tokensPerSecond = new double[0]; // or NaN
  private boolean[] succeeded = new boolean[0];
  private int oldest; // where it stands once the ring is full
  private int size;

  /**
   * An empty ring.
   *
   * @param max how many it keeps
   */
  SampleRing(int max) {
    this.max = max;
  }

  /** An attempt that has ended, as it was added. */
  record Sample(
      long endedNanos,
      boolean succeeded,
      long latencyNanos,
      OptionalLong firstTextNanos,
      OptionalDouble tokensPerSecond) {}

  void add(long ended, boolean success, long latency, OptionalLong firstText, OptionalDouble rate) {
    int place = place();
    endedNanos[place] = ended;
    succeeded[place] = success;
    latencyNanos[place] = latency;
    firstTextNanos[place] = firstText.orElse(NO_TEXT);
    tokensPerSecond[place] = rate.orElse(Double.NaN);
  }

  private int place() {
    if (size == max) {
      int place = oldest;
      oldest = (oldest + 1) % max;
      return place;
    }
    if (size == endedNanos.length) {
      int capacity = Math.min(max, Math.max(FIRST_CAPACITY, 2 * size));
      endedNanos = Arrays.copyOf(endedNanos, capacity);
      latencyNanos = Arrays.copyOf(latencyNanos, capacity);
      firstTextNanos = Arrays.copyOf(firstTextNanos, capacity);
      tokensPerSecond = Arrays.copyOf(tokensPerSecond, capacity);
      succeeded = Arrays.copyOf(succeeded, capacity);
    }
    return size++;
  }

  /** All of them, the oldest first. */
  List<Sample> samples() {
    List<Sample> samples = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      int place = (oldest + i) % size;
      long text = firstTextNanos[place];
      double rate = tokensPerSecond[place];
      samples.add(
          new Sample(
              endedNanos[place],
              succeeded[place],
              latencyNanos[place],
              text == NO_TEXT ? OptionalLong.empty() : OptionalLong.of(text),
              Double.isNaN(rate) ? OptionalDouble.empty() : OptionalDouble.of(rate)));
    }
    return samples;
  }
}
