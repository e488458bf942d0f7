package dev.warpwright.bench.report;

import dev.warpwright.bench.report.Chapter.Group;
import dev.warpwright.bench.report.Chapter.Row;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The page that shows what JMH measured: one file that needs nothing else, for light and dark,
 * narrow and wide. Each figure is the median of the iterations, on a logarithmic scale, with the
 * range of their middle half; every number of a chart also stands in its table.
 */
public final class Report {
  private static final int ENOUGH_ITERATIONS = 5;
  private static final String STYLE = resource("report.css");

  private final Results results;
  private final StringBuilder page = new StringBuilder();

  private Report(Results results) {
    this.results = results;
  }

  /**
   * Writes the page.
   *
   * @param json what JMH has written
   * @param environment where it was measured, besides what JMH says
   * @param html where the page is written
   * @throws IOException if a file cannot be read or written
   */
  public static void write(Path json, Map<String, String> environment, Path html)
      throws IOException {
    Files.writeString(html, page(Results.parse(Files.readString(json)), environment));
  }

  static String page(Results results, Map<String, String> environment) {
    return new Report(results).page(environment);
  }

  private static String resource(String name) {
    try (InputStream in = Report.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String page(Map<String, String> environment) {
    List<Chapter> chapters =
        results.byType().entrySet().stream()
            .map(entry -> Chapter.of(entry.getKey(), entry.getValue()))
            .sorted(Comparator.comparingInt(Chapter::place))
            .toList();
    add(
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Warpwright: what it costs</title>
        <style>
        """);
    page.append(STYLE);
    add(
        """
        </style>
        </head>
        <body>
        <header>
        <h1>Warpwright: what it costs</h1>
        <p>One operation takes this long and allocates this much. A dot is the median of the \
        iterations, its line the middle half of them, on a logarithmic scale; the dashed line is \
        the baseline of the group. Compare within a group: machines are noisy, and two runs are \
        two machines.</p>
        """);
    if (results.iterations() < ENOUGH_ITERATIONS) {
      add(
          "<p class=\"missed\">These are the figures of a smoke test, with %d of the %d iterations"
              + " that it takes to judge one. They tell nothing.</p>\n",
          results.iterations(), ENOUGH_ITERATIONS);
    }
    machine(environment);
    add("</header>\n<nav aria-label=\"Questions\">\n<ul>\n");
    for (Chapter chapter : chapters) {
      add("<li><a href=\"#%s\">%s</a></li>\n", chapter.name(), chapter.question());
    }
    add("</ul>\n</nav>\n<main>\n");
    aims();
    chapters.forEach(this::chapter);
    add("</main>\n</body>\n</html>\n");
    return page.toString();
  }

  /** Adds a text whose arguments are escaped. */
  private void add(String format, Object... arguments) {
    Object[] escaped = new Object[arguments.length];
    for (int n = 0; n < arguments.length; n++) {
      escaped[n] =
          arguments[n] instanceof String text ? Text.html(text) : arguments[n]; // numbers as such
    }
    page.append(arguments.length == 0 ? format : String.format(Locale.ROOT, format, escaped));
  }

  private void machine(Map<String, String> environment) {
    add("<dl>\n");
    environment.forEach((name, value) -> add("<div><dt>%s</dt><dd>%s</dd></div>\n", name, value));
    results
        .machine()
        .forEach((name, value) -> add("<div><dt>%s</dt><dd>%s</dd></div>\n", name, value));
    add("</dl>\n");
  }

  private void aims() {
    add(
        """
        <section aria-labelledby="aims">
        <h2 id="aims">Aims</h2>
        <table class="aims">
        <thead><tr><th scope="col">what</th><th scope="col">at most</th>\
        <th scope="col">is</th><th scope="col">middle half</th></tr></thead>
        <tbody>
        """);
    for (Aim aim : Aim.ALL_AIMS) {
      Optional<Score> figure = aim.figure().apply(results);
      add("<tr><th scope=\"row\">%s</th><td>%s</td>", aim.what(), aim.format().apply(aim.atMost()));
      if (figure.isPresent()) {
        boolean met = figure.get().median() <= aim.atMost();
        add(
            "<td class=\"%s\">%s <span>%s</span></td><td>%s to %s</td></tr>\n",
            met ? "met" : "missed",
            aim.format().apply(figure.get().median()),
            met ? "met" : "missed",
            aim.format().apply(figure.get().low()),
            aim.format().apply(figure.get().high()));
      } else {
        add("<td colspan=\"2\">not measured</td></tr>\n");
      }
    }
    add("</tbody>\n</table>\n</section>\n");
  }

  private void chapter(Chapter chapter) {
    add(
        "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n<p><code>%s</code>",
        chapter.name(), chapter.name(), chapter.question(), chapter.name());
    if (!chapter.baseline().isEmpty()) {
      add("; the baseline is <em>%s</em>", chapter.baseline());
    }
    add("</p>\n");
    chapter.groups().forEach(group -> group(chapter, group));
    add("</section>\n");
  }

  private void group(Chapter chapter, Group group) {
    String title = group.title().isEmpty() ? chapter.question() : group.title();
    Scale scale = Scale.of(group.rows().stream().map(row -> row.result().nanos()).toList());
    add("<div class=\"group\">\n");
    if (!group.title().isEmpty()) {
      add("<h3>%s</h3>\n", title);
    }
    add("<div class=\"axis\" aria-hidden=\"true\">");
    for (double tick : scale.ticks()) {
      add("<span style=\"left:%.2f%%\">%s</span>", scale.percent(tick), Text.tick(tick));
    }
    add(
        """
        </div>
        <table class="figures" role="table" aria-label="%s">
        <thead role="rowgroup"><tr role="row"><th role="columnheader">which</th>\
        <th role="columnheader">time</th><th role="columnheader">ratio</th>\
        <th role="columnheader">allocated</th></tr></thead>
        <tbody role="rowgroup">
        """,
        title);
    group.rows().forEach(row -> row(row, group.baseline(), scale));
    add("</tbody>\n</table>\n</div>\n");
  }

  private void row(Row row, Optional<Row> baseline, Scale scale) {
    Score nanos = row.result().nanos();
    boolean isBaseline = baseline.filter(row::equals).isPresent();
    page.append(isBaseline ? "<tr role=\"row\" class=\"baseline\">" : "<tr role=\"row\">");
    add(
        "<th role=\"rowheader\" scope=\"row\">%s</th><td role=\"cell\">%s</td>",
        row.label(), Text.time(nanos.median()));
    add(
        "<td role=\"cell\">%s</td><td role=\"cell\">%s</td>",
        baseline
            .map(each -> Text.ratio(nanos.median() / each.result().nanos().median()))
            .orElse(""),
        row.result().bytes().map(bytes -> Text.bytes(bytes.median())).orElse(""));
    add("<td class=\"chart\" aria-hidden=\"true\"><svg width=\"100%%\" height=\"14\">");
    for (double tick : scale.ticks()) {
      line("tick", scale.percent(tick), scale.percent(tick), 0, 14);
    }
    baseline.ifPresent(
        each -> {
          double place = scale.percent(each.result().nanos().median());
          line("base", place, place, 0, 14);
        });
    line("range", scale.percent(nanos.low()), scale.percent(nanos.high()), 7, 7);
    add(
        "<circle cx=\"%.2f%%\" cy=\"7\" r=\"4.5\"/></svg></td></tr>\n",
        scale.percent(nanos.median()));
  }

  private void line(String kind, double x1, double x2, int y1, int y2) {
    add(
        "<line class=\"%s\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>",
        kind, x1, x2, y1, y2);
  }
}
