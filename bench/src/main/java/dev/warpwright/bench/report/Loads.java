package dev.warpwright.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the load programs have written with {@code --json}, as results beside those of JMH. */
final class Loads {
  private static final String DURABLE = "dev.warpwright.bench.durable.";

  private Loads() {}

  /** Reads a file's text; that of another program, or of none, has no results. */
  static Results parse(String json) {
    JsonNode file = JsonMapper.builder().build().readTree(json);
    String program = file.path("program").asString("");
    Map<String, String> environment = texts(file.path("environment"));
    List<Result> all = new ArrayList<>();
    for (JsonNode round : file.path("rounds")) {
      round.forEach(figure -> results(program, figure).forEach(all::add));
    }
    Map<String, Map<String, String>> environments = new LinkedHashMap<>();
    all.forEach(result -> environments.put(result.type(), environment));
    return Results.of(all, Map.of(), environments);
  }

  /** An object of texts. */
  static Map<String, String> texts(JsonNode object) {
    Map<String, String> texts = new LinkedHashMap<>();
    object.properties().forEach(each -> texts.put(each.getKey(), each.getValue().asString("")));
    return texts;
  }

  private static Stream<Result> results(String program, JsonNode figure) {
    return switch (program.substring(program.lastIndexOf('.') + 1)) {
      case "HttpLoad" -> http(program, figure);
      case "InFlight" -> Stream.of(inFlight(program, figure));
      case "DurableLoad" -> Stream.of(durable(program, figure));
      case "LinearCost" -> Stream.of(linear(program, figure));
      case "TakeOver" -> takeOver(program, figure);
      default -> Stream.empty();
    };
  }

  private static Stream<Result> http(String program, JsonNode figure) {
    String what = figure.path("what").asString("");
    String client = figure.path("client").asString("");
    String callers = figure.path("callers").asString("");
    if (figure.has("heapBytes")) {
      Map<String, String> params = params("in flight", callers, "client", client);
      return Stream.of(of(program, what, params, Unit.HEAP, figure, "heapBytes"));
    }
    Map<String, String> params = params("callers", callers, "client", client);
    if (!figure.has("cpuMicros")) {
      return Stream.empty(); // none was answered in time
    }
    return Stream.of(
        new Result(
            program,
            "processor time of " + what,
            params,
            Unit.TIME,
            List.of(
                new Result.Run(
                    List.of(figure.path("cpuMicros").asDouble() * 1e3),
                    List.of(figure.path("allocatedBytes").asDouble())))),
        of(program, what, params, Unit.RATE, figure, "perSecond"));
  }

  private static Result inFlight(String program, JsonNode figure) {
    return of(
        program,
        "heap",
        params(
            "in flight",
            figure.path("operations").asString(""),
            "what",
            figure.path("what").asString("")),
        Unit.HEAP,
        figure,
        "bytesEach");
  }

  /** Steps beside those of the peer, appends beside the bare commits of the same store. */
  private static Result durable(String program, JsonNode figure) {
    String what = figure.path("what").asString("");
    String variant = figure.path("variant").asString("");
    String store = figure.path("store").asString("");
    String callers = figure.path("callers").asString("");
    if (what.equals("appends") || what.equals("raw")) {
      return of(
          DURABLE + "Appends",
          "appends",
          params(
              "callers",
              callers,
              "store",
              store,
              "what",
              what.equals("raw") ? "raw commit of " + lower(variant) : "appends to the store"),
          Unit.RATE,
          figure,
          "perSecond");
    }
    String who =
        switch (variant) {
          case "NONE", "PURE" -> what + ", outcome alone, " + store;
          case "LOGGED", "ONCE" -> what + ", intent and outcome, " + store;
          default -> what;
        };
    return of(
        program, "steps", params("callers", callers, "what", who), Unit.RATE, figure, "perSecond");
  }

  private static String lower(String constant) {
    return constant.toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static Result linear(String program, JsonNode figure) {
    return new Result(
        program,
        "step",
        params(
            "store",
            figure.path("store").asString(""),
            "as",
            lower(figure.path("way").asString("")),
            "steps",
            figure.path("steps").asString("")),
        Unit.TIME,
        List.of(
            new Result.Run(
                List.of(figure.path("nanosPerStep").asDouble()),
                List.of(figure.path("allocatedBytesPerStep").asDouble()))));
  }

  private static Stream<Result> takeOver(String program, JsonNode figure) {
    String runs = figure.path("runs").asString("");
    return Stream.of("half", "99 of 100", "all")
        .map(
            share ->
                of(
                    program,
                    "taken over",
                    params("runs", runs, "share", share),
                    Unit.TIME,
                    figure,
                    share.equals("99 of 100") ? "p99Nanos" : share + "Nanos"));
  }

  private static Result of(
      String type,
      String method,
      Map<String, String> params,
      Unit unit,
      JsonNode figure,
      String key) {
    return new Result(
        type,
        method,
        params,
        unit,
        List.of(new Result.Run(List.of(figure.path(key).asDouble()), List.of())));
  }

  private static Map<String, String> params(String... pairs) {
    Map<String, String> params = new LinkedHashMap<>();
    for (int n = 0; n < pairs.length; n += 2) {
      params.put(pairs[n], pairs[n + 1]);
    }
    return params;
  }
}
