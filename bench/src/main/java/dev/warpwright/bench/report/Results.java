package dev.warpwright.bench.report;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What was measured, by JMH and by the load programs.
 *
 * @param all every result once, in the order in which they were measured
 * @param machine what JMH says of where its results were measured
 * @param environments what each load program says of that, by its class
 */
record Results(
    List<Result> all, Map<String, String> machine, Map<String, Map<String, String>> environments) {
  private static final Map<String, Double> NANOS =
      Map.of("ns/op", 1.0, "us/op", 1e3, "ms/op", 1e6, "s/op", 1e9);
  private static final String ALLOCATED = "gc.alloc.rate.norm";

  /** Nothing. */
  static final Results NONE = new Results(List.of(), Map.of(), Map.of());

  /** Results of which the same benchmarks are put together, as further runs. */
  static Results of(
      Collection<Result> results,
      Map<String, String> machine,
      Map<String, Map<String, String>> environments) {
    Map<List<Object>, Result> all = new LinkedHashMap<>();
    for (Result result : results) {
      List<Object> which = List.of(result.type(), result.method(), result.params());
      all.merge(which, result, Result::and);
    }
    return new Results(List.copyOf(all.values()), machine, environments);
  }

  /**
   * Reads what JMH has written in its own format; results of other modes than average time are left
   * out.
   */
  static Results parse(String json) {
    List<Result> all = new ArrayList<>();
    Set<String> java = new LinkedHashSet<>();
    Set<String> jmh = new LinkedHashSet<>();
    for (JsonNode node : JsonMapper.builder().build().readTree(json)) {
      java.add(node.path("vmName").asString("") + " " + node.path("vmVersion").asString(""));
      jmh.add(node.path("jmhVersion").asString(""));
      Double factor = NANOS.get(node.path("primaryMetric").path("scoreUnit").asString(""));
      if (factor != null) {
        all.add(result(node, factor));
      }
    }
    Map<String, String> machine = new LinkedHashMap<>();
    machine.put("Java", String.join(", ", java));
    machine.put("JMH", String.join(", ", jmh));
    return of(all, machine, Map.of());
  }

  private static Result result(JsonNode node, double factor) {
    String name = node.path("benchmark").asString();
    int dot = name.lastIndexOf('.');
    Map<String, String> params = new LinkedHashMap<>();
    node.path("params").properties().forEach(e -> params.put(e.getKey(), e.getValue().asString()));
    List<List<Double>> times = forks(node.path("primaryMetric"), factor);
    List<List<Double>> bytes = forks(node.path("secondaryMetrics").path(ALLOCATED), 1);
    return new Result(
        name.substring(0, dot),
        name.substring(dot + 1),
        params,
        Unit.TIME,
        IntStream.range(0, times.size())
            .mapToObj(
                n -> new Result.Run(times.get(n), n < bytes.size() ? bytes.get(n) : List.of()))
            .toList());
  }

  /** The iterations of each fork. */
  private static List<List<Double>> forks(JsonNode metric, double factor) {
    return metric
        .path("rawData")
        .valueStream()
        .map(fork -> fork.valueStream().map(number -> number.asDouble() * factor).toList())
        .toList();
  }

  /** These and others. */
  Results and(Results others) {
    List<Result> both = new ArrayList<>(all);
    both.addAll(others.all);
    Map<String, String> machines = new LinkedHashMap<>(machine);
    machines.putAll(others.machine);
    Map<String, Map<String, String>> said = new LinkedHashMap<>(environments);
    said.putAll(others.environments);
    return of(both, machines, said);
  }

  /** What was measured first, what second, and so on: a result is compared with one of its run. */
  List<Results> runs() {
    int most = all.stream().mapToInt(result -> result.runs().size()).max().orElse(0);
    return IntStream.range(0, most)
        .mapToObj(
            n ->
                new Results(
                    all.stream().flatMap(result -> result.run(n).stream()).toList(),
                    machine,
                    environments))
        .toList();
  }

  /** How many iterations the one of JMH's results has that has the fewest, if there are any. */
  int fewestIterations() {
    return all.stream()
        .filter(result -> !environments.containsKey(result.type()))
        .mapToInt(result -> result.runs().stream().mapToInt(run -> run.figures().size()).sum())
        .min()
        .orElse(Integer.MAX_VALUE);
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
