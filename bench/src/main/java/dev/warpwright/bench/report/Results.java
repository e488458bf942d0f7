package dev.warpwright.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What JMH has written in its own format.
 *
 * @param all every result, as they were measured
 * @param iterations how many iterations the one has that has the fewest
 * @param machine what JMH says of where they were measured
 */
record Results(List<Result> all, int iterations, Map<String, String> machine) {
  private static final Map<String, Double> NANOS =
      Map.of("ns/op", 1.0, "us/op", 1e3, "ms/op", 1e6, "s/op", 1e9);
  private static final String ALLOCATED = "gc.alloc.rate.norm";

  /** Reads the file's text; results of other modes than average time are left out. */
  static Results parse(String json) {
    List<Result> all = new ArrayList<>();
    int iterations = Integer.MAX_VALUE;
    Set<String> java = new LinkedHashSet<>();
    Set<String> jmh = new LinkedHashSet<>();
    for (JsonNode node : JsonMapper.builder().build().readTree(json)) {
      java.add(node.path("vmName").asString("") + " " + node.path("vmVersion").asString(""));
      jmh.add(node.path("jmhVersion").asString(""));
      Double factor = NANOS.get(node.path("primaryMetric").path("scoreUnit").asString(""));
      if (factor != null) {
        all.add(result(node, factor));
        iterations = Math.min(iterations, iterations(node.path("primaryMetric")).length);
      }
    }
    Map<String, String> machine = new LinkedHashMap<>();
    machine.put("Java", String.join(", ", java));
    machine.put("JMH", String.join(", ", jmh));
    return new Results(List.copyOf(all), iterations, machine);
  }

  private static Result result(JsonNode node, double factor) {
    String name = node.path("benchmark").asString();
    int dot = name.lastIndexOf('.');
    Map<String, String> params = new LinkedHashMap<>();
    node.path("params").properties().forEach(e -> params.put(e.getKey(), e.getValue().asString()));
    return new Result(
        name.substring(0, dot),
        name.substring(dot + 1),
        params,
        score(node.path("primaryMetric")).orElseThrow().times(factor),
        score(node.path("secondaryMetrics").path(ALLOCATED)));
  }

  private static Optional<Score> score(JsonNode metric) {
    double[] iterations = iterations(metric);
    return iterations.length == 0 ? Optional.empty() : Optional.of(Score.of(iterations));
  }

  /** Of all forks. */
  private static double[] iterations(JsonNode metric) {
    return metric
        .path("rawData")
        .valueStream()
        .flatMap(JsonNode::valueStream)
        .flatMapToDouble(number -> DoubleStream.of(number.asDouble()))
        .toArray();
  }

  /** The results of each class, in the order in which they were measured. */
  Map<String, List<Result>> byType() {
    return all.stream()
        .collect(Collectors.groupingBy(Result::type, LinkedHashMap::new, Collectors.toList()));
  }

  /**
   * Finds a result.
   *
   * @param type the simple name of the class
   * @param method the method
   * @param params pairs of name and value that it has, among others
   */
  Optional<Result> find(String type, String method, String... params) {
    return all.stream()
        .filter(
            result ->
                result.type().endsWith("." + type)
                    && result.method().equals(method)
                    && has(result.params(), params))
        .findFirst();
  }

  private static boolean has(Map<String, String> params, String... pairs) {
    for (int n = 0; n < pairs.length; n += 2) {
      if (!pairs[n + 1].equals(params.get(pairs[n]))) {
        return false;
      }
    }
    return true;
  }
}
