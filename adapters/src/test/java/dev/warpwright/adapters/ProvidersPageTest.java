package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.model.Capability;
import dev.warpwright.model.ToolHistory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The table of docs/providers.md says what the supplied file of models says. With {@code
 * -Dwarpwright.page=write} it is written anew.
 */
final class ProvidersPageTest {
  private static final Path PAGE = Path.of("../docs/providers.md");
  private static final String BEGIN =
      "<!-- table: capabilities, written by ProvidersPageTest -->\n";
  private static final String END = "<!-- end of table -->";

  @Test
  void the_table_is_that_of_the_supplied_file() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    int end = page.indexOf(END);
    String table = table();
    if ("write".equals(System.getProperty("warpwright.page"))) {
      Files.writeString(PAGE, page.substring(0, begin) + table + page.substring(end));
      return;
    }
    assertEquals(table, page.substring(begin, end));
  }

  private static String table() {
    StringBuilder table = new StringBuilder();
    List<String> labels =
        Stream.concat(
                Stream.of(Capability.values()).map(Capability::label), Stream.of("toolHistory"))
            .toList();
    row(table, "provider id", Stream.concat(Stream.of("families"), labels.stream()).toList());
    row(table, "---", labels.stream().map(label -> "---").toList(), "---");
    for (String provider : ModelFile.supplied().providers()) {
      List<ModelFamily> families = ModelFile.supplied().families(provider);
      List<String> cells =
          Stream.concat(
                  Stream.of(Integer.toString(families.size())),
                  Stream.concat(
                      Stream.of(Capability.values()).map(can -> cell(families, can)),
                      Stream.of(histories(families))))
              .toList();
      row(table, "`" + provider + "`", cells);
    }
    return table.toString();
  }

  private static void row(StringBuilder table, String first, List<String> cells, String... more) {
    table
        .append("| ")
        .append(
            Stream.concat(Stream.concat(Stream.of(first), cells.stream()), Stream.of(more))
                .collect(Collectors.joining(" | ")))
        .append(" |\n");
  }

  private static String cell(List<ModelFamily> families, Capability can) {
    long able = families.stream().filter(family -> family.facts().capabilities().has(can)).count();
    if (able == 0) {
      return "–";
    }
    return able == families.size() ? "all" : Long.toString(able);
  }

  private static String histories(List<ModelFamily> families) {
    return families.stream()
        .map(family -> family.facts().capabilities().toolHistory())
        .filter(form -> form != ToolHistory.NONE)
        .distinct()
        .sorted()
        .map(form -> form.name() + " " + count(families, form))
        .collect(
            Collectors.collectingAndThen(Collectors.joining(", "), s -> s.isEmpty() ? "–" : s));
  }

  private static String count(List<ModelFamily> families, ToolHistory form) {
    long some =
        families.stream()
            .filter(family -> family.facts().capabilities().toolHistory() == form)
            .count();
    return some == families.size() ? "all" : Long.toString(some);
  }
}
