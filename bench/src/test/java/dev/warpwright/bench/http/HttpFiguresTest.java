package dev.warpwright.bench.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.bench.http.HttpFigure.Value;
import dev.warpwright.bench.http.HttpOptions.What;
import dev.warpwright.model.Json;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class HttpFiguresTest {
  private static HttpFigure calls(Clients client, int callers, double cpuMicros) {
    return new HttpFigure(
        client,
        What.CALLS,
        callers,
        Map.of(Value.PER_SECOND, 20_000.0, Value.CPU_MICROS, cpuMicros));
  }

  @Test
  void a_ratio_is_to_the_bare_client_with_as_many_callers() {
    HttpFigures figures = new HttpFigures();
    HttpFigure own = calls(Clients.WARPWRIGHT, 64, 45);
    figures.addAll(List.of(calls(Clients.JDK, 1, 90), calls(Clients.JDK, 64, 36), own));

    assertEquals(OptionalDouble.of(1.25), figures.ratio(own, Value.CPU_MICROS));
    assertTrue(
        figures
            .tables()
            .contains("| calls | 64 | warpwright | 20000 |  |  | 45.0 µs | 1.25 |  |  |"),
        figures.tables());
  }

  @Test
  void without_a_baseline_there_is_no_ratio() {
    HttpFigures figures = new HttpFigures();
    HttpFigure own = calls(Clients.OPENAI, 64, 45);
    figures.addAll(List.of(calls(Clients.JDK, 1, 90), own));

    assertEquals(OptionalDouble.empty(), figures.ratio(own, Value.CPU_MICROS));
  }

  @Test
  void figures_cross_between_processes_as_json() {
    List<HttpFigure> figures =
        List.of(
            calls(Clients.WARPWRIGHT_CONTROLLED, 64, 45.5),
            new HttpFigure(
                Clients.JDK, What.HELD_STREAMS, 10_000, Map.of(Value.HEAP_BYTES, 14_500.0)));

    String json = Json.of(figures.stream().map(HttpFigure::toMap).toList()).text();

    assertEquals(figures, HttpFigure.parse(json));
  }

  @Test
  void what_one_process_is_told_is_what_the_program_was_told() {
    HttpOptions options =
        HttpOptions.parse(
            "--callers", "4,8", "--held", "50", "--seconds", "2", "--warmup", "0", "--json", "f");

    HttpOptions one = HttpOptions.parse(options.arguments(Clients.OPENAI, What.HELD_CALLS));

    assertEquals(List.of(Clients.OPENAI), one.clients());
    assertEquals(List.of(What.HELD_CALLS), one.what());
    assertEquals(options.callers(), one.callers());
    assertEquals(options.held(), one.held());
    assertEquals(options.load(), one.load());
  }

  @Test
  void a_client_that_there_is_not_is_refused() {
    assertThrows(IllegalArgumentException.class, () -> HttpOptions.parse("--client", "curl"));
  }
}
