package dev.warpwright.bench.report;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One benchmark with one set of parameters.
 *
 * @param type the class, with its package
 * @param method the method
 * @param params its parameters, in order
 * @param unit what its figures count
 * @param runs what was measured, each time that it was; at least once
 */
record Result(String type, String method, Map<String, String> params, Unit unit, List<Run> runs) {
  /**
   * A fork of JMH, or a round of a load program.
   *
   * @param figures of each iteration; a load program has one
   * @param bytes what one operation allocated in each iteration, if it was measured
   */
  record Run(List<Double> figures, List<Double> bytes) {}

  /** Of all iterations of all runs. */
  Score score() {
    return Score.of(runs.stream().flatMap(run -> run.figures().stream()).toList());
  }

  /** What one operation allocates, if it was measured. */
  Optional<Score> bytes() {
    List<Double> bytes = runs.stream().flatMap(run -> run.bytes().stream()).toList();
    return bytes.isEmpty() ? Optional.empty() : Optional.of(Score.of(bytes));
  }

  /** One run alone, from 0, if it has so many. */
  Optional<Result> run(int number) {
    return number < runs.size()
        ? Optional.of(new Result(type, method, params, unit, List.of(runs.get(number))))
        : Optional.empty();
  }

  /** The same benchmark, measured more often. */
  Result and(Result again) {
    return new Result(
        type, method, params, unit, Stream.concat(runs.stream(), again.runs.stream()).toList());
  }
}
