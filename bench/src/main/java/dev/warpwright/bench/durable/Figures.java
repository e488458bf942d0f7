package dev.warpwright.bench.durable;

import dev.warpwright.bench.durable.LoadOptions.What;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** The figures of one round of the program, and how they stand to each other. */
final class Figures {
  private final List<Figure> figures = new ArrayList<>();

  void add(Figure figure) {
    figures.add(figure);
  }

  /**
   * What a figure is compared with: steps with the peer on PostgreSQL, appends with the bare commit
   * of the same rows on the same store, both at as many callers.
   */
  private Optional<Figure> baseline(Figure figure) {
    return switch (figure.what()) {
      case AGENTS, FLOWS ->
          find(What.DBOS, figure.callers(), StoreKind.POSTGRES, DurableLoad.DBOS_VARIANT);
      case APPENDS ->
          find(What.RAW, figure.callers(), figure.store(), RawLog.Rows.EVENTS_AND_RUN.toString());
      case RAW, DBOS -> Optional.empty();
    };
  }

  private Optional<Figure> find(What what, int callers, StoreKind store, String variant) {
    return figures.stream()
        .filter(
            each ->
                each.what() == what
                    && each.callers() == callers
                    && each.store() == store
                    && each.variant().equals(variant))
        .findFirst();
  }

  private OptionalDouble ratio(Figure figure) {
    Optional<Figure> baseline = baseline(figure);
    return baseline.isPresent()
        ? OptionalDouble.of(figure.perSecond() / baseline.get().perSecond())
        : OptionalDouble.empty();
  }

  private OptionalDouble ratioOfOutcomes(Figure figure) {
    OptionalDouble ratio = ratio(figure);
    return ratio.isPresent()
        ? OptionalDouble.of(ratio.getAsDouble() * figure.outcomesPerUnit())
        : ratio;
  }

  /** A table in Markdown. */
  String table() {
    StringBuilder table = new StringBuilder();
    table.append(
        "| what | | store | callers | a second | p50 | p99 | commits each | WAL each | ratio | by"
            + " outcomes |\n");
    table.append("|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (Figure figure : figures) {
      table.append(
          "| %s | %s | %s | %d | %.0f | %s | %s | %s | %s | %s | %s |%n"
              .formatted(
                  figure.what(),
                  figure.variant(),
                  figure.store(),
                  figure.callers(),
                  figure.perSecond(),
                  millis(figure.p50()),
                  millis(figure.p99()),
                  number("%.3f", figure.commitsPerUnit()),
                  number("%.0f B", figure.walBytesPerUnit()),
                  number("%.2f", ratio(figure)),
                  number("%.2f", ratioOfOutcomes(figure))));
    }
    return table.toString();
  }

  private static String millis(Duration duration) {
    return String.format(Locale.ROOT, "%.2f ms", duration.toNanos() / 1e6);
  }

  private static String number(String format, OptionalDouble number) {
    return number.isPresent() ? String.format(Locale.ROOT, format, number.getAsDouble()) : "";
  }

  /** All figures, as JSON has them. */
  List<Map<String, Object>> toMaps() {
    List<Map<String, Object>> list = new ArrayList<>();
    for (Figure figure : figures) {
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("what", figure.what().toString());
      entry.put("variant", figure.variant());
      entry.put("store", figure.store().toString());
      entry.put("callers", figure.callers());
      entry.put("perSecond", figure.perSecond());
      entry.put("p50Nanos", figure.p50().toNanos());
      entry.put("p99Nanos", figure.p99().toNanos());
      figure.commitsPerUnit().ifPresent(number -> entry.put("commitsPerUnit", number));
      figure.walBytesPerUnit().ifPresent(number -> entry.put("walBytesPerUnit", number));
      ratio(figure).ifPresent(number -> entry.put("ratio", number));
      ratioOfOutcomes(figure).ifPresent(number -> entry.put("ratioOfOutcomes", number));
      list.add(entry);
    }
    return list;
  }
}
