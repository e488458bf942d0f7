package dev.warpwright.bench.http;

import dev.warpwright.bench.http.HttpOptions.What;
import dev.warpwright.bench.load.Options;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What was measured of one client.
 *
 * @param client who called
 * @param what calls or streams
 * @param callers how many at once
 * @param values the figures, by name
 */
record HttpFigure(Clients client, What what, int callers, Map<Value, Double> values) {
  /** A figure. */
  enum Value {
    PER_SECOND("perSecond"),
    P50_MICROS("p50Micros"),
    P99_MICROS("p99Micros"),
    CPU_MICROS("cpuMicros"),
    ALLOCATED_BYTES("allocatedBytes"),
    HEAP_BYTES("heapBytes"),
    PLATFORM_THREADS("platformThreads");

    private final String key;

    Value(String key) {
      this.key = key;
    }
  }

  HttpFigure {
    values = Map.copyOf(values);
  }

  OptionalDouble value(Value value) {
    Double number = values.get(value);
    return number == null ? OptionalDouble.empty() : OptionalDouble.of(number);
  }

  Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("client", client.toString());
    map.put("what", what.toString());
    map.put("callers", callers);
    for (Value value : Value.values()) {
      value(value).ifPresent(number -> map.put(value.key, number));
    }
    return map;
  }

  /** Reads what {@link #toMap} of several made, as JSON. */
  static List<HttpFigure> parse(String json) {
    return JsonMapper.builder().build().readTree(json).valueStream().map(HttpFigure::of).toList();
  }

  private static HttpFigure of(JsonNode node) {
    Map<Value, Double> values = new EnumMap<>(Value.class);
    for (Value value : Value.values()) {
      if (node.has(value.key)) {
        values.put(value, node.get(value.key).asDouble());
      }
    }
    return new HttpFigure(
        Options.constant(Clients.class).apply(node.get("client").asString()),
        Options.constant(What.class).apply(node.get("what").asString()),
        node.get("callers").asInt(),
        values);
  }
}
