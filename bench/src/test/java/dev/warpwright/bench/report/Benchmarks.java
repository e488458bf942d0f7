package dev.warpwright.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The benchmarks of the suite, as JMH lists them. */
final class Benchmarks {
  private static final Result.Run ONE = new Result.Run(List.of(1.0), List.of(1.0));
  private static final Result.Run LONGER = // of a stream of more chunks
      new Result.Run(List.of(100.0), List.of(1.0));

  private Benchmarks() {}

  static Set<BenchmarkListEntry> listed() {
    return BenchmarkList.defaultList()
        .find(
            OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT),
            List.of(".*"),
            List.of());
  }

  /** A result of each with each of its parameters. */
  static List<Result> all() {
    List<Result> all = new ArrayList<>();
    for (BenchmarkListEntry entry : listed()) {
      String name = entry.getUsername();
      int dot = name.lastIndexOf('.');
      for (Map<String, String> params : combinations(entry)) {
        all.add(
            new Result(
                name.substring(0, dot),
                name.substring(dot + 1),
                params,
                Unit.TIME,
                List.of(params.containsValue("100") ? LONGER : ONE)));
      }
    }
    return all;
  }

  private static List<Map<String, String>> combinations(BenchmarkListEntry entry) {
    List<Map<String, String>> combinations = List.of(Map.of());
    for (Map.Entry<String, String[]> param : entry.getParams().orElse(Map.of()).entrySet()) {
      List<Map<String, String>> longer = new ArrayList<>();
      for (Map<String, String> combination : combinations) {
        for (String value : param.getValue()) {
          Map<String, String> extended = new LinkedHashMap<>(combination);
          extended.put(param.getKey(), value);
          longer.add(extended);
        }
      }
      combinations = longer;
    }
    return combinations;
  }
}
