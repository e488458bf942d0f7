package dev.warpwright.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class ReportTest {
  private static final String OPERATION = "dev.warpwright.bench.OperationBenchmark";

  private static String json(String benchmark, String params, String unit, double... raw) {
    List<String> numbers = new ArrayList<>();
    for (double number : raw) {
      numbers.add(String.valueOf(number));
    }
    return """
    {"jmhVersion":"1.37","benchmark":"%s","vmName":"OpenJDK","vmVersion":"25+36",
     "params":%s,
     "primaryMetric":{"score":1,"scoreError":"NaN","scoreUnit":"%s","rawData":[%s]},
     "secondaryMetrics":{"gc.alloc.rate.norm":{"scoreUnit":"B/op","rawData":[[64.0]]}}}
    """
        .formatted(benchmark, params, unit, "[" + String.join(",", numbers) + "]");
  }

  private static Results results(String... results) {
    return Results.parse("[" + String.join(",", results) + "]");
  }

  private static Results operations() {
    return results(
        subject("virtualCaller", "BARE", 1),
        subject("virtualCaller", "THREAD_STARTED_AND_JOINED", 1_000),
        subject("virtualCaller", "NOTHING_ON", 400),
        subject("virtualCaller", "ALL_CONTROLS", 1_200),
        subject("virtualCaller", "RESILIENCE4J", 2_000),
        subject("platformCaller", "THREAD_STARTED_AND_JOINED", 40_000),
        subject("platformCaller", "ALL_CONTROLS", 61_200));
  }

  private static String subject(String method, String subject, double nanos) {
    return json(OPERATION + "." + method, "{\"subject\":\"" + subject + "\"}", "ns/op", nanos);
  }

  @Test
  void results_of_any_unit_and_any_number_of_forks_are_read_in_nanoseconds() {
    Result result =
        results(json("a.B.c", "{\"n\":\"3\"}", "us/op", 1, 2, 3).replace("2.0,", "2.0],["))
            .all()
            .getFirst();

    assertEquals("a.B", result.type());
    assertEquals("c", result.method());
    assertEquals(Map.of("n", "3"), result.params());
    assertEquals(new Score(2_000, 1_500, 2_500), result.score());
    assertEquals(2, result.runs().size());
    assertEquals(Optional.of(new Score(64, 64, 64)), result.bytes());
  }

  @Test
  void results_of_other_modes_are_left_out() {
    assertEquals(List.of(), results(json("a.B.c", "{}", "ops/s", 1)).all());
  }

  @Test
  void what_differs_besides_the_compared_is_a_group_with_the_baseline_first() {
    Chapter chapter = Chapter.of(OPERATION, operations().all(), Map.of());

    assertEquals(
        List.of("virtual caller", "platform caller"),
        chapter.groups().stream().map(Chapter.Group::title).toList());
    assertEquals(
        List.of("thread started and joined", "bare", "nothing on", "all controls", "resilience4j"),
        chapter.groups().getFirst().rows().stream().map(Chapter.Row::label).toList());
  }

  @Test
  void a_class_that_is_not_there_has_a_chapter_without_a_baseline() {
    Chapter chapter =
        Chapter.of(
            "gone.Benchmark", results(json("gone.Benchmark.a", "{}", "ns/op", 5)).all(), Map.of());

    assertEquals("Benchmark", chapter.question());
    assertEquals(Optional.empty(), chapter.groups().getFirst().baseline());
  }

  @Test
  void aims_are_computed_of_the_figures_and_those_not_measured_say_so() {
    String page = Report.page(operations(), Map.of());

    List<String> aims = rows(page, "aims");
    assertTrue(aims.get(0).matches("(?s).*× 0\\.60 .*missed.*"), aims.get(0));
    assertTrue(aims.get(1).matches("(?s).*× 1\\.00 .*met.*"), aims.get(1));
    assertTrue(aims.get(2).matches("(?s).*× 0\\.40 .*met.*"), aims.get(2));
    assertTrue(aims.get(3).matches("(?s).*× 1\\.50 .*missed.*"), aims.get(3));
    assertTrue(aims.get(4).contains("not measured"), aims.get(4));
  }

  @Test
  void an_aim_is_judged_only_if_its_whole_range_is_on_one_side() {
    Aim aim = Aim.ALL_AIMS.getFirst(); // at most 0.5

    assertEquals(Optional.of(true), aim.isMet(new Score(0.4, 0.3, 0.5)));
    assertEquals(Optional.of(false), aim.isMet(new Score(0.7, 0.51, 0.9)));
    assertEquals(Optional.empty(), aim.isMet(new Score(0.4, 0.3, 0.6)));
  }

  @Test
  void a_rate_should_be_at_least_its_bound() {
    Aim aim = new Aim("rate", Aim.Side.AT_LEAST, 5, Text::ratio, results -> Optional.empty());

    assertEquals(Optional.of(true), aim.isMet(new Score(6, 5, 7)));
    assertEquals(Optional.of(false), aim.isMet(new Score(4, 3, 4.9)));
    assertEquals(Optional.empty(), aim.isMet(new Score(5, 4, 6)));
    assertEquals("≥ × 5.00", aim.wanted());
  }

  @Test
  void an_aim_of_several_runs_compares_within_each_and_has_their_range() {
    Results runs =
        results(
            subject("virtualCaller", "ALL_CONTROLS", 100),
            subject("virtualCaller", "RESILIENCE4J", 200),
            subject("virtualCaller", "ALL_CONTROLS", 900),
            subject("virtualCaller", "RESILIENCE4J", 1_000),
            subject("virtualCaller", "ALL_CONTROLS", 30),
            subject("virtualCaller", "RESILIENCE4J", 100));

    List<Score> each = Aim.ALL_AIMS.getFirst().each(runs);

    assertEquals(List.of(0.5, 0.9, 0.3), each.stream().map(Score::median).toList());
    assertEquals(Optional.of(new Score(0.5, 0.3, 0.9)), Aim.together(each));
    assertEquals(3, runs.find("OperationBenchmark", "virtualCaller").orElseThrow().runs().size());
  }

  @Test
  void the_page_is_made_of_the_files_of_jmh_and_of_the_load_programs(@TempDir Path folder)
      throws Exception {
    Files.writeString(
        folder.resolve(Report.JMH_FILE), "[" + subject("virtualCaller", "BARE", 1) + "]");
    Files.writeString(folder.resolve("http.json"), LoadsTest.HTTP);
    Files.writeString(folder.resolve("other.json"), "{\"what\":\"another file\"}");
    Files.writeString(folder.resolve(Report.ENVIRONMENT_FILE), "{\"commit\":\"abc\"}");

    Set<String> types = Report.write(folder);

    assertEquals(Set.of(OPERATION, "dev.warpwright.bench.http.HttpLoad"), types);
    for (String name : List.of("report.html", "report.md")) {
      String page = Files.readString(folder.resolve(name));
      assertTrue(page.contains("abc"), page);
      assertTrue(page.contains("OperationBenchmark"), page);
      assertTrue(page.contains("processor time of calls, callers 64"), page);
      assertTrue(page.contains("2026-11-30T12:00:00Z"), page);
    }
  }

  @Test
  void the_tables_of_markdown_have_the_same_number_of_cells_in_each_row() {
    String text = Markdown.of(everyBenchmark(), Map.of("commit", "abc"));

    assertTrue(text.contains("| nothing on | 1.00 ns |"), text);
    for (String table : text.split("\n\n", -1)) {
      if (table.startsWith("|")) {
        assertEquals(
            1,
            table
                .lines()
                .map(line -> line.chars().filter(c -> c == '|').count())
                .distinct()
                .count(),
            table);
      }
    }
  }

  @Test
  void a_chunk_that_is_lost_in_the_noise_is_not_compared() {
    String stream = "dev.warpwright.bench.StreamBenchmark.";
    Results noisy =
        results(
            json(stream + "bareModel", "{\"chunks\":\"1\"}", "ns/op", 90),
            json(stream + "bareModel", "{\"chunks\":\"100\"}", "ns/op", 80),
            json(stream + "eventsRead", "{\"chunks\":\"1\"}", "ns/op", 100),
            json(stream + "eventsRead", "{\"chunks\":\"100\"}", "ns/op", 2_000));

    String row = rows(Report.page(noisy, Map.of()), "aims").get(4);

    assertTrue(row.contains("not measured"), row);
  }

  private static List<String> rows(String page, String id) {
    String section = page.substring(page.indexOf("id=\"" + id + "\""));
    Matcher body = Pattern.compile("<tbody.*?>(.*?)</tbody>", Pattern.DOTALL).matcher(section);
    assertTrue(body.find());
    return List.of(body.group(1).strip().split("</tr>\\s*"));
  }

  @Test
  void a_row_has_its_time_its_ratio_to_the_baseline_and_what_it_allocates() {
    String row =
        rows(Report.page(operations(), Map.of()), "OperationBenchmark").stream()
            .filter(each -> each.contains(">nothing on<"))
            .findFirst()
            .orElseThrow();

    assertTrue(row.contains(">400 ns<"), row);
    assertTrue(row.contains(">× 0.40<"), row);
    assertTrue(row.contains(">64 B<"), row);
  }

  @Test
  void a_page_of_too_few_iterations_says_so() {
    String few = Report.page(results(json("a.B.c", "{}", "ns/op", 1, 2, 3, 4)), Map.of());
    String enough = Report.page(results(json("a.B.c", "{}", "ns/op", 1, 2, 3, 4, 5)), Map.of());

    assertTrue(few.contains("with 4 of the 5 iterations"), few);
    assertFalse(enough.contains("smoke test"), enough);
  }

  @Test
  void the_page_needs_nothing_else_and_is_for_light_and_dark() {
    String page = Report.page(operations(), Map.of());

    assertFalse(page.contains("http://") || page.contains("https://"), "A resource is elsewhere.");
    assertFalse(page.contains("<script") || page.contains("<link") || page.contains("url("), page);
    assertTrue(page.contains("prefers-color-scheme: dark"));
    assertTrue(page.contains("name=\"viewport\""));
  }

  @Test
  void the_page_is_well_formed_and_every_link_has_its_target() throws Exception {
    String page = Report.page(operations(), Map.of("commit", "<&\">"));
    String xml = page.replace("<!doctype html>", "").replaceAll("<meta ([^>]*)>", "<meta $1/>");

    Document document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(xml)));

    assertEquals("html", document.getDocumentElement().getTagName());
    assertEquals("en", document.getDocumentElement().getAttribute("lang"));
    Matcher link = Pattern.compile("href=\"#([^\"]*)\"").matcher(page);
    while (link.find()) {
      assertTrue(page.contains("id=\"" + link.group(1) + "\""), link.group(1));
    }
  }

  @Test
  void every_aim_and_every_baseline_names_what_the_suite_has() {
    Results suite = everyBenchmark();

    for (Aim aim : Aim.ALL_AIMS) {
      assertFalse(aim.each(suite).isEmpty(), aim.what());
    }
    suite
        .byType()
        .forEach(
            (type, results) ->
                Chapter.of(type, results, Map.of())
                    .groups()
                    .forEach(
                        group ->
                            assertTrue(group.baseline().isPresent(), type + " " + group.title())));
  }

  /** A result of each benchmark with each of its parameters, and of each load program. */
  private static Results everyBenchmark() {
    return Results.of(Benchmarks.all(), Map.of(), Map.of()).and(LoadsTest.everything());
  }
}
