package dev.warpwright.bench.report;

import dev.warpwright.bench.report.Chapter.Group;
import dev.warpwright.bench.report.Chapter.Row;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The tables of the page as Markdown, to be kept with the sources. */
final class Markdown {
  private final StringBuilder text = new StringBuilder();

  private Markdown() {}

  static String of(Results results, Map<String, String> environment) {
    Markdown markdown = new Markdown();
    markdown.line(said(environment));
    if (!results.machine().isEmpty()) {
      markdown.line(said(results.machine()));
    }
    markdown.aims(results);
    Chapter.all(results).forEach(markdown::chapter);
    return markdown.text.toString();
  }

  private static String said(Map<String, String> environment) {
    return environment.entrySet().stream()
            .map(entry -> entry.getKey() + ": " + entry.getValue())
            .collect(Collectors.joining("; "))
        + "\n";
  }

  private void line(String line) {
    text.append(line).append('\n');
  }

  private void row(Object... cells) {
    text.append('|');
    for (Object cell : cells) {
      text.append(' ').append(cell).append(" |");
    }
    text.append('\n');
  }

  private void aims(Results results) {
    line("## Aims\n");
    row("what", "aim", "is", "from", "to", "each run", "");
    line("|---|---:|---:|---:|---:|---|---|");
    for (Aim aim : Aim.ALL_AIMS) {
      List<Score> runs = aim.each(results);
      Optional<Score> figure = Aim.together(runs);
      if (figure.isEmpty()) {
        row(aim.what(), aim.wanted(), "", "", "", "", "not measured");
      } else {
        row(
            aim.what(),
            aim.wanted(),
            aim.format().apply(figure.get().median()),
            aim.format().apply(figure.get().low()),
            aim.format().apply(figure.get().high()),
            runs.stream()
                .map(run -> aim.format().apply(run.median()))
                .collect(Collectors.joining(", ")),
            aim.verdict(figure.get()));
      }
    }
  }

  private void chapter(Chapter chapter) {
    line("\n## " + chapter.question() + "\n");
    line(
        "`"
            + chapter.name()
            + "`"
            + (chapter.baseline().isEmpty() ? "" : "; the baseline is *" + chapter.baseline() + "*")
            + (chapter.environment().isEmpty() ? "" : "; " + said(chapter.environment()).strip())
            + "\n");
    chapter.groups().forEach(this::group);
  }

  private void group(Group group) {
    row(
        group.title().isEmpty() ? "which" : group.title(),
        group.unit().title(),
        "middle half",
        "ratio",
        group.isAllocating() ? "allocated" : "");
    line("|---|---:|---:|---:|---:|");
    for (Row row : group.rows()) {
      Score score = row.result().score();
      row(
          row.label(),
          group.unit().text(score.median()),
          group.unit().text(score.low()) + " to " + group.unit().text(score.high()),
          group.ratio(row).orElse(""),
          row.result().bytes().map(bytes -> Text.bytes(bytes.median())).orElse(""));
    }
    line("");
  }
}
