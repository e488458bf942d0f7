package dev.warpwright.examples;

import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The example flows print what their pages show, whatever happens to their processes. */
@Timeout(120)
final class FlowExamplesTest {
  private static final Map<String, ExampleFlow> EXAMPLES =
      Map.of(
          "order-checkout",
          new ExampleFlow(
              (out, store, world) -> new OrderCheckout(out, store, world.outside()).run()),
          "research-report",
          new ExampleFlow(
              (out, store, world) -> new ResearchReport(out, store, world.outside()).run()),
          "reminder",
          new ExampleFlow(
              (out, store, world) -> new Reminder(out, store, world.outside(), world.time()).run()),
          "migration-in-flight",
          new ExampleFlow(
              (out, store, world) -> new MigrationInFlight(out, store, world.outside()).run()),
          "document-pipeline",
          new ExampleFlow(
              (out, store, world) ->
                  new DocumentPipeline(
                          out,
                          store,
                          DocumentPipeline.samples(world.disk().resolve("in")),
                          world.disk().resolve("cards"))
                      .run()));

  static Stream<String> pages() {
    return EXAMPLES.keySet().stream().sorted();
  }

  private static ExampleFlow example(String page) {
    return Objects.requireNonNull(EXAMPLES.get(page), page);
  }

  @ParameterizedTest
  @MethodSource("pages")
  void the_page_shows_what_the_program_prints(String page) throws Exception {
    example(page).prints(page + ".md");
  }

  @ParameterizedTest
  @MethodSource("pages")
  void a_second_process_finds_the_finished_runs(String page) throws Exception {
    example(page).findsItsRunsWhenRunAgain();
  }

  @ParameterizedTest
  @MethodSource("pages")
  @Tag("F55")
  void a_process_halted_at_any_write_is_followed_by_one_that_ends_the_same(String page)
      throws Exception {
    example(page).survivesEveryHalt();
  }
}
