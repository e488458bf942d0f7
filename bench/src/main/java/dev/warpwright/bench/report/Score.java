package dev.warpwright.bench.report;

import java.util.List;

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
  static Score of(List<Double> iterations) {
    double[] sorted = sorted(iterations);
    return new Score(quantile(sorted, 0.5), quantile(sorted, 0.25), quantile(sorted, 0.75));
  }

  /** Of several runs: the median of theirs, and the whole range of them. */
  static Score ofRuns(List<Score> runs) {
    double[] sorted = sorted(runs.stream().map(Score::median).toList());
    return new Score(quantile(sorted, 0.5), sorted[0], sorted[sorted.length - 1]);
  }

  private static double[] sorted(List<Double> numbers) {
    if (numbers.isEmpty()) {
      throw new IllegalArgumentException("There is no iteration.");
    }
    return numbers.stream().mapToDouble(Double::doubleValue).sorted().toArray();
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
