package dev.warpwright.bench.report;

import java.util.Arrays;

/**
 * What the iterations of a benchmark came to: their median, and the range of their middle half,
 * which one spoilt iteration does not move.
 *
 * @param median half of the iterations were below
 * @param low a quarter was below
 * @param high a quarter was above
 */
record Score(double median, double low, double high) {
  /** Of all iterations, in any order; at least one. */
  static Score of(double... iterations) {
    if (iterations.length == 0) {
      throw new IllegalArgumentException("There is no iteration.");
    }
    double[] sorted = iterations.clone();
    Arrays.sort(sorted);
    return new Score(quantile(sorted, 0.5), quantile(sorted, 0.25), quantile(sorted, 0.75));
  }

  /** Linear between the two nearest. */
  private static double quantile(double[] sorted, double share) {
    double place = share * (sorted.length - 1);
    int below = (int) Math.floor(place);
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }

  Score times(double factor) {
    return new Score(median * factor, low * factor, high * factor);
  }

  /** The difference, as far apart as the ranges allow. */
  Score minus(Score other) {
    return new Score(median - other.median, low - other.high, high - other.low);
  }

  /** The ratio, as far apart as the ranges allow. */
  Score over(Score other) {
    return new Score(median / other.median, low / other.high, high / other.low);
  }
}
