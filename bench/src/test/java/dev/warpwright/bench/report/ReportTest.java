package dev.warpwright.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
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
    assertEquals(new Score(2_000, 1_500, 2_500), result.nanos());
    assertEquals(Optional.of(new Score(64, 64, 64)), result.bytes());
  }

  @Test
  void results_of_other_modes_are_left_out() {
    assertEquals(List.of(), results(json("a.B.c", "{}", "ops/s", 1)).all());
  }

  @Test
  void what_differs_besides_the_compared_is_a_group_with_the_baseline_first() {
    Chapter chapter = Chapter.of(OPERATION, operations().all());

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
        Chapter.of("gone.Benchmark", results(json("gone.Benchmark.a", "{}", "ns/op", 5)).all());

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
  void every_aim_and_every_baseline_names_what_the_suite_has() throws Exception {
    Results suite = everyBenchmark();

    for (Aim aim : Aim.ALL_AIMS) {
      assertTrue(aim.figure().apply(suite).isPresent(), aim.what());
    }
    suite
        .byType()
        .forEach(
            (type, results) ->
                Chapter.of(type, results)
                    .groups()
                    .forEach(
                        group ->
                            assertTrue(group.baseline().isPresent(), type + " " + group.title())));
  }

  /** A result of each benchmark with each of its parameters, as JMH lists them. */
  private static Results everyBenchmark() throws Exception {
    return new Results(Benchmarks.all(), 1, Map.of());
  }
}
