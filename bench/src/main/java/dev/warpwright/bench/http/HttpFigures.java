package dev.warpwright.bench.http;

import dev.warpwright.bench.http.HttpFigure.Value;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** The figures of one round of the program, and how they stand to those of the bare client. */
final class HttpFigures {
  private final List<HttpFigure> figures = new ArrayList<>();

  void addAll(Collection<HttpFigure> more) {
    figures.addAll(more);
  }

  /** How many times as much it is as with the bare client and as many callers. */
  OptionalDouble ratio(HttpFigure figure, Value value) {
    Optional<HttpFigure> baseline =
        figures.stream()
            .filter(
                each ->
                    each.client() == Clients.JDK
                        && each.what() == figure.what()
                        && each.callers() == figure.callers())
            .findFirst();
    OptionalDouble own = figure.value(value);
    OptionalDouble other = baseline.map(each -> each.value(value)).orElse(OptionalDouble.empty());
    return own.isPresent() && other.isPresent() && other.getAsDouble() != 0
        ? OptionalDouble.of(own.getAsDouble() / other.getAsDouble())
        : OptionalDouble.empty();
  }

  /** Tables in Markdown, one of what is answered and one of what is held. */
  String tables() {
    StringBuilder text = new StringBuilder();
    List<HttpFigure> loads = figures.stream().filter(figure -> !figure.what().isHeld()).toList();
    if (!loads.isEmpty()) {
      text.append("| what | callers | client | a second | p50 | p99 | CPU each | × jdk |")
          .append(" allocated each | × jdk |\n|---|---:|---|---:|---:|---:|---:|---:|---:|---:|\n");
      loads.forEach(figure -> text.append(load(figure)));
    }
    List<HttpFigure> held = figures.stream().filter(figure -> figure.what().isHeld()).toList();
    if (!held.isEmpty()) {
      text.append("\n| what | in flight | client | heap each | × jdk | platform threads |\n")
          .append("|---|---:|---|---:|---:|---:|\n");
      held.forEach(figure -> text.append(held(figure)));
    }
    return text.toString();
  }

  private String load(HttpFigure figure) {
    return "| %s | %d | %s | %s | %s | %s | %s | %s | %s | %s |%n"
        .formatted(
            figure.what(),
            figure.callers(),
            figure.client(),
            text("%.0f", figure.value(Value.PER_SECOND)),
            text("%.0f µs", figure.value(Value.P50_MICROS)),
            text("%.0f µs", figure.value(Value.P99_MICROS)),
            text("%.1f µs", figure.value(Value.CPU_MICROS)),
            text("%.2f", ratio(figure, Value.CPU_MICROS)),
            text("%.0f B", figure.value(Value.ALLOCATED_BYTES)),
            text("%.2f", ratio(figure, Value.ALLOCATED_BYTES)));
  }

  private String held(HttpFigure figure) {
    return "| %s | %d | %s | %s | %s | %s |%n"
        .formatted(
            figure.what(),
            figure.callers(),
            figure.client(),
            text("%.0f B", figure.value(Value.HEAP_BYTES)),
            text("%.2f", ratio(figure, Value.HEAP_BYTES)),
            text("%.0f", figure.value(Value.PLATFORM_THREADS)));
  }

  private static String text(String format, OptionalDouble number) {
    return number.isPresent() ? String.format(Locale.ROOT, format, number.getAsDouble()) : "";
  }

  /** All figures, as JSON has them. */
  List<Map<String, Object>> toMaps() {
    return figures.stream().map(HttpFigure::toMap).toList();
  }
}
