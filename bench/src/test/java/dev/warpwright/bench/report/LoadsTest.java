package dev.warpwright.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LoadsTest {
  /** Two rounds of one client, one of another. */
  static final String HTTP =
      """
      {"program":"dev.warpwright.bench.http.HttpLoad",
       "environment":{"time":"2026-11-30T12:00:00Z","seconds":"4"},
       "rounds":[
        [{"client":"jdk","what":"calls","callers":64,"perSecond":20000.5,"cpuMicros":40.5,"allocatedBytes":9000},
         {"client":"warpwright","what":"calls","callers":64,"perSecond":18000,"cpuMicros":45,"allocatedBytes":12000},
         {"client":"warpwright-controlled","what":"calls","callers":64,"perSecond":17000,"cpuMicros":50,"allocatedBytes":13000}],
        [{"client":"jdk","what":"calls","callers":64,"perSecond":20000,"cpuMicros":41.5,"allocatedBytes":9000},
         {"client":"jdk","what":"held-calls","callers":10000,"heapBytes":7000,"platformThreads":20}]]}
      """;

  private static final String IN_FLIGHT =
      """
      {"program":"dev.warpwright.bench.InFlight","environment":{},
       "rounds":[
        [{"operations":100000,"what":"bare virtual threads","bytesEach":700,"bytesBeyondBare":0},
         {"operations":100000,"what":"nothing on","bytesEach":2000,"bytesBeyondBare":1300},
         {"operations":100000,"what":"all controls on","bytesEach":2500,"bytesBeyondBare":1800}]]}
      """;

  private static final String DURABLE =
      """
      {"program":"dev.warpwright.bench.durable.DurableLoad","environment":{"stepsOfRun":"10"},
       "rounds":[
        [{"what":"dbos","variant":"steps","store":"postgres","callers":64,"perSecond":1000},
         {"what":"dbos","variant":"steps","store":"postgres","callers":1,"perSecond":900},
         {"what":"raw","variant":"EVENTS","store":"postgres","callers":64,"perSecond":40000},
         {"what":"raw","variant":"EVENTS_AND_RUN","store":"postgres","callers":64,"perSecond":30000},
         {"what":"appends","variant":"","store":"postgres","callers":64,"perSecond":24000},
         {"what":"agents","variant":"ONCE","store":"postgres","callers":64,"perSecond":2000},
         {"what":"flows","variant":"NONE","store":"postgres","callers":1,"perSecond":800},
         {"what":"flows","variant":"NONE","store":"memory","callers":1,"perSecond":100000},
         {"what":"flows","variant":"NONE","store":"h2:POWER","callers":64,"perSecond":5000},
         {"what":"flows","variant":"NONE","store":"postgres","callers":64,"perSecond":6000},
         {"what":"flows","variant":"LOGGED","store":"postgres","callers":64,"perSecond":5000}]]}
      """;

  private static final String LINEAR =
      """
      {"program":"dev.warpwright.bench.durable.LinearCost","environment":{},
       "rounds":[
        [{"store":"memory","way":"AGENT","steps":10,"nanosPerStep":20000,"allocatedBytesPerStep":9000},
         {"store":"memory","way":"AGENT","steps":100,"nanosPerStep":21000,"allocatedBytesPerStep":9100}]]}
      """;

  private static final String TAKE_OVER =
      """
      {"program":"dev.warpwright.bench.durable.TakeOver","environment":{},
       "rounds":[[{"runs":1000,"halfNanos":500000000,"p99Nanos":800000000,"allNanos":900000000}]]}
      """;

  /** What all programs write, in the words that they have for it. */
  static Results everything() {
    Results all = Results.NONE;
    for (String file : List.of(HTTP, IN_FLIGHT, DURABLE, LINEAR, TAKE_OVER)) {
      all = all.and(Loads.parse(file));
    }
    return all;
  }

  private static double figure(String type, String method, String... params) {
    return everything().find(type, method, params).orElseThrow().score().median();
  }

  @Test
  void rounds_are_runs_of_the_same_result() {
    Result jdk =
        Loads.parse(HTTP)
            .find("HttpLoad", "processor time of calls", "client", "jdk")
            .orElseThrow();

    assertEquals(List.of(40_500.0, 41_500.0), jdk.runs().stream().map(LoadsTest::only).toList());
    assertEquals(9_000, jdk.bytes().orElseThrow().median());
    assertEquals(Map.of("callers", "64", "client", "jdk"), jdk.params());
  }

  private static double only(Result.Run run) {
    return run.figures().getFirst();
  }

  @Test
  void each_program_has_its_figures_in_their_unit() {
    assertEquals(7_000, figure("HttpLoad", "held-calls", "in flight", "10000"));
    assertEquals(20_000.25, figure("HttpLoad", "calls", "client", "jdk"));
    assertEquals(2_000, figure("InFlight", "heap", "what", "nothing on"));
    assertEquals(
        5_000, figure("DurableLoad", "steps", "what", "flows, intent and outcome, postgres"));
    assertEquals(
        2_000, figure("DurableLoad", "steps", "what", "agents, intent and outcome, postgres"));
    assertEquals(40_000, figure("Appends", "appends", "what", "raw commit of events"));
    assertEquals(21_000, figure("LinearCost", "step", "steps", "100"));
    assertEquals(8e8, figure("TakeOver", "taken over", "share", "99 of 100"));
  }

  @Test
  void a_chapter_of_a_load_program_says_how_it_was_measured() {
    Chapter chapter =
        Chapter.all(everything()).stream()
            .filter(each -> each.name().equals("DurableLoad"))
            .findFirst()
            .orElseThrow();

    assertEquals(Map.of("stepsOfRun", "10"), chapter.environment());
    assertEquals(
        List.of("dbos", "flows, outcome alone, postgres"),
        chapter.groups().getFirst().rows().stream().map(Chapter.Row::label).limit(2).toList());
  }

  @Test
  void the_file_of_another_program_has_no_results() {
    assertEquals(List.of(), Loads.parse("{\"program\":\"x.Other\",\"rounds\":[[{}]]}").all());
    assertEquals(List.of(), Loads.parse("[1]").all());
  }
}
