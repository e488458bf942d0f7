package dev.warpwright.bench.report;

import dev.warpwright.bench.report.Chapter.Group;
import dev.warpwright.bench.report.Chapter.Row;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/**
 * The page that shows what was measured: one file that needs nothing else, for light and dark,
 * narrow and wide. Each figure is the median of the iterations, on a logarithmic scale, with the
 * range of their middle half; every number of a chart also stands in its table. The same tables are
 * written as Markdown.
 */
public final class Report {
  /** What JMH's file is called. */
  public static final String JMH_FILE = "warpwright-bench.json";

  /** What the file is called that says where JMH's was measured: an object of texts. */
  public static final String ENVIRONMENT_FILE = "environment.json";

  private static final int ENOUGH_ITERATIONS = 5;
  private static final String STYLE = resource("report.css");

  private final Results results;
  private final StringBuilder page = new StringBuilder();

  private Report(Results results) {
    this.results = results;
  }

  /**
   * Writes the pages of whatever figures lie in a folder: what JMH wrote as {@code
   * warpwright-bench.json}, and the files of the load programs, by any name.
   *
   * @param folder where they are, and where {@code report.html} and {@code report.md} are written
   * @return the classes whose figures are on the pages
   * @throws IOException if a file cannot be read or written
   */
  public static Set<String> write(Path folder) throws IOException {
    Results results = Results.NONE;
    Map<String, String> environment = Map.of();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(Report::isJson).sorted().toList()) {
        String text = Files.readString(file);
        if (file.endsWith(ENVIRONMENT_FILE)) {
          environment = Loads.texts(JsonMapper.builder().build().readTree(text));
        } else {
          results = results.and(file.endsWith(JMH_FILE) ? Results.parse(text) : Loads.parse(text));
        }
      }
    }
    Files.writeString(folder.resolve("report.html"), page(results, environment));
    Files.writeString(folder.resolve("report.md"), Markdown.of(results, environment));
    return results.byType().keySet();
  }

  private static boolean isJson(Path file) {
    return file.toString().endsWith(".json");
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
    List<Chapter> chapters = Chapter.all(results);
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
        <p>One operation takes this long and allocates this much; where it says so, it keeps this \
        much, or there are so many in a second. A dot is the median of the \
        iterations, its line the middle half of them, on a logarithmic scale; the dashed line is \
        the baseline of the group. Compare within a group: machines are noisy, and two runs are \
        two machines.</p>
        """);
    if (results.fewestIterations() < ENOUGH_ITERATIONS) {
      add(
          "<p class=\"missed\">These are the figures of a smoke test, with %d of the %d iterations"
              + " that it takes to judge one. They tell nothing.</p>\n",
          results.fewestIterations(), ENOUGH_ITERATIONS);
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
    Map<String, String> machine = new LinkedHashMap<>(environment);
    machine.putAll(results.machine());
    list(machine);
  }

  private void list(Map<String, String> pairs) {
    add("<dl>\n");
    pairs.forEach((name, value) -> add("<div><dt>%s</dt><dd>%s</dd></div>\n", name, value));
    add("</dl>\n");
  }

  private void aims() {
    add(
        """
        <section aria-labelledby="aims">
        <h2 id="aims">Aims</h2>
        <table class="aims" role="table" aria-labelledby="aims">
        <thead role="rowgroup"><tr role="row"><th role="columnheader">what</th>\
        <th role="columnheader">aim</th><th role="columnheader">is</th>\
        <th role="columnheader">range</th></tr></thead>
        <tbody role="rowgroup">
        """);
    for (Aim aim : Aim.ALL_AIMS) {
      List<Score> runs = aim.each(results);
      Optional<Score> figure = Aim.together(runs);
      add(
          "<tr role=\"row\"><th role=\"rowheader\">%s</th><td role=\"cell\">%s</td>",
          aim.what(), aim.wanted());
      if (figure.isPresent()) {
        String verdict = aim.verdict(figure.get());
        add(
            "<td role=\"cell\" class=\"%s\">%s <span>%s</span></td>"
                + "<td role=\"cell\">%s to %s</td></tr>\n",
            verdict,
            aim.format().apply(figure.get().median()),
            verdict,
            aim.format().apply(figure.get().low()),
            aim.format().apply(figure.get().high()));
      } else {
        add("<td role=\"cell\">not measured</td><td role=\"cell\"></td></tr>\n");
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
    if (!chapter.environment().isEmpty()) {
      list(chapter.environment());
    }
    chapter.groups().forEach(group -> group(chapter, group));
    add("</section>\n");
  }

  private void group(Chapter chapter, Group group) {
    String title = group.title().isEmpty() ? chapter.question() : group.title();
    Scale scale = Scale.of(group.rows().stream().map(row -> row.result().score()).toList());
    add("<div class=\"group\">\n");
    if (!group.title().isEmpty()) {
      add("<h3>%s</h3>\n", title);
    }
    add("<div class=\"axis\" aria-hidden=\"true\">");
    for (double tick : scale.ticks()) {
      add("<span style=\"left:%.2f%%\">%s</span>", scale.percent(tick), group.unit().tick(tick));
    }
    add(
        """
        </div>
        <table class="figures" role="table" aria-label="%s">
        <thead role="rowgroup"><tr role="row"><th role="columnheader">which</th>\
        <th role="columnheader">%s</th><th role="columnheader">ratio</th>\
        <th role="columnheader">%s</th></tr></thead>
        <tbody role="rowgroup">
        """,
        title, group.unit().title(), group.isAllocating() ? "allocated" : "");
    group.rows().forEach(row -> row(group, row, scale));
    add("</tbody>\n</table>\n</div>\n");
  }

  private void row(Group group, Row row, Scale scale) {
    Optional<Row> baseline = group.baseline();
    Score score = row.result().score();
    boolean isBaseline = baseline.filter(row::equals).isPresent();
    page.append(isBaseline ? "<tr role=\"row\" class=\"baseline\">" : "<tr role=\"row\">");
    add(
        "<th role=\"rowheader\">%s</th><td role=\"cell\">%s</td>",
        row.label(), group.unit().text(score.median()));
    add(
        "<td role=\"cell\">%s</td><td role=\"cell\">%s</td>",
        group.ratio(row).orElse(""),
        row.result().bytes().map(bytes -> Text.bytes(bytes.median())).orElse(""));
    add("<td class=\"chart\" aria-hidden=\"true\"><svg width=\"100%%\" height=\"14\">");
    for (double tick : scale.ticks()) {
      line("tick", scale.percent(tick), scale.percent(tick), 0, 14);
    }
    baseline.ifPresent(
        each -> {
          double place = scale.percent(each.result().score().median());
          line("base", place, place, 0, 14);
        });
    line("range", scale.percent(score.low()), scale.percent(score.high()), 7, 7);
    add(
        "<circle cx=\"%.2f%%\" cy=\"7\" r=\"4.5\"/></svg></td></tr>\n",
        scale.percent(score.median()));
  }

  private void line(String kind, double x1, double x2, int y1, int y2) {
    add(
        "<line class=\"%s\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>",
        kind, x1, x2, y1, y2);
  }
}
