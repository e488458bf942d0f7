package dev.warpwright.bench.report;

import java.util.List;
import java.util.stream.IntStream;

/**
 * A logarithmic scale of whole decades.
 *
 * @param first the exponent at its left end
 * @param last the exponent at its right end
 */
record Scale(int first, int last) {
  /** Whatever is less is drawn at the left end of it. */
  private static final double LEAST = 0.1;

  /** The narrowest that shows them all. */
  static Scale of(List<Score> scores) {
    double low = scores.stream().mapToDouble(Score::low).min().orElse(1);
    double high = scores.stream().mapToDouble(Score::high).max().orElse(1);
    int first = (int) Math.floor(exponent(low));
    int last = (int) Math.ceil(exponent(high));
    return new Scale(first, Math.max(last, first + 1));
  }

  private static double exponent(double figure) {
    return Math.log10(Math.max(figure, LEAST));
  }

  /** Where on it, from 0 to 100. */
  double percent(double figure) {
    double share = (exponent(figure) - first) / (last - first);
    return 100 * Math.clamp(share, 0, 1);
  }

  /** The decades, both ends included. */
  List<Double> ticks() {
    return IntStream.rangeClosed(first, last).mapToObj(exponent -> Math.pow(10, exponent)).toList();
  }
}
