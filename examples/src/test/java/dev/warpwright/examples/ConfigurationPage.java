package dev.warpwright.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The tables of {@code docs/configuration.md}, by the title of their section. */
final class ConfigurationPage {
  static final Path PATH = Path.of("..", "docs", "configuration.md");

  private static final String HEAD = "| setting |";
  private static final Pattern SETTING = Pattern.compile("`(\\w+)(?:\\((.*)\\))?`");

  private ConfigurationPage() {}

  /**
   * A line of a table.
   *
   * @param setting the name of the setting
   * @param arguments how many values it takes
   * @param unit the unit of its values
   * @param byDefault what holds if it is not set
   * @param bounds which values are taken
   * @param consequence what it does
   */
  record Row(
      String setting,
      int arguments,
      String unit,
      String byDefault,
      String bounds,
      String consequence) {
    String key() {
      return setting + "/" + arguments;
    }
  }

  static Map<String, List<Row>> read() throws IOException {
    Map<String, List<Row>> sections = new LinkedHashMap<>();
    String title = "";
    boolean inTable = false;
    for (String line : Files.readAllLines(PATH)) {
      if (line.startsWith("## ")) {
        title = line.substring(3);
      }
      boolean ofTable = line.startsWith("|");
      if (ofTable && inTable && !line.startsWith("|---")) {
        sections.computeIfAbsent(title, any -> new ArrayList<>()).add(row(line));
      }
      inTable = ofTable && (inTable || line.startsWith(HEAD));
    }
    return sections;
  }

  private static Row row(String line) {
    List<String> cells = Pattern.compile(" *\\| *").splitAsStream(line).skip(1).toList();
    if (cells.size() != 5) {
      throw new AssertionError("A line of a table has five cells, not: " + line);
    }
    Matcher setting = SETTING.matcher(cells.getFirst());
    if (!setting.matches()) {
      throw new AssertionError("A line of a table begins with a setting, not: " + line);
    }
    return new Row(
        setting.group(1),
        arguments(setting.group(2)),
        cells.get(1),
        cells.get(2),
        cells.get(3),
        cells.get(4));
  }

  /** How many arguments are written between the parentheses; without any, it is one. */
  private static int arguments(@Nullable String written) {
    if (written == null) {
      return 1;
    }
    return written.isEmpty() ? 0 : 1 + (int) written.chars().filter(c -> c == ',').count();
  }
}
